import Foundation
import LogStore
import RemoteLists
import Testing

/// What every command says of a file that a newer version wrote: that, and nothing of damage; the file stays as it is.
@Suite struct NewerFileTests {
  /// What a newer version did to the header of a file.
  enum Change: String, CaseIterable {
    case feature, version, readOnly
  }

  /// A store, and the commands that need it.
  struct Store: CustomTestStringConvertible, Sendable {
    let file: String
    let commands: [String]
    /// The commands that need not write.
    let readers: Set<String>
    var testDescription: String { file }

    static let all = [
      Store(
        file: "users/u/catalogue.log",
        commands: [
          "dump", "get --id p0", "scan c0", "find product", "search product", "products", "components p0",
          "sets-with p0", "explain c0", "complete p", "stat", "log", "diff 1 2", "export ROWS.csv", "verify",
          "verify --repair", "compact", "compact --drop-previous", "rollback 1", "apply PAYLOAD", "sync --from PAYLOAD",
          "sync --full --from PAYLOAD", "sync --full --replace-damaged --from PAYLOAD", "import ROWS",
          "import ROWS --replace-damaged", "import ROWS --upsert",
        ],
        readers: [
          "dump", "get", "scan", "find", "search", "products", "components", "sets-with", "explain", "complete", "stat",
          "log", "diff", "export", "verify",
        ]),
      Store(
        file: "users/u/documents.log",
        commands: [
          "documents list", "documents query members", "documents get members 1",
          "documents put members --from DOCUMENT", "documents delete members 1", "documents compact",
          "documents index list members", "queue list", "queue add {}", "queue pause",
          "queue retry --parked", "queue clear", "verify", "verify --repair",
        ],
        readers: ["documents list", "documents query", "documents get", "documents index", "queue list", "verify"]),
      Store(
        file: "users/u/settings.log",
        commands: [
          "config list", "config get theme", "config set theme dark", "config unset theme", "import ROWS", "compact",
          "verify", "verify --repair",
        ], readers: ["config list", "config get", "import", "compact", "verify"]),
      Store(
        file: "users/u/cache.log",
        commands: ["cache list", "cache show inbox", "cache clear", "verify", "verify --repair"],
        readers: ["cache list", "cache show", "verify"]),
      Store(
        file: "default/settings.log", commands: ["whoami", "login v", "logout", "dump", "verify", "verify --repair"],
        readers: ["whoami", "dump", "verify"]),
    ]
  }

  @Test(arguments: Store.all, Change.allCases)
  func `a file of a newer version is named as such, and left alone`(store: Store, change: Change) async throws {
    let root = try TestRoot(answers: [])
    let payload = try root.payload(.products(3))
    let document = try root.folder.file("document.json", Data(#"{"id": 1}"#.utf8))
    for command in [
      ["apply", payload.path], ["apply", payload.path], ["config", "set", "theme", "light"],
      ["documents", "put", "members", "--from", document.path],
    ] { try #require(try root.run(command).code == 0) }
    try await fillCache(root)
    let lines = ["id,name,barcode", "p0,a,4006381333931", "p1,b,4006381333948", "p2,c,4006381333955", ""]
    let rows = try root.folder.file("rows.csv", Data(lines.joined(separator: "\n").utf8))
    let path = root.path + "/" + store.file
    try Self.apply(change, to: path)
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    for command in store.commands {
      let words = command.split(separator: " ").map { word in
        switch word {
        case "PAYLOAD": payload.path
        case "DOCUMENT": document.path
        case "ROWS": rows.path
        case "ROWS.csv": root.folder.path + "/out-\(UUID().uuidString).csv"
        default: String(word)
        }
      }
      let run = try root.run(words)
      let isReader = store.readers.contains { reader in
        command == reader || command.hasPrefix(reader + " ") && !command.contains("--repair")
      }
      if change == .readOnly, isReader {
        #expect(run.code <= 1, "\(command): \(run.code) \(run.words)")
      } else {
        #expect(run.code == 65, "\(command): \(run.code) \(run.words)")
        #expect(run.words.contains("was written by a newer Shelfmark"), "\(command): \(run.words)")
        #expect(run.words.contains("install that version"), "\(command): \(run.words)")
      }
      for wrong in [
        "lost: everything", "move it away", "--repair", "--replace-damaged", "is damaged", "sets it aside",
        "saves what",
      ] { #expect(!run.words.contains(wrong), "\(command): \(run.words)") }
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before, "\(command)")
    }
    let after = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(!after.contains { $0.contains("damaged") }, "\(names) \(after)")
  }

  private struct Item: Codable, Identifiable, Sendable { let id: Int }

  @Test func `the table of users calls a newer catalogue newer`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(3))])
    try Self.apply(.feature, to: root.path + "/users/u/catalogue.log")
    let run = try root.run("users")
    #expect(run.code == 65 && run.text.contains("newer") && !(run.text + run.words).contains("damaged"), "\(run.text)")
  }

  private func fillCache(_ root: TestRoot) async throws {
    let store = PageStore(try StoreLocation.creating(root.path + "/users/u", name: "cache"))
    let inbox = PageCache("inbox", in: store, pageSize: 2) { _, _ in [Item(id: 1)] }
    #expect(try await inbox.load().notStored == nil)
    store.close()
  }

  /// Changes the header of a log as a newer version might, with a checksum that holds.
  private static func apply(_ change: Change, to path: String) throws {
    let url = URL(fileURLWithPath: path)
    var bytes = [UInt8](try Data(contentsOf: url))
    switch change {
    case .feature: bytes[32] |= 1 << 5
    case .version: bytes[8] = 2
    case .readOnly: bytes[24] |= 1
    }
    let checksum = crc32c(bytes[..<4092])
    for index in 0..<4 { bytes[4092 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
    try Data(bytes).write(to: url)
  }

  private static func crc32c(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var crc = UInt32.max
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x82F6_3B78 }
    }
    return ~crc
  }
}
