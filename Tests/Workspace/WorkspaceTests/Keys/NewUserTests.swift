import Foundation
import LogStore
import Testing

@testable import Workspace

/// Users that are sealed from their first byte on.
@Suite struct NewUserTests {
  private let root = TemporaryRoot()
  private let keys = TemporaryRoot()

  private func key() throws -> KeySource {
    let path = keys.path + "/key"
    try FileManager.default.createDirectory(atPath: keys.path, withIntermediateDirectories: true)
    try Data([UInt8](repeating: 1, count: 32)).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    return .keyFile(path)
  }

  private func files(with text: String) throws -> [String] {
    try root.names().filter { $0.hasPrefix("users/") }.filter {
      let data = FileManager.default.contents(atPath: root.path + "/" + $0) ?? Data()
      return data.range(of: Data(text.utf8)) != nil
    }
  }

  private func use(_ id: String, _ workspace: Workspace) throws {
    try workspace.signIn(id)
    let stores = try workspace.stores()
    try stores.settings.set(.owner, to: "a secret of \(id)")
    try stores.documents().collection("carts", of: Cart.self).upsert(Cart(id: 1, owner: "a secret of \(id)"))
  }

  @Test func `a new user is sealed from the first byte on, and one that is there stays as it is`() throws {
    let before = try root.open()
    try use("old", before)
    before.close()
    let key = try key()
    let workspace = try root.open {
      $0.key = key
      $0.sealsNewUsers = true
    }
    try use("new", workspace)
    try use("old", workspace)
    workspace.close()
    #expect(try files(with: "a secret of new").isEmpty && !files(with: "a secret of old").isEmpty)
    #expect(try root.directory.isSealed("new") && !root.directory.isSealed("old"))
    #expect(try root.directory.keys(of: "new")?.state == .sealed && root.directory.keys(of: "old") == nil)
    let again = try root.open { $0.key = key }
    try again.signIn("new")
    #expect(try again.stores().settings.get(.owner) == "a secret of new")
  }

  @Test(arguments: [nil, false, true] as [Bool?])
  func `the setting of the default store counts for every program, unless it is told otherwise`(told: Bool?) throws {
    try root.directory.settings(of: nil).set(.sealsNewUsers, to: true)
    var directory = root.directory
    directory.sealsNewUsers = told
    directory.key = try key()
    let catalogue = try directory.makeCatalogue(of: "new")
    #expect(catalogue.sealsNew == (told ?? true))
    #expect((try directory.keys(of: "new") != nil) == (told ?? true))
  }

  @Test func `without a key nothing is made`() throws {
    var directory = root.directory
    directory.sealsNewUsers = true
    for key in [nil, .keyFile(root.path + "/nowhere")] as [KeySource?] {
      directory.key = key
      #expect(throws: WorkspaceError.self) { try directory.signIn("new") }
      #expect(throws: WorkspaceError.self) { try directory.makeCatalogue(of: "new") }
      #expect(throws: WorkspaceError.self) { try directory.makePath(of: "new") }
      #expect(throws: WorkspaceError.self) { try directory.settings(of: "new").set(.owner, to: "a secret") }
      #expect(try root.directory.users().isEmpty && directory.currentUser() == nil)
    }
  }

  @Test func `a clear backup and its way back stay in clear`() throws {
    let before = try root.open()
    try use("old", before)
    before.close()
    let backup = root.path + "-backup"
    defer { try? FileManager.default.removeItem(atPath: backup) }
    try root.directory.settings(of: nil).set(.sealsNewUsers, to: true)
    var directory = root.directory
    directory.key = try key()
    _ = try directory.backUp(to: backup, .all, program: "test")
    #expect(!FileManager.default.fileExists(atPath: backup + "/users/old/user.keys"))
    try directory.remove("old")
    _ = try directory.restore(from: backup, .user("old"), replaces: false)
    #expect(try root.directory.keys(of: "old") == nil)
    #expect(try root.directory.settings(of: "old").get(.owner) == "a secret of old")
  }
}
