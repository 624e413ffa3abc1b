import Foundation
import RemoteLists
import StoreTestSupport
import Testing

@testable import Workspace

/// No file of a sealed user shows six bytes of what the user has, whatever commands have run.
///
/// What the user has is searched for in two ways: in the forms that a person would try, and in every form that the files of
/// a clear user with the same contents have it. The latter are all sequences of six bytes in these files but those that
/// are also in files with other contents.
@Suite struct NoPlaintextTests {
  /// A user with everything that commands make.
  private struct Scene {
    let root: TestRoot
    /// What the temporary files of the program go to.
    let temporary: String
    /// Options with the key; empty for a clear user.
    var options: [String] = []
    var words: SecretWords
    let keyPath: String

    init(seed: UInt64) throws {
      root = try TestRoot(answers: [])
      temporary = root.folder.path + "/temporary"
      try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
      words = SecretWords(seed: seed)
      keyPath = try root.folder.secret("key", Data(repeating: 1, count: 32))
    }

    @discardableResult
    func run(_ arguments: [String], codes: [Int32] = [0], input: Data? = nil) throws -> ProgramRun {
      let run = try root.run(arguments + options, input: input, variables: ["TMPDIR": temporary])
      try #require(codes.contains(run.code), "\(arguments): \(run.words)")
      return run
    }

    mutating func seal() throws {
      options = ["--key-file", keyPath]
      try run(["seal"])
    }

    /// An answer with products, of which each has texts and numbers in all forms that a row stores.
    mutating func payload(_ count: Int, _ first: Int = 0) -> Payload {
      var payload = Payload()
      for number in first..<first + count {
        let id = words.digits(16)
        let fields = [
          #""barcode":"\#(number % 2 == 0 ? words.digits(13) : words.word())""#,
          #""name":"\#(words.word()) \#(words.word())""#,
          #""brand":"\#(words.word())""#, #""skuCode":"\#(words.word())""#, #""unit":"\#(words.word())""#,
          #""createTime":"20\#(10 + number % 15)-05-13 10:0\#(number % 10):00""#,
          #""weight":0.\#(words.digits(12))"#, #""categoryId":\#(words.digits(15))"#,
          #""\#(words.word())":{"\#(words.word())":"\#(words.word())"}"#,
        ]
        payload.product(id, fields.joined(separator: ","))
        if number % 3 == 0 { payload.code(id, words.digits(14), unit: words.word()) }
        if number % 5 == 0 { payload.relation(id, words.digits(16)) }
      }
      payload.cursor = words.word()
      return payload
    }

