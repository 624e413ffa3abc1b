import Bytes
import DocumentFormat
import Foundation
import LogStore
import RandomTestSupport
import Testing
@testable import Workspace

@Suite struct SettingsTests {
  /// A value of an application's own type.
  struct Window: Codable, Sendable, Equatable {
    enum Side: String, Codable { case left, right }
    var side = Side.left
    var widths: [Double] = []
    var name: String?
  }

  private let root = TemporaryRoot()

  private func settings(_ id: String? = nil) throws -> Settings { try root.directory.settings(of: id) }

  private func roundTrip<Value: Codable & Sendable & Equatable>(_ name: String, _ none: Value, _ values: [Value]) throws
  {
    let setting = Setting(name, default: none)
    let settings = try settings("ana")
    #expect(try settings.get(setting) == none)
    for value in values {
      try settings.set(setting, to: value)
      #expect(try settings.get(setting) == value)
      // As another process sees it.
      #expect(try self.settings("ana").get(setting) == value)
    }
    try settings.unset(setting)
    #expect(try settings.get(setting) == none && settings.value(named: name) == nil)
  }

  @Test func `values of every kind come back as they were set, and defaults where none is`() throws {
    try roundTrip("text", "none", ["", "a", "用户 1", "a\u{0}b\n", String(repeating: "x", count: 100_000)])
    try roundTrip("integer", 7, [0, -1, .max, .min])
    try roundTrip("unsigned", UInt64(7), [0, .max])
    try roundTrip("double", 0.5, [0, -0.0, 1e300, .infinity, .leastNonzeroMagnitude])
    try roundTrip("flag", true, [false, true])
    try roundTrip(
      "date", Date(timeIntervalSince1970: 0), [Date(timeIntervalSince1970: 1_800_000_000.25), .distantPast])
    try roundTrip("data", Data(), [Data([0, 255, 7])])
    try roundTrip("optional", Int?.none, [5, nil])
    try roundTrip("list", [String](), [["a", "b"]])
    try roundTrip("window", Window(), [Window(side: .right, widths: [1, 2.5], name: "w")])
    #expect(try settings("ana").list().isEmpty)
  }

  @Test func `each directory has its own settings, and reading makes none`() throws {
    #expect(try settings("ana").get(.showAd) && settings().get(.showAd))
    try settings("ana").unset(.showAd)
    #expect(!root.exists(""))
    try settings("ana").set(.showAd, to: false)
    #expect(try settings("bob").get(.showAd) && settings().get(.showAd) && !settings("ana").get(.showAd))
    #expect(try root.names().filter { $0.hasSuffix(".log") } == ["users/ana/settings.log"])
    #expect(throws: WorkspaceError.self) { try settings("") }
  }

  /// As in the documentation of `Workspace`.
  @Test func `what published applications keep among user defaults has its place`() throws {
    let workspace = try root.open()
    let device = workspace.defaultStores.settings
    if try !device.get(.guideShown) { try device.set(.guideShown, to: true) }
    #expect(try device.get(.guideShown))
    try workspace.signIn("ana")
    if try workspace.current() != nil {
      let own = try workspace.stores().settings
      try own.change {
        try $0.set(.adShown, to: true)
        try $0.set(.adToShow, to: 4711)
      }
      #expect(try own.get(.adShown) && own.get(.adToShow) == 4711 && !own.get(.guideShown))
      try own.set(.adToShow, to: nil)
      #expect(try own.get(.adToShow) == nil && own.value(named: "adToShow") == .null)
    }
  }

