import Bytes
import Foundation
import RandomTestSupport
import Sealing
import Storage
import StoreTestSupport
import Testing

@testable import Workspace

/// Keys for tests.
enum TestKey {
  /// What a passphrase costs in tests: as little as is allowed.
  static let cost = PassphraseCost(passes: 1, memory: 8)

  static func raw(_ byte: UInt8) throws -> KeyMaterial {
    .raw(try SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
  }

  static func passphrase(_ text: String) throws -> KeyMaterial {
    .passphrase(try SecretBytes(copying: Array(text.utf8)))
  }

  static func mark(_ name: String, _ sequence: UInt64) -> StoreMark {
    StoreMark(
      name: name, storeID: [UInt8](repeating: 7, count: 16), generation: sequence / 10, sequence: sequence, time: 1)
  }
}

extension KeyFile {
  /// The bytes of the secret that a key opens; a wrong key throws.
  fileprivate func opened(_ material: KeyMaterial) throws -> [UInt8] {
    unsafe try unlock(with: material).current.secret.withBytes { unsafe Array($0) }
  }
}

/// The file with the keys of a user.
@Suite struct KeyFileTests {
  private func new(_ material: KeyMaterial) throws -> (file: KeyFile, dataKey: DataKey) {
    try KeyFile.new(path: "user.keys", with: material, cost: TestKey.cost, now: 1)
  }

  @Test func `each key and passphrase of a file opens the same data key, and no other does`() throws {
    let (first, dataKey) = try new(TestKey.raw(1))
    let secret = unsafe dataKey.secret.withBytes { unsafe Array($0) }
    var file = try first.adding(TestKey.passphrase("correct horse"), of: dataKey, cost: TestKey.cost, now: 2)
    file = try file.adding(TestKey.raw(2), of: dataKey, cost: TestKey.cost, now: 3)
    let read = try KeyFile(file.bytes, path: "user.keys")
    #expect(read.bytes == file.bytes && read.keyID == dataKey.id && read.state == .sealing)
    #expect(read.wrappings.map(\.kind) == [.raw, .passphrase, .raw] && read.wrappings.map(\.created) == [1, 2, 3])
    for material in try [TestKey.raw(1), TestKey.raw(2), TestKey.passphrase("correct horse")] {
      #expect(try read.opened(material) == secret)
    }
    // The bytes of a key are no passphrase, nor the other way round.
    let others = try [
      TestKey.raw(3), TestKey.passphrase("correct hors"),
      .passphrase(SecretBytes(copying: [UInt8](repeating: 1, count: 32))),
    ]
    for material in others {
      #expect(throws: KeyError.otherKey(path: "user.keys")) { try read.unlock(with: material) }
    }
  }

  @Test func `neither the data key nor what opens it is in the file`() throws {
    let raw = try SecretBytes.random(32)
    let (first, dataKey) = try new(.raw(raw))
    let file = try first.adding(TestKey.passphrase("correct horse"), of: dataKey, cost: TestKey.cost, now: 2)
    let data = Data(file.bytes)
    for secret in [raw, dataKey.secret] {
      let bytes = unsafe secret.withBytes { unsafe Array($0) }
      for start in 0...26 { #expect(data.range(of: Data(bytes[start..<start + 6])) == nil) }
    }
    #expect(data.range(of: Data("correct".utf8)) == nil)
  }

  @Test func `two files for one key share neither salts, nonces, ids nor sealed bytes`() throws {
    let files = try (0..<20).map { _ in try new(TestKey.raw(1)).file.wrappings[0] }
    for field in [\KeyWrapping.identifier, \.salt, \.nonce, \.check, \.sealed] {
      #expect(Set(files.map { $0[keyPath: field] }).count == files.count)
    }
  }

  @Test func `keys are removed without a key, all but the last`() throws {
    let (first, dataKey) = try new(TestKey.raw(1))
    let file = try first.adding(TestKey.raw(2), of: dataKey, now: 2)
    let ids = file.wrappings.map(\.id)
    #expect(ids.allSatisfy { $0.utf8.count == 16 })
    let rest = try file.removing(ids[0].uppercased())
    #expect(rest.wrappings.map(\.id) == [ids[1]])
    #expect(throws: KeyError.otherKey(path: "user.keys")) { try rest.unlock(with: TestKey.raw(1)) }
    let secret = unsafe dataKey.secret.withBytes { unsafe Array($0) }
    #expect(try rest.opened(TestKey.raw(2)) == secret)
    #expect(throws: KeyError.lastWrapping(path: "user.keys", id: ids[1])) { try rest.removing(ids[1]) }
    #expect(throws: KeyError.noWrapping(path: "user.keys", id: ids[0])) { try rest.removing(ids[0]) }
  }

  @Test func `a key is added once, and 16 keys are the limit`() throws {
    var (file, dataKey) = try new(TestKey.raw(1))
    let id = file.wrappings[0].id
    #expect(throws: KeyError.sameKey(path: "user.keys", id: id)) {
      try file.adding(TestKey.raw(1), of: dataKey, now: 2)
    }
    for byte in 2...16 { file = try file.adding(TestKey.raw(UInt8(byte)), of: dataKey, now: 2) }
    #expect(throws: KeyError.tooMany(path: "user.keys", limit: 16)) {
      try file.adding(TestKey.raw(17), of: dataKey, now: 2)
    }
    // A full file still changes a key for another.
    let next = try file.replacing(file.unlock(with: TestKey.raw(5)), with: TestKey.raw(17), now: 3)
    #expect(next.wrappings.count == 16)
    #expect(throws: KeyError.otherKey(path: "user.keys")) { try next.unlock(with: TestKey.raw(5)) }
    #expect(try KeyFile(next.bytes, path: "").unlock(with: TestKey.raw(17)).current.id == dataKey.id)
  }