    /// Puts something into every store, through full and incremental updates, own data, queries, a rollback and repairs.
    mutating func fill() throws {
      try run(["apply", root.payload(payload(40), "a.json").path])
      try run(["apply", root.payload(payload(10), "b.json").path])
      // The generation before is kept.
      try run(["apply", "--full", "--accept-loss", root.payload(payload(40), "c.json").path])
      let colour = words.word()
      try run(["fields", "set", colour, "--search", "--order"])
      let csv = (0..<20).map { _ in
        "\(words.digits(16)),\(words.digits(13)),\(words.word()) \(words.word()),\(words.word())\n"
      }
      let table = try root.folder.file("own.csv", Data(("id,barcode,name,\(colour)\n" + csv.joined()).utf8))
      try run(["import", table.path, "--upsert", "--unknown", "keep"])
      try run(["compact"])
      try run(["config", "set", words.word(), words.word()])
      try run([
        "config", "set", "sync.url", "http://\(words.word()).test/\(words.word())?\(words.word())=\(words.word())",
      ])
      let collection = words.word()
      for _ in 0..<5 {
        let document = #"{"id":"\#(words.word())","\#(words.word())":"\#(words.word())","n":\#(words.digits(15))}"#
        try run(["documents", "put", collection], input: Data(document.utf8))
        try run(["queue", "add", #"{"scan":"\#(words.word())","code":\#(words.digits(13))}"#])
      }
      try run(["documents", "index", "add", collection, "id"])
      try run(["scan", words.digits(13)], codes: [1])
      try run(["search", words.word()], codes: [1])
      try run(["verify"])
      let log = try run(["log", "--json"]).objects()
      if let earlier = log.dropFirst().first?.number("sequence") { try run(["rollback", "\(earlier)"]) }
      try run(["backup", root.folder.path + "/backup"])
    }

    /// Keeps pages of a remote list, as a program does that links the library.
    mutating func loadPages() async throws {
      var options = Workspace.Options()
      if !self.options.isEmpty { options.key = .keyFile(keyPath) }
      let workspace = try Workspace.open(root.path, options: options)
      defer { workspace.close() }
      let items = [Post(id: words.word(), text: words.word()), Post(id: words.word(), text: words.word())]
      let pages = PageCache(words.word(), in: try workspace.stores().pages(), pageSize: 2) { _, _ in items }
      #expect(try await pages.load(page: 1).notStored == nil)
    }

    /// The files of the user, of the backup and of the temporary directory, with names that say where.
    func files() throws -> [(name: String, bytes: Data)] {
      try ["root/users", "backup/users", "temporary"].flatMap { folder in
        let path = root.folder.path + "/" + folder
        return try (FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []).compactMap {
          name in
          try Self.contents(path + "/" + name).map { ("\(folder)/\(name)", $0) }
        }
      }
    }

    static func contents(_ path: String) throws -> Data? {
      var isDirectory: ObjCBool = false
      guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue
      else {
        return nil
      }
      return try Data(contentsOf: URL(fileURLWithPath: path))
    }
  }

  private struct Post: Codable, Identifiable, Sendable {
    let id: String
    var text: String
  }

  /// Checks that no file, and no name of one, has any of these sequences. The file of a lock names a process and a time, and
  /// names have random digits: they are compared with words only.
  private func expectNothing(
    _ secrets: ByteWindows, names: ByteWindows, _ files: [(name: String, bytes: Data)], _ when: String
  ) {
    for file in files where !file.name.hasSuffix(".lock") {
      if let found = secrets.first(in: file.bytes) {
        Issue.record(
          "\(when): \(file.name) has \(found.bytes) at \(found.offset): \(String(decoding: found.bytes, as: UTF8.self))"
        )
      }
      if names.first(in: Array(file.name.utf8)) != nil { Issue.record("\(when): the name \(file.name)") }
    }
  }

  @Test func `no file shows what a sealed user has, and sealing leaves nothing of what was in clear`() async throws {
    // The same contents in clear, and others of the same form.
    var clear = try Scene(seed: 1)
    var other = try Scene(seed: 2)
    var clearForms = ByteWindows()
    var structure = ByteWindows()
    try clear.fill()
    try await clear.loadPages()
    try other.fill()
    try await other.loadPages()
    for file in try clear.files() where file.name.hasSuffix(".log") {
      // What a sealed log seals: checksums and offsets are the same in both if their structures are.
      let log = try ForgedLog([UInt8](file.bytes))
      for object in log.objects { clearForms.add(log.bytes[object.offset + 8..<object.offset + object.length]) }
      for page in log.segments.flatMap(\.ordered).flatMap({ $0.mainPages + $0.fragmentPages }) {
        clearForms.add(log.bytes[page.dropFirst(4)])
      }
    }
    for file in try other.files() { structure.add(file.bytes) }
    clearForms.subtract(structure)
    clearForms.removeCommon()
    var secrets = ByteWindows()
    secrets.add(clear.words.all)
    var letters = ByteWindows()
    letters.add(clear.words.letters)
    // The check finds what it looks for.
    #expect(try clear.files().contains { secrets.first(in: $0.bytes) != nil } && clearForms.windows.count > 10_000)

    // A user that is sealed from the start.
    var sealed = try Scene(seed: 1)
    try sealed.seal()
    try sealed.fill()
    try await sealed.loadPages()
    #expect(sealed.words.all == clear.words.all)
    expectNothing(secrets, names: letters, try sealed.files(), "sealed from the start")
    expectNothing(clearForms, names: letters, try sealed.files(), "sealed from the start, as in a clear file")
    for file in try sealed.files() where file.name.hasSuffix(".lock") {
      #expect(letters.first(in: file.bytes) == nil && file.bytes.count <= 1024, "\(file.name)")
    }
    for command in [
      ["rekey", "--data-key", "--new-key-file", try sealed.root.folder.secret("new", Data(repeating: 2, count: 32))]
    ] {
      try sealed.run(command)
    }
    expectNothing(secrets, names: letters, try sealed.files(), "with another data key")

    // A user that was in clear, with a previous generation and a file that a repair has set aside.
    let log = clear.root.path + "/users/u/catalogue.log"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: log))
    bytes[16_000] ^= 0xFF
    try bytes.write(to: URL(fileURLWithPath: log))
    try clear.run(["verify", "--repair"], codes: [0, 1, 65])
    #expect(try clear.files().contains { $0.name.contains("damaged") })
    try clear.seal()
    try FileManager.default.removeItem(atPath: clear.root.folder.path + "/backup")
    expectNothing(secrets, names: letters, try clear.files(), "sealed later")
    expectNothing(clearForms, names: letters, try clear.files(), "sealed later, as in a clear file")
    let expected = ["catalogue", "documents", "settings", "cache", "origin"].flatMap { ["\($0).log", "\($0).lock"] }
    let names = try clear.files().map(\.name)
    #expect(Set(names).isSubset(of: (expected + ["user.keys", "user.lock"]).map { "root/users/u/" + $0 }), "\(names)")
  }

  @Test func `what a killed command leaves, and what is spooled meanwhile, shows nothing`() throws {
    var scene = try Scene(seed: 3)
    try scene.seal()
    try scene.run(["apply", scene.root.payload(scene.payload(20), "a.json").path])
    let large = scene.payload(4_000)
    var secrets = ByteWindows()
    secrets.add(scene.words.all)
    var letters = ByteWindows()
    letters.add(scene.words.letters)
    var seen: Set<String> = []
    for moment in 0..<4 {
      let process = Program.process(
        ["apply", "--full", "--accept-loss", "-"] + scene.options, root: scene.root.path,
        variables: ["TMPDIR": scene.temporary])
      let pipe = Pipe()
      process.standardInput = pipe
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      let json = large.json
      // The first ones wait in the middle of the answer, the others while it is written to the store.
      let end = moment < 2 ? json.count * (moment + 1) / 3 : json.count
      try pipe.fileHandleForWriting.write(contentsOf: json[..<end])
      if moment >= 2 { try pipe.fileHandleForWriting.close() }
      Thread.sleep(forTimeInterval: moment < 2 ? 0.3 : 0.1 * Double(moment))
      // Files without a name, too.
      let descriptors = "/proc/\(process.processIdentifier)/fd"
      for descriptor in (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? [] {
        let path = descriptors + "/" + descriptor
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path),
          target.hasPrefix(scene.root.folder.path),
          let bytes = FileManager.default.contents(atPath: path)
        else { continue }
        seen.insert(target.contains("deleted") ? "deleted" : "named")
        expectNothing(secrets, names: letters, [(target, bytes)], "open while it runs")
        #expect(letters.first(in: bytes) == nil, "open while it runs: \(target)")
      }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      expectNothing(secrets, names: letters, try scene.files(), "after kill -9")
    }
    #expect(seen.contains("deleted"), "\(seen)")
    try scene.run(["verify"])
  }
}
