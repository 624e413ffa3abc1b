import Bytes
import Catalog
import Foundation
import LogStore
import Synchronization
import Testing

@testable import Workspace

/// Backups of stores that are in use, and the way back.
@Suite struct BackupTests {
  private let root = TemporaryRoot()
  private let copy = TemporaryRoot()
  /// An id whose directory lies below another one.
  private static let long = String(repeating: "é", count: 100)

  private func fill(_ users: [String], _ count: Int = 20) throws {
    let workspace = try root.open()
    for user in users {
      try workspace.signIn(user)
      try root.fill(user, count)
      try workspace.stores().settings.set(.owner, to: user)
      try workspace.stores().documents().collection("carts", of: Cart.self).insert(Cart(id: count, owner: user))
    }
  }

  private func backUp(_ scope: BackupScope = .all) throws -> Backup {
    try root.directory.backUp(to: copy.path, scope, program: "test")
  }

  private func restore(_ scope: BackupScope = .all, to other: TemporaryRoot? = nil, replaces: Bool = false) throws
    -> [Backup.File]
  { try (other ?? root).directory.restore(from: copy.path, scope, replaces: replaces) }

  private func carts(_ user: String, in root: TemporaryRoot) throws -> [Int] {
    let workspace = try root.open()
    try workspace.signIn(user)
    return try workspace.stores().documents().collection("carts", of: Cart.self).query().fetch().map(\.id)
  }

  @Test func `a whole root comes back in an empty one, with its history, and the backup is a root itself`() throws {
    try fill(["ana", "../x", Self.long])
    let backup = try backUp()
    #expect(backup.files.count == 3 * 3 + 1 && backup.user == nil)
    #expect(try copy.directory.users() == root.directory.users())
    let other = TemporaryRoot()
    #expect(try restore(to: other) == backup.files)
    for place in [copy, other] {
      let workspace = try place.open()
      #expect(try workspace.current() == Self.long)
      for user in ["ana", "../x", Self.long] {
        try workspace.signIn(user)
        #expect(try workspace.catalogue().product(id: "7")?.name == user)
        #expect(try workspace.catalogue().cursor == "monday")
        #expect(try workspace.stores().settings.get(.owner) == user)
      }
      #expect(try carts("ana", in: place) == [20])
    }
    #expect(try root.names().filter { $0.hasSuffix(".log") } == other.names().filter { $0.hasSuffix(".log") })
  }

