import Bytes
import Platform
import RandomTestSupport
import RecordFormat
import Storage
import StoreTestSupport
import Synchronization
import Testing
@testable import LogStore

/// A file in memory whose writes fail from a number on.
private final class FailingFile: StorageFile {
  let path = "failing"
  let identity = FileIdentity(device: 1, inode: 1)
  private let failsFrom: Int
  private let state = Mutex((writes: 0, contents: [UInt8]()))

  init(failsFrom: Int = .max) { self.failsFrom = failsFrom }

  var writes: Int { state.withLock { $0.writes } }
  var contents: [UInt8] { state.withLock { $0.contents } }
  var canWriteBehind: Bool { true }

  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) {
    let copy = bytes.copied()
    let fails = state.withLock { state in
      state.writes += 1
      if state.writes >= failsFrom { return true }
      let missing = max(0, offset + copy.count - state.contents.count)
      state.contents.append(contentsOf: repeatElement(0xEE, count: missing))
      state.contents.replaceSubrange(offset..<(offset + copy.count), with: copy)
      return false
    }
    if fails { throw StorageError(operation: "write", path: path, code: 28) }
  }

  func wasRenamed(to path: String) {}
  func size() throws(StorageError) -> Int { contents.count }
  func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8] { Array(contents[offset...].prefix(count)) }
  func truncate(to byteCount: Int) throws(StorageError) {}
  func sync() throws(StorageError) {}
  func map(_ byteCount: Int) throws(StorageError) -> Mapping {
    throw StorageError(operation: "map", path: path, code: 12)
  }
  func map(_ range: Range<Int>, at address: UnsafeMutableRawPointer) throws(StorageError) {
    throw StorageError(operation: "map", path: path, code: 12)
  }
  func linkCount() throws(StorageError) -> Int { 1 }
}

@Suite struct WriteBehindTests {
  private func buffer(_ bytes: [UInt8]) -> SegmentBuffer {
    var buffer = SegmentBuffer(zeros: 0)
    buffer.append(bytes)
    return buffer
  }

  @Test func `pieces of any size are written where they belong, whatever buffers they came in`() throws {
    var random = SeededGenerator(for: "WriteBehindTests, pieces")
    for _ in 0..<20 {
      let file = FailingFile()
      let behind = WriteBehind(file)
      var expected: [UInt8] = []
      var next = SegmentBuffer(zeros: 0)
      for _ in 0..<Int.random(in: 0..<30, using: &random) {
        let piece = (0..<Int.random(in: 1..<20_000, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next())
        }
        next.append(piece)
        #expect(next.count == piece.count)
        next = try behind.write(next, from: 0, at: expected.count)
        #expect(next.count == 0)
        expected += piece
      }
      try behind.finish()
      #expect(file.contents == expected)
    }
  }

  @Test func `what stands before the first byte is left out`() throws {
    let file = FailingFile()
    let behind = WriteBehind(file)
    _ = try behind.write(buffer([1, 2, 3, 4, 5]), from: 2, at: 0)
    try behind.finish()
    #expect(file.contents == [3, 4, 5])
  }

  @Test(arguments: 1...5) func `a write that fails is reported, and is the last one`(number: Int) throws {
    let file = FailingFile(failsFrom: number)
    let behind = WriteBehind(file)
    for piece in 0..<8 {
      do {
        _ = try behind.write(buffer([UInt8(piece)]), from: 0, at: piece)
        #expect(piece < number + 2, "two pieces at most are on their way")
      } catch {
        #expect(error.code == 28)
      }
    }
    #expect(throws: StorageError.self) { try behind.finish() }
    #expect(file.writes == number)
    #expect(file.contents.count == number - 1)
  }

  @Test func `a failure comes out of the segment, at an append or at its end`() throws {
    for number in 1...4 {
      let file = FailingFile(failsFrom: number)
      var builder = SegmentBuilder(
        at: SegmentHeader.firstOffset, in: file, seed: HashSeed(1, 2), flushLimit: 1 << 12, isNewFile: true)
      let identity = SegmentBuilder.Identity(
        storeID: StoreID(1, 2), sequence: 1, generation: 1, previous: nil, time: 0)
      let body = [UInt8](repeating: 7, count: 3000)
      #expect(throws: StoreError.self) {
        for _ in 0..<12 { _ = try builder.append(ObjectKind(rawValue: 0), "a row", body) }
        builder.align(to: Bucket.byteCount)
        _ = try builder.finish(Manifest(tables: []), objectEnd: builder.position, identity)
      }
    }
  }

  @Test func `an object is read back while its piece may be on its way`() throws {
    let file = FailingFile()
    var builder = SegmentBuilder(
      at: SegmentHeader.firstOffset, in: file, seed: HashSeed(1, 2), flushLimit: 1 << 12, isNewFile: true)
    var units: [UnitOffset] = []
    for number in 0..<200 {
      units.append(
        try builder.append(ObjectKind(rawValue: 3), "a row", [UInt8](repeating: UInt8(number), count: number)))
      let unit = units[number / 2]
      let object = try builder.read(unit)
      #expect(object[8...].elementsEqual(repeatElement(UInt8(number / 2), count: number / 2)))
      let isWhole = Checksum.isValid(object.rawSpan, at: unit)
      #expect(isWhole)
    }
    #expect(builder.isLarge)
  }
}
