import Foundation
import Sealing
import Testing

@testable import Workspace

/// What a core dump of a program has that answers scans of a sealed user. Documentation/Operations/Sealed.md says it.
@Suite struct CoreDumpTests {
  private let root: TestRoot
  private let key: String
  private static let rawKey = (0..<32).map { UInt8(truncatingIfNeeded: 0x91 &+ 37 &* $0) }
  private var words = SecretWords(seed: 11)
  private let rows: [(code: String, name: String)]

  init() throws {
    root = try TestRoot(answers: [])
    key = try root.folder.secret("key", Data(Self.rawKey))
    var payload = Payload()
    var words = words
    rows = (0..<200).map { number in
      let row = (words.digits(13), words.word(20))
      payload.product("p\(number)", #""barcode":"\#(row.0)","name":"\#(row.1)""#)
      return row
    }
    _ = try root.apply([root.payload(payload)])
    // The answer is not the user's file.
    try FileManager.default.removeItem(at: root.folder.url("payload.json"))
    let run = try root.run("seal", "--key-file", key)
    try #require(run.code == 0, "\(run.words)")
  }

  /// The keys of the user and of the catalogue, by name.
  private func keys() throws -> [String: [UInt8]] {
    let path = root.path + "/users/u/"
    let file = try KeyFile(Array(Data(contentsOf: URL(fileURLWithPath: path + "user.keys"))), path: "user.keys")
    let dataKey = try file.unlock(with: .raw(SecretBytes(copying: Self.rawKey))).current
    let log = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "catalogue.log")))
    func bytes(_ secret: SecretBytes) -> [UInt8] { unsafe secret.withBytes { unsafe Array($0) } }
    func derived(_ use: String, _ count: Int) throws -> [UInt8] {
      bytes(
        try dataKey.secret.derived(
          salt: Array(log[40..<56] + log[80..<88]), info: Array("shelfmark \(use)".utf8), count: count))
    }
    return [
      "key of the wrapping": Self.rawKey, "data key": bytes(dataKey.secret), "base key": try derived("base", 32),
      "nonce key": try derived("nonce", 32), "hash key": try derived("hash", 16),
    ]
  }

  @Test func `a dump of a program that scans has no keys, and no rows but those that it was asked for`() throws {
    let program = try Conversation(["scan", "--json", "--key-file", key], root: root.path)
    for row in rows[..<100] {
      try program.say(row.code + "\n")
      try #require(program.line()?.contains(row.name) == true)
    }
    let dump = try CoreDump(of: program.process.processIdentifier)
    // The dump has what it should have: the last answer, and not what is left out of dumps.
    let hasLast = dump.contains(rows[99].name)
    #expect(hasLast && dump.leftOut > 0)
    for (name, key) in try keys() where name != "hash key" {
      // The first round keys of AES are the key itself; half of it would be too much.
      for part in [key[..<(key.count / 2)], key[(key.count / 2)...]] {
        let isThere = dump.contains(Array(part))
        #expect(!isThere, "\(name)")
      }
    }
    for row in rows[100...] {
      let isThere = dump.contains(row.name) || dump.contains(row.code)
      #expect(!isThere, "\(row)")
    }
    // Of those that it was asked for, most are overwritten by later ones.
    let remembered = rows[..<100].filter { dump.contains($0.name) }.count
    #expect(remembered <= 20, "\(remembered)")
    try program.hangUp()
    #expect(program.end() == 0)
  }
}
