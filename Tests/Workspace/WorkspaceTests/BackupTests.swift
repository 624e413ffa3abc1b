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

  @Test(arguments: ["flip", "truncate", "remove", "list", "newer", "unfinished"])
  func `a damaged or incomplete backup changes nothing`(fault: String) throws {
    try fill(["ana"])
    _ = try backUp()
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
    default: try FileManager.default.moveItem(at: list, to: copy.url("backup.json.new"))
    }
    try fill(["ana"], 30)
    let error = #expect(throws: BackupError.self) { try restore(replaces: true) }
    #expect(error?.exitStatus == .data, "\(String(describing: error))")
    #expect(error?.description.hasSuffix("nothing was changed") == true)
    #expect(try root.open().catalogue().productCount == 30 && carts("ana", in: root) == [20, 30])
    // The backup is not written over either.
    #expect(throws: BackupError.notEmpty(path: copy.path, isInterrupted: fault == "unfinished")) { try backUp() }
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
    #expect(try copy.names() == [])
    #expect(try backUp(.user("ana")).files.count == 3)
  }

  @Test func `a directory with something in it, or none, is no place`() throws {
    try fill(["ana"])
    #expect(throws: BackupError.notEmpty(path: root.path, isInterrupted: false)) {
      try root.directory.backUp(to: root.path, .all, program: "test")
    }
    for path in [root.path, copy.path] {
      let error = #expect(throws: BackupError.notABackup(path: path)) {
        try root.directory.restore(from: path, .all, replaces: true)
      }
      #expect(error?.exitStatus == .noInput)
    }
    // An empty root has an empty backup.
    let empty = TemporaryRoot()
    #expect(try empty.directory.backUp(to: copy.path, .all, program: "test").files.isEmpty)
    #expect(!empty.exists(""))
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