  @Test func `one user's stores come back, and the others' stay`() throws {
    try fill(["ana", "bob"])
    #expect(try backUp(.user("ana")).files.allSatisfy { $0.user == "ana" })
    try fill(["ana", "bob"], 30)
    try root.open().signIn("bob")
    #expect(try restore(.user("ana"), replaces: true).count == 3)
    #expect(try root.open().current() == "bob")
    #expect(try carts("ana", in: root) == [20] && carts("bob", in: root) == [20, 30])
    #expect(throws: BackupError.noSuchUser(path: copy.path, user: "bob", others: ["ana"])) {
      try restore(.user("bob"), replaces: true)
    }
  }

  @Test func `existing stores are replaced when they may be, and open readers and writers go on`() throws {
    try fill(["ana"])
    _ = try backUp()
    let workspace = try root.open()
    let stores = try workspace.stores()
    let members = try stores.documents().collection("carts", of: Cart.self)
    try members.insert(Cart(id: 99, owner: "later"))
    try root.fill("ana", 40, cursor: "tuesday")
    let before = try workspace.catalogue()
    let error = #expect(throws: BackupError.self) { try restore() }
    #expect(error?.exitStatus == .cannotCreate)
    #expect(try workspace.catalogue().productCount == 40 && members.query().fetch().count == 2)

    _ = try restore(replaces: true)
    let after = try workspace.catalogue()
    #expect(after.productCount == 20 && after.cursor == "monday" && after.sequence == before.sequence + 1)
    #expect(before.productCount == 40)
    #expect(try members.query().fetch().map(\.id) == [20])
    try members.insert(Cart(id: 100, owner: "after"))
    #expect(try members.query().fetch().map(\.id).sorted() == [20, 100])
    #expect(try stores.settings.get(.owner) == "ana")
    // What was replaced can be gone back to.
    let writer = try root.directory.catalogueWriter(of: "ana", lockTimeout: .seconds(5))
    defer { writer.close() }
    _ = try #require(try writer.rollback(to: before.sequence))
    #expect(try workspace.catalogue().productCount == 40)
    #expect(try root.names().filter { $0.hasSuffix(".previous") } == ["users/ana/catalogue.previous"])
  }

  @Test func `a store that cannot be opened any more is set aside and replaced`() throws {
    try fill(["ana"])
    _ = try backUp()
    try Data("rubbish".utf8).write(to: root.url("users/ana/catalogue.log"))
    try FileManager.default.removeItem(at: root.url("users/ana/documents.log"))
    _ = try restore(replaces: true)
    #expect(try root.open().catalogue().productCount == 20 && carts("ana", in: root) == [20])
    #expect(try Data(contentsOf: root.url("users/ana/catalogue.damaged-1")) == Data("rubbish".utf8))
  }

  @Test func `a store with a shared base is copied as a whole`() throws {
    try fill(["ana"])
    try root.directory.rememberOrigin(of: "ana", source: "https://x", organisation: "7")
    try root.open().signIn("bob")
    #expect(try root.directory.adoptBase(for: "bob", source: "https://x", organisation: "7") == "monday")
    #expect(root.exists("users/bob/catalogue.base"))
    _ = try backUp(.user("bob"))
    #expect(!copy.exists("users/bob/catalogue.base"))
    try root.directory.remove("ana")
    try root.directory.remove("bob")
    _ = try restore(.user("bob"))
    let workspace = try root.open()
    try workspace.signIn("bob")
    #expect(try workspace.catalogue().productCount == 20)
  }

  @Test(arguments: [
    "flip", "truncate", "remove", "list", "newer", "unfinished", "link", "pipe", "directory", "linked list",
    "linked user", "sequence", "twice", "nobody's id", "format:0", "format:-1", "format:\"1\"", "format:1.5",
    "format:null", "newer store",
  ])
  func `a damaged or incomplete backup changes nothing`(fault: String) throws {
    try fill(["ana"])
    let backup = try backUp()
    let file = copy.url("users/ana/documents.log")
    let list = copy.url("backup.json")
    switch fault {
    case "flip":
      var bytes = try Data(contentsOf: file)
      bytes[bytes.count - 200] ^= 1
      try bytes.write(to: file)
    case "truncate": try Data(Data(contentsOf: file).dropLast(4096)).write(to: file)
    case "remove": try FileManager.default.removeItem(at: file)
    case "list": try Data("{".utf8).write(to: list)
    case "newer":
      let text = try String(contentsOf: list, encoding: .utf8)
      try Data(text.replacing(#""format":1"#, with: #""format":2"#).utf8).write(to: list)
    case "unfinished": try FileManager.default.moveItem(at: list, to: copy.url("backup.json.new"))
    case "link", "pipe", "directory", "linked list", "linked user":
      let target = fault == "linked list" ? list : fault == "linked user" ? copy.url("users/ana") : file
      try FileManager.default.moveItem(at: target, to: copy.url("moved"))
      switch fault {
      // A C string for the call.
      case "pipe": try #require(unsafe mkfifo(target.path, 0o600) == 0)
      case "directory": try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
      default: try FileManager.default.createSymbolicLink(at: target, withDestinationURL: copy.url("moved"))
      }
    case "newer store":
      var bytes = [UInt8](try Data(contentsOf: file))
      bytes[32] |= 1 << 5
      let checksum = Checksum.of(Array(bytes[..<4092]))
      for index in 0..<4 { bytes[4092 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
      try Data(bytes).write(to: file)
      let old = try #require(backup.files.first { $0.store == "documents" }).crc32c
      try edit(list, #""crc32c":\#(old)"#, #""crc32c":\#(Checksum.of(bytes))"#)
    case "sequence":
      let old = try #require(backup.files.first { $0.store == "documents" }).sequence
      try edit(list, #""sequence":\#(old)"#, #""sequence":\#(old + 1)"#)
    case "twice":
      let text = try String(contentsOf: list, encoding: .utf8)
      let entry = try #require(text.firstMatch(of: /\{[^{}]*"store"[^{}]*\}/)).output
      try edit(list, String(entry), "\(entry),\(entry)")
    case "nobody's id": try edit(list, #""user":"ana""#, #""user":"""#)
    default: try edit(list, #""format":1"#, #""format":\#(fault.dropFirst("format:".count))"#)
    }
    try fill(["ana"], 30)
    let error = #expect(throws: BackupError.self) { try restore(replaces: true) }
    #expect(error?.exitStatus == .data, "\(String(describing: error))")
    #expect(error?.description.hasSuffix("nothing was changed") == true)
    #expect(try root.open().catalogue().productCount == 30 && carts("ana", in: root) == [20, 30])
    // The backup is not written over either.
    #expect(throws: BackupError.notEmpty(path: copy.path, isInterrupted: fault == "unfinished")) { try backUp() }
  }

  private func edit(_ file: URL, _ old: String, _ new: String) throws {
    let text = try String(contentsOf: file, encoding: .utf8)
    try #require(text.contains(old), "\(text)")
    try Data(text.replacing(old, with: new).utf8).write(to: file)
  }

  @Test func `a list without files restores nothing`() throws {
    try fill(["ana"])
    _ = try backUp()
    let list = copy.url("backup.json")
    let text = try String(contentsOf: list, encoding: .utf8)
    let files = try #require(text.firstMatch(of: /"files":\[.*\]/)).output
    try edit(list, String(files), #""files":[]"#)
    for (scope, user) in [(BackupScope.all, nil), (.user("ana"), "ana")] {
      let error = #expect(throws: BackupError.noSuchUser(path: copy.path, user: user, others: [])) {
        try restore(scope, replaces: true)
      }
      #expect(error?.exitStatus == .noInput)
    }
  }

  @Test func `the words of a full disk are true`() {
    let first = "\(BackupError.noRoom(path: "/a", needed: 2, available: 1, restored: []))"
    #expect(first.hasSuffix("nothing was changed"))
    let second = "\(BackupError.noRoom(path: "/a", needed: 2, available: 1, restored: ["b"]))"
    #expect(!second.contains("nothing was changed") && second.contains("--force"))
  }

  @Test func `a damaged store makes no backup, and nothing is left of it`() throws {
    try fill(["ana", "bob"])
    let file = root.url("users/bob/catalogue.log")
    var bytes = try Data(contentsOf: file)
    bytes[12_288 + 100] ^= 1
    try bytes.write(to: file)
    let error = #expect(throws: BackupError.self) { try backUp() }
    #expect(error?.description.contains("users/bob/catalogue.log") == true, "\(String(describing: error))")
    #expect(error?.exitStatus == .data)
    #expect(!copy.exists(""))
    #expect(try backUp(.user("ana")).files.count == 3)
  }

  @Test func `a directory with something in it, or none, is no place`() throws {
    try fill(["ana"])
    try FileManager.default.createDirectory(atPath: copy.path + "/x", withIntermediateDirectories: true)
    #expect(throws: BackupError.notEmpty(path: copy.path, isInterrupted: false)) { try backUp() }
    for path in [root.path, copy.path] {
      let error = #expect(throws: BackupError.notABackup(path: path)) {
        try root.directory.restore(from: path, .all, replaces: true)
      }
      #expect(error?.exitStatus == .noInput)
    }
  }

  @Test func `a user or a root without stores has no backup, and leaves no directory`() throws {
    let deep = copy.path + "/a/b"
    #expect(throws: BackupError.noStores(root: root.path, user: nil, others: [])) {
      try root.directory.backUp(to: deep, .all, program: "test")
    }
    #expect(!root.exists("") && !copy.exists(""))
    try fill(["ana"])
    try root.open().signIn("without")
    for user in ["anna", "without"] {
      let error = #expect(throws: BackupError.noStores(root: root.path, user: user, others: ["ana"])) {
        try root.directory.backUp(to: deep, .user(user), program: "test")
      }
      #expect(error?.exitStatus == .noInput && error?.description.contains("ana") == true)
      #expect(!copy.exists(""))
    }
    // A directory that was there stays.
    try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
    #expect(throws: BackupError.self) { try root.directory.backUp(to: deep, .user("anna"), program: "test") }
    #expect(try copy.names() == ["a", "a/b"])
  }

  @Test func `no backup lies in the root, whichever way leads there`() throws {
    try fill(["ana"])
    let before = try root.names()
    let link = copy.path + "-link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: root.path + "/users")
    defer { try? FileManager.default.removeItem(atPath: link) }
    let name = URL(fileURLWithPath: root.path).lastPathComponent
    let paths = [
      root.path, root.path + "/new", root.path + "/users/ana/a/b", link, link + "/new/backup",
      root.path + "/../\(name)/new",
    ]
    for path in paths {
      let error = #expect(throws: BackupError.insideRoot(path: path, root: root.path)) {
        try root.directory.backUp(to: path, .all, program: "test")
      }
      #expect(error?.exitStatus == .cannotCreate)
    }
    #expect(throws: (any Error).self) {
      try root.directory.backUp(to: copy.path + "/new/../../\(name)/new", .all, program: "test")
    }
    #expect(try root.names() == before && !copy.exists(""))
    // A directory next to it, whose name begins with that of the root, is another one.
    let next = root.path + "-next"
    defer { try? FileManager.default.removeItem(atPath: next) }
    #expect(try root.directory.backUp(to: next, .all, program: "test").files.count == 4)
  }

  @Test func `each copy is consistent in itself while others write`() throws {
    try fill(["ana"])
    let isOver = Atomic(false)
    let faults = FaultList()
    let thread = Thread { [root] in
      do {
        let workspace = try root.open()
        let carts = try workspace.stores().documents().collection("carts", of: Cart.self)
        var number = 1000
        while !isOver.load(ordering: .relaxed) {
          number += 1
          try carts.insert(Cart(id: number, owner: "writer"))
          if number % 50 == 0 { try workspace.stores().documents().compact() }
          if number % 70 == 0 { try root.fill("ana", number) }
        }
      } catch { faults.add("\(error)") }
      isOver.store(false, ordering: .releasing)
    }
    thread.start()
    var last = 0
    for _ in 0..<10 {
      let place = TemporaryRoot()
      let backup = try root.directory.backUp(to: place.path, .all, program: "test")
      let documents = try #require(backup.files.first { $0.store == "documents" })
      let found = try carts("ana", in: place)
      // The commits of one writer: without gaps, and never fewer than before.
      #expect(found.count >= last && found.filter { $0 > 1000 }.sorted() == Array(1001..<1001 + found.count - 1))
      last = found.count
      #expect(documents.sequence > 0)
    }
    isOver.store(true, ordering: .relaxed)
    while isOver.load(ordering: .acquiring) { Thread.sleep(forTimeInterval: 0.001) }
    #expect(faults.all == [])
  }
}