  @Test func `another data key leaves the former one until it is taken out, and ends the other keys`() throws {
    let (first, dataKey) = try new(TestKey.raw(1))
    let file = try first.adding(TestKey.raw(2), of: dataKey, now: 2)
    let (next, keys) = try file.replacingDataKey(file.unlock(with: TestKey.raw(1)), with: TestKey.raw(3), now: 4)
    let read = try KeyFile(next.bytes, path: "user.keys")
    for byte: UInt8 in [1, 2] {
      #expect(throws: KeyError.otherKey(path: "user.keys")) { try read.unlock(with: TestKey.raw(byte)) }
    }
    let opened = try read.unlock(with: TestKey.raw(3))
    #expect(opened.current.id == keys.current.id && opened.current.id != dataKey.id)
    #expect(try #require(opened.former).secret.isEqual(to: dataKey.secret) == true)
    let done = try KeyFile(read.withoutFormer(opened.current).bytes, path: "user.keys").unlock(with: TestKey.raw(3))
    #expect(done.former == nil && done.current.id == keys.current.id)
  }

  @Test func `a state that was changed without the key is damage`() throws {
    let (file, dataKey) = try new(TestKey.raw(1))
    var bytes = try file.setting(.sealed, dataKey).bytes
    #expect(try KeyFile(bytes, path: "").state == .sealed)
    bytes[40] = KeyFile.State.unsealing.rawValue
    Self.mend(&bytes)
    let forged = try KeyFile(bytes, path: "user.keys")
    #expect(throws: KeyError.damaged(path: "user.keys", what: "its header is not as it was written")) {
      try forged.unlock(with: TestKey.raw(1))
    }
  }

  @Test func `a wrapping of another file does not open a data key here`() throws {
    let (ours, _) = try new(TestKey.raw(1))
    let (theirs, _) = try new(TestKey.raw(1))
    var bytes = ours.bytes
    bytes.replaceSubrange(256..<384, with: theirs.bytes[256..<384])
    Self.mend(&bytes)
    let forged = try KeyFile(bytes, path: "user.keys")
    #expect(
      throws: KeyError.damaged(
        path: "user.keys", what: "the key \(theirs.wrappings[0].id) is not as it was written")
    ) { try forged.unlock(with: TestKey.raw(1)) }
  }

  // MARK: Hostile bytes

  /// Computes the checksum anew, as somebody would who changes the file with care.
  private static func mend(_ bytes: inout [UInt8]) {
    bytes.store(UInt32(0), at: KeyFile.Layout.checksum)
    bytes.store(Checksum.of(Array(bytes[..<KeyFile.Layout.pageSize])), at: KeyFile.Layout.checksum)
  }

  /// A file with all that a file can have.
  private func full() throws -> KeyFile {
    let (first, dataKey) = try new(TestKey.raw(1))
    let (next, keys) = try first.replacingDataKey(
      first.unlock(with: TestKey.raw(1)), with: TestKey.raw(2), now: 2)
    #expect(dataKey.id != keys.current.id)
    var file = try next.adding(
      TestKey.passphrase("correct horse"), of: keys.current, cost: TestKey.cost, now: 3)
    try file.set(TestKey.mark("documents", 12), keys.current)
    return file
  }

  @Test func `any flipped bit of the first page is damage, without a key`() throws {
    let bytes = try full().bytes
    for offset in 0..<KeyFile.Layout.pageSize {
      var flipped = bytes
      flipped[offset] ^= 1 << (offset % 8)
      #expect(throws: KeyError.self, "\(offset)") { try KeyFile(flipped, path: "") }
    }
  }

  @Test func `any flipped bit under a mended checksum is never another data key, and never a trap`() throws {
    var random = SeededGenerator(for: "KeyFileTests")
    let file = try full()
    let good = try file.unlock(with: TestKey.raw(2))
    var refusals = 0
    // The header, three wrappings, and what is behind them.
    let offsets = Array(0..<700) + (0..<60).map { _ in Int.random(in: 700..<8192, using: &random) }
    for offset in offsets {
      for bit in depth > 1 ? Array(0..<8) : [offset % 8] {
        var flipped = file.bytes
        flipped[offset] ^= 1 << bit
        Self.mend(&flipped)
        do {
          let keys = try KeyFile(flipped, path: "").unlock(with: TestKey.raw(2))
          #expect(keys.current.id == good.current.id && keys.former?.id == good.former?.id, "\(offset)")
          // What changes nothing for this key is the number of wrappings, another wrapping, the mended checksum, or a mark.
          #expect(12..<16 ~= offset || offset == 41 || offset >= 384, "\(offset)")
        } catch let error as KeyError {
          refusals += 1
          guard case .damaged = error else {
            // A flipped salt or check value is that of another key; a flipped version that of another program.
            #expect([KeyError.otherKey(path: "")].contains(error) || 8..<12 ~= offset, "\(offset) \(error)")
            continue
          }
        }
      }
    }
    #expect(refusals > 300)
  }

  @Test func `random and truncated bytes are refused`() throws {
    var random = SeededGenerator(for: "KeyFileTests")
    let bytes = try full().bytes
    for count in [0, 1, 8, 12, 255, 256, 4095, 4096, 4097, 8191] {
      #expect(throws: KeyError.self) { try KeyFile(Array(bytes.prefix(count)), path: "") }
    }
    #expect(throws: KeyError.self) { try KeyFile(bytes + [0], path: "") }
    for _ in 0..<(200 * depth) {
      var hostile = random.bytes(8192)
      hostile.replaceSubrange(0..<12, with: bytes[0..<12])
      if Bool.random(using: &random) { hostile.replaceSubrange(40..<256, with: bytes[40..<256]) }
      Self.mend(&hostile)
      do { _ = try KeyFile(hostile, path: "").unlock(with: TestKey.raw(1)) } catch is KeyError { continue }
      Issue.record("random bytes were keys")
    }
  }

  @Test func `a newer version is no damage`() throws {
    for offset in [8, 10] {
      var bytes = try full().bytes
      bytes[offset] += 1
      Self.mend(&bytes)
      let version = offset == 8 ? "2.0" : "1.1"
      #expect(throws: KeyError.newer(path: "", version: version)) { try KeyFile(bytes, path: "") }
    }
  }

  // MARK: Marks

  @Test func `a mark that is torn or of another key does not count`() throws {
    let (file, dataKey) = try new(TestKey.raw(1))
    let (other, otherKey) = try new(TestKey.raw(1))
    let mark = TestKey.mark("settings", 300)
    let bytes = try mark.bytes(dataKey)
    #expect(try StoreMark(bytes, dataKey) == mark)
    #expect(try StoreMark(bytes, otherKey) == nil)
    #expect(try other.marks(otherKey).isEmpty && file.marks(dataKey).isEmpty)
    let next = try TestKey.mark("settings", 301).bytes(dataKey)
    for count in 1..<bytes.count where Array(next[..<count] + bytes[count...]) != bytes {
      let torn = Array(next[..<count] + bytes[count...])
      if torn != next { #expect(try StoreMark(torn, dataKey) == nil, "\(count)") }
    }
    // In the place of another store it does not count either.
    var moved = file.bytes
    moved.replaceSubrange(4096..<4096 + bytes.count, with: bytes)
    #expect(try KeyFile(moved, path: "").marks(dataKey).isEmpty)
    moved.replaceSubrange(4096 + 512..<4096 + 512 + bytes.count, with: bytes)
    #expect(try KeyFile(moved, path: "").marks(dataKey) == [mark])
  }

  @Test func `a mark tells an older copy of its store, and nothing about another store`() {
    let mark = TestKey.mark("catalogue", 300)
    #expect(mark.wentBack(present: 299) == 299)
    #expect(mark.wentBack(present: 300) == nil)
  }

  @Test func `another data key keeps the marks`() throws {
    let (first, dataKey) = try new(TestKey.raw(1))
    var file = first
    for name in ["catalogue", "origin", "unknown"] { try file.set(TestKey.mark(name, 5), dataKey) }
    let (next, keys) = try file.replacingDataKey(file.unlock(with: TestKey.raw(1)), with: TestKey.raw(3), now: 4)
    #expect(try next.marks(keys.current) == [TestKey.mark("catalogue", 5), TestKey.mark("origin", 5)])
    #expect(try next.marks(dataKey).isEmpty)
  }
}
