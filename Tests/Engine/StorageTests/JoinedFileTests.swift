import Bytes
import RandomTestSupport
import StoreTestSupport
import Testing
@testable import Storage

/// Two files that look like one.
@Suite struct JoinedFileTests {
  private static let range = 8192..<20480

  private let temporary: TemporaryDirectory
  private let own: any StorageFile
  private let shared: any StorageFile
  private let joined: JoinedFile

  init() throws {
    temporary = try TemporaryDirectory()
    own = try #require(try temporary.directory.open("own", .create))
    shared = try #require(try temporary.directory.open("shared", .create))
    joined = JoinedFile(own, sharing: shared, at: "/the/shared", in: Self.range)
  }

  private func fill(ownBytes: Int, sharedBytes: Int, _ random: inout SeededGenerator) throws -> [UInt8] {
    let mine = random.bytes(ownBytes)
    let other = random.bytes(sharedBytes)
    try own.write(mine.rawSpan, at: 0)
    try shared.write(other.rawSpan, at: 0)
    return Array(mine[..<Self.range.lowerBound] + other[Self.range] + mine[Self.range.lowerBound...])
  }

  @Test func `reads, writes and mappings of any part show both files as one`() throws {
    var random = SeededGenerator(for: "JoinedFileTests")
    var model = try fill(ownBytes: 30_000, sharedBytes: 50_000, &random)
    #expect(try joined.size() == model.count)
    let mapping = try joined.map(1 << 20)
    for round in 0..<300 {
      let start = Int.random(in: 0..<model.count, using: &random)
      let count = Int.random(in: 0...12_000, using: &random)
      let end = min(start + count, model.count)
      #expect(try joined.read(count, at: start) == Array(model[start..<end]), "round \(round)")
      // Inside the file.
      let mapped = unsafe mapping.bytes(start, end - start)
      let seen = mapped.copied()
      #expect(seen == Array(model[start..<end]))
      // Behind the shared part or before it.
      let isBehind = Bool.random(using: &random)
      let place = isBehind ? max(start, Self.range.upperBound) : start % Self.range.lowerBound
      let limit = isBehind ? Int.max : Self.range.lowerBound
      let bytes = random.bytes(min(count % 300, limit - place))
      try joined.write(bytes.rawSpan, at: place)
      if place + bytes.count > model.count {
        model += [UInt8](repeating: 0, count: place + bytes.count - model.count)
      }
      model.replaceSubrange(place..<place + bytes.count, with: bytes)
    }
    #expect(try joined.size() == model.count)
    #expect(try shared.size() == 50_000)
    #expect(try joined.read(1 << 20, at: 0) == model)
    try joined.truncate(to: 21_000)
    #expect(try own.size() == 21_000 - Self.range.count)
    #expect(try joined.read(1 << 20, at: 0) == Array(model[..<21_000]))
    #expect(!mapping.isLost)
  }

  @Test func `what is shared is never written or cut`() async {
    await #expect(processExitsWith: .failure) {
      try JoinedFileTests().joined.write([UInt8](repeating: 1, count: 2).rawSpan, at: 8191)
    }
    await #expect(processExitsWith: .failure) { try JoinedFileTests().joined.truncate(to: 20_479) }
  }

  @Test func `each byte has a file and a place in it`() throws {
    #expect(joined.location(of: 8191) == (own.path, 8191))
    #expect(joined.location(of: 8192) == ("/the/shared", 8192))
    #expect(joined.location(of: 20_479) == ("/the/shared", 20_479))
    #expect(joined.location(of: 20_480) == (own.path, 8192))
    #expect(joined.named === own && joined.identity == own.identity && joined.path == own.path)
  }

  @Test func `a part that is cut ends the whole there`() throws {
    var random = SeededGenerator(for: "JoinedFileTests, cut")
    let model = try fill(ownBytes: 9000, sharedBytes: 20_480, &random)
    try shared.truncate(to: 20_000)
    #expect(try joined.size() == 20_000)
    #expect(try joined.read(1 << 20, at: 0) == Array(model[..<20_000]))
    try own.truncate(to: 100)
    #expect(try joined.size() == 100)
    #expect(try joined.read(200, at: 0) == Array(model[..<100]))
  }

  @Test func `a page of either part that is cut under a mapping is lost to the mapping, and to no other`() throws {
    try FaultHandler.install()
    var random = SeededGenerator(for: "JoinedFileTests, lost")
    _ = try fill(ownBytes: 30_000, sharedBytes: 20_480, &random)
    for (file, offset) in [(shared, 16_384), (own, 28_672)] {
      let mapping = try joined.map(1 << 16)
      let other = try (file === own ? shared : own).map(1 << 16)
      let place = file === own ? offset - Self.range.count : offset
      let size = try file.size()
      try file.truncate(to: place)
      // In the mapping; the file ends before it, which the handler meets.
      let lost = unsafe mapping.bytes(offset, 100)
      let isZero = lost.isZero(from: 0)
      #expect(isZero)
      #expect(mapping.isLost && !other.isLost)
      try file.truncate(to: size)
    }
  }

  @Test func `without the shared file everything else can be read`() throws {
    var random = SeededGenerator(for: "JoinedFileTests, alone")
    let model = try fill(ownBytes: 30_000, sharedBytes: 20_480, &random)
    let alone = JoinedFile(own, sharing: nil, at: "/the/shared", in: Self.range)
    #expect(try alone.size() == model.count)
    #expect(try alone.read(8192, at: 0) == Array(model[..<8192]))
    #expect(try alone.read(1 << 20, at: 20_480) == Array(model[20_480...]))
    for body in [{ _ = try alone.read(10, at: 8190) }, { _ = try alone.map(1 << 16) }] as [() throws -> Void] {
      #expect { try body() } throws: { "\($0)".contains("/the/shared") }
    }
  }

  @Test func `what the shared file lacks may read as zeros`() throws {
    var random = SeededGenerator(for: "JoinedFileTests, gap")
    var model = try fill(ownBytes: 30_000, sharedBytes: 20_480, &random)
    try shared.truncate(to: 10_000)
    for offset in 10_000..<20_480 { model[offset] = 0 }
    let short = JoinedFile(own, sharing: shared, at: "/the/shared", in: Self.range, hidesTruncation: true)
    #expect(try short.size() == model.count)
    #expect(try short.read(1 << 20, at: 0) == model)
    for offset in 8192..<10_000 { model[offset] = 0 }
    let alone = JoinedFile(own, sharing: nil, at: "/the/shared", in: Self.range, hidesTruncation: true)
    #expect(try alone.read(1 << 20, at: 0) == model)
  }

  @Test func `a copy has the bytes of its range, as many as there are`() throws {
    var random = SeededGenerator(for: "JoinedFileTests, copy")
    let model = try fill(ownBytes: 30_000, sharedBytes: 3_000_000, &random)
    let bytes = try shared.read(3_000_000, at: 0)
    let device = SimulatedDevice()
    for other in [
      try #require(try temporary.directory.open("copy", .create)),
      try #require(try device.directory.open("f", .create)),
    ] {
      try other.copy(4096..<2_900_000, from: shared)
      #expect(try other.read(1 << 22, at: 4096) == Array(bytes[4096..<2_900_000]))
      #expect(try other.read(4096, at: 0) == [UInt8](repeating: 0, count: 4096))
      try other.truncate(to: 0)
      try other.copy(0..<40_000, from: joined)
      #expect(try other.read(1 << 22, at: 0) == Array(model[..<40_000]))
      try other.truncate(to: 0)
      try other.copyByReading(0..<Int.max, from: own)
      #expect(try other.size() == 30_000)
    }
  }
}