  @Test func `several changes are one commit, or none`() throws {
    struct Refusal: Error {}
    let settings = try settings()
    let (a, b) = (Setting("a", default: 0), Setting("b", default: 0))
    try settings.change {
      try $0.set(a, to: 1)
      try $0.set(b, to: 2)
    }
    #expect(try settings.snapshot().store?.sequence == 1)
    #expect(throws: Refusal.self) {
      try settings.change {
        try $0.set(a, to: 3)
        try $0.unset(b)
        throw Refusal()
      }
    }
    #expect(try settings.get(a) == 1 && settings.get(b) == 2)
    // The last word on a name counts; what changes nothing is no commit.
    try settings.change {
      try $0.unset(a)
      try $0.set(a, to: 4)
      try $0.set(b, to: 2)
    }
    try settings.set(a, to: 4)
    try settings.unset(Setting("c", default: 0))
    #expect(try settings.get(a) == 4 && settings.snapshot().store?.sequence == 2)
    // A snapshot is of one commit.
    let snapshot = try settings.snapshot()
    try settings.set(a, to: 5)
    #expect(try snapshot.get(a) == 4 && settings.get(a) == 5)
  }

  @Test func `what is stored as another type is told, with name, file, value and type`() throws {
    let settings = try settings()
    try settings.set(Setting("level", default: ""), to: "high")
    do {
      _ = try settings.get(Setting("level", default: 3))
      Issue.record("a text was taken for a number")
    } catch SettingsError.type(let name, let path, let stored, let expected) {
      #expect(name == "level" && path == root.path + "/default/settings.log")
      #expect(stored == "a text, \"high\"" && expected == "Int")
    }
    #expect(
      "\(try #require(throws: SettingsError.self) { try settings.get(Setting("level", default: Date())) })".contains(
        "Date"))
    // Numbers are taken by value where they fit.
    try settings.set(Setting("number", default: 0.0), to: 2)
    #expect(try settings.get(Setting("number", default: 0)) == 2)
    try settings.set(Setting("number", default: 0.0), to: 2.5)
    #expect(throws: SettingsError.self) { try settings.get(Setting("number", default: 0)) }
    #expect(throws: SettingsError.self) { try settings.get(Setting("number", default: UInt8(0))) }
    // The other settings do not suffer, and the value can be replaced.
    #expect(try settings.list().map(\.name) == ["level", "number"])
    try settings.set(Setting("level", default: 3), to: 4)
    #expect(try settings.get(Setting("level", default: 3)) == 4)
  }

  @Test func `bytes that are no document are an error for that setting, never a trap`() throws {
    let settings = try settings()
    try settings.set(.showAd, to: false)
    let location = try #require(try root.directory.store("settings", of: nil))
    var random = SeededGenerator(for: "SettingsTests, bytes")
    for round in 0..<(40 * depth) {
      let body = (0..<Int.random(in: 0...12, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let writer = try StoreWriter(location, schema: SettingsTable.schema, lockTimeout: .seconds(1))
      _ = try writer.commit { transaction in
        let table = try transaction.table(SettingsTable.values)
        var draft = RecordDraft()
        draft.addKey(Array("odd".utf8).rawSpan)
        draft.body = body
        try transaction.put(table, draft)
      }
      writer.close()
      if !isDocument(body) {
        #expect(throws: SettingsError.self, "\(round): \(body)") { try settings.get(Setting("odd", default: "")) }
        #expect(throws: SettingsError.self, "\(round): \(body)") { try settings.value(named: "odd") }
        #expect(throws: SettingsError.self, "\(round): \(body)") { try settings.list() }
      } else {
        _ = try? settings.get(Setting("odd", default: ""))
        _ = try settings.list()
      }
      #expect(try !settings.get(.showAd))
    }
    try settings.set(Setting("odd", default: ""), to: "even")
    #expect(try settings.list().count == 2)
  }

  private func isDocument(_ bytes: [UInt8]) -> Bool {
    do {
      _ = try DocumentValue(documentBytes: bytes.rawSpan)
      return true
    } catch { return false }
  }

  @Test(arguments: ["", String(repeating: "n", count: 201)])
  func `a name that is empty or too long is refused`(name: String) throws {
    let settings = try settings()
    #expect(throws: SettingsError.self) { try settings.set(Setting(name, default: 0), to: 1) }
    #expect(throws: SettingsError.self) { try settings.get(Setting(name, default: 0)) }
    #expect(throws: SettingsError.self) { try settings.unset(Setting(name, default: 0)) }
    #expect(!root.exists(""))
    let longest = Setting(String(repeating: "n", count: Setting<Int>.maximumNameByteCount), default: 0)
    try settings.set(longest, to: 1)
    #expect(try settings.get(longest) == 1)
  }

  @Test func `a value that no document holds, or no record, is refused`() throws {
    let settings = try settings()
    try settings.set(.showAd, to: false)
    let large = Setting("large", default: Data())
    #expect(throws: StoreError.self) { try settings.set(large, to: Data(count: 17 << 20)) }
    #expect(throws: SettingsError.self) { try settings.set(Setting("deep", default: Deep()), to: Deep()) }
    #expect(try settings.list().map(\.name) == ["showAd"])
  }

  /// Encodes more levels than a document has.
  struct Deep: Codable, Sendable {
    var level = 0
    init() {}
    init(from decoder: any Decoder) throws { level = 0 }
    func encode(to encoder: any Encoder) throws {
      if level > 200 { return }
      var next = self
      next.level += 1
      var list = encoder.unkeyedContainer()
      try list.encode(next)
    }
  }

  @Test func `who is signed in and settings share a file, and do not see each other`() throws {
    try root.directory.signIn("ana")
    let settings = try settings()
    #expect(try settings.list().isEmpty && settings.value(named: SettingsTable.currentUser) == nil)
    try settings.set(Setting(SettingsTable.currentUser, default: ""), to: "eve")
    #expect(try root.directory.currentUser() == "ana")
    try root.directory.signIn("bob")
    #expect(try settings.get(Setting(SettingsTable.currentUser, default: "")) == "eve")
    // The other way round: settings before anybody signed in.
    let other = TemporaryRoot()
    try other.directory.settings(of: nil).set(.showAd, to: false)
    #expect(try other.directory.currentUser() == nil)
    try other.directory.signIn("ana")
    #expect(try other.directory.currentUser() == "ana" && !other.directory.settings(of: nil).get(.showAd))
    #expect(try other.directory.verifySettings().isEmpty)
  }

  @Test func `a file of the first version is read, and written on`() throws {
    // What a program without typed settings writes: one table, with text.
    let location = try StoreLocation.creating(root.path + "/default", name: "settings")
    let old = Schema([Schema.Table("settings", keySpaces: [Schema.KeySpace("name", isUnique: true)])])
    let writer = try StoreWriter(location, schema: old)
    try SettingsTable.set("currentUser", to: "ana", in: writer)
    writer.close()
    let settings = try settings()
    #expect(try root.directory.currentUser() == "ana" && settings.list().isEmpty)
    try settings.set(.showAd, to: false)
    #expect(try root.directory.currentUser() == "ana" && !settings.get(.showAd))
    // And the old program goes on with it.
    let again = try StoreWriter(location, schema: old)
    try SettingsTable.set("currentUser", to: "bob", in: again)
    again.close()
    #expect(try root.directory.currentUser() == "bob" && !settings.get(.showAd))
  }

  @Test func `damage is told with file and offset, and what is whole stays readable`() throws {
    let settings = try settings("ana")
    for name in ["first", "second", "third"] { try settings.set(Setting(name, default: ""), to: "value of \(name)") }
    let url = root.url("users/ana/settings.log")
    let whole = try Data(contentsOf: url)
    let range = try #require(whole.range(of: Data("value of second".utf8)))
    var rotten = whole
    rotten[range.lowerBound + 2] ^= 4
    try rotten.write(to: url)
    let again = try self.settings("ana")
    #expect(try again.get(Setting("first", default: "")) == "value of first")
    do {
      _ = try again.get(Setting("second", default: ""))
      Issue.record("rot was read")
    } catch StoreError.damaged(let path, let offset, _) {
      #expect(path == url.path && offset > 0 && offset < range.lowerBound)
    }
    // Rot in any byte: an error or the truth, never anything else.
    var random = SeededGenerator(for: "SettingsTests, rot")
    for _ in 0..<(60 * depth) {
      var rotten = whole
      let place = Int.random(in: 0..<whole.count, using: &random)
      rotten[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      try rotten.write(to: url)
      let again = try self.settings("ana")
      for name in ["first", "second", "third"] {
        do {
          let value = try again.get(Setting(name, default: ""))
          // Behind a torn end there may be fewer commits.
          #expect(value == "value of \(name)" || value.isEmpty, "byte \(place)")
        } catch is StoreError {}
      }
    }
  }

  @Test func `a repair keeps settings and who is signed in`() throws {
    try root.directory.signIn("ana")
    let settings = try settings()
    for name in ["first", "second", "third"] { try settings.set(Setting(name, default: ""), to: "value of \(name)") }
    let url = root.url("default/settings.log")
    var rotten = try Data(contentsOf: url)
    let range = try #require(rotten.range(of: Data("value of second".utf8)))
    rotten[range.lowerBound] ^= 1
    try rotten.write(to: url)
    let repair = try #require(try root.directory.repairSettings())
    #expect(!repair.findings.isEmpty && repair.damagedPath != nil)
    #expect(try root.directory.currentUser() == "ana")
    #expect(try self.settings().list().map(\.name) == ["first", "third"])
    #expect(try root.directory.verifySettings().isEmpty)
  }

  @Test func `a directory that cannot be made is an error, and nothing is left`() throws {
    try FileManager.default.createDirectory(atPath: root.path, withIntermediateDirectories: true)
    try Data().write(to: root.url("users"))
    let settings = try settings("ana")
    #expect(throws: WorkspaceError.self) { try settings.set(.showAd, to: false) }
    #expect(try self.settings().get(.showAd))
    #expect(try root.names() == ["users"])
  }
}

extension Setting where Value == Bool {
  fileprivate static var adShown: Setting { Setting("adShown", default: false) }
  fileprivate static var guideShown: Setting { Setting("guideShown", default: false) }
}
extension Setting where Value == Int? {
  fileprivate static var adToShow: Setting { Setting("adToShow", default: nil) }
}
