import Catalog
import Foundation
import LogStore
import RandomTestSupport
import Testing

@testable import Workspace

/// Users who go for good.
@Suite struct RemovalTests {
  private struct Crash: Error {}

  private let root = TemporaryRoot()
  /// An id whose directory lies below another one.
  private static let long = String(repeating: "é", count: 100)

  private var rubbish: [String] {
    get throws { try root.names().filter { $0.contains(WorkspaceDirectory.removedPrefix) } }
  }

  @Test(arguments: ["ana", "Ana", "../x", long])
  func `a removed user is gone with every file, and the others are not`(id: String) throws {
    let workspace = try root.open()
    for user in [id, "bob"] {
      try root.fill(user, 20)
      try workspace.signIn(user)
      try workspace.stores().settings.set(.owner, to: user)
      try workspace.stores().documents().collection("carts", of: Cart.self).insert(Cart(id: 1, owner: user))
    }
    #expect(try workspace.remove(id))
    #expect(try !workspace.remove(id))
    #expect(try workspace.users() == ["bob"] && workspace.current() == "bob")
    #expect(try root.names().filter { $0.hasPrefix("users/") && !$0.hasPrefix("users/bob") } == [])
    #expect(try workspace.stores().settings.get(.owner) == "bob" && workspace.stores().catalogue().productCount == 20)
    // Who comes back begins anew.
    try workspace.signIn(id)
    #expect(try workspace.stores().settings.get(.owner).isEmpty && workspace.stores().catalogue().productCount == 0)
  }

  @Test func `who is signed in is signed out first, and handles throw`() throws {
    let (workspace, other) = (try root.open(), try root.open())
    try workspace.signIn("ana")
    try root.fill("ana", 3)
    let ana = try other.stores()
    let held = try ana.catalogue()
    try workspace.remove("ana")
    #expect(try workspace.current() == nil && other.current() == nil && workspace.users().isEmpty)
    #expect(throws: WorkspaceError.self) { try ana.catalogue() }
    // A snapshot is readable to its end, though its file has no name any more.
    #expect(try held.product(id: "2")?.name == "ana")
  }

  @Test func `a root that was deleted under a workspace and comes back is followed`() throws {
    let workspace = try root.open()
    try workspace.signIn("ana")
    try root.fill("ana", 3)
    let held = try workspace.stores().catalogue()
    try FileManager.default.removeItem(atPath: root.path)
    // What was open stays readable, and somebody is signed in until the disk says otherwise.
    #expect(try workspace.current() == "ana" && held.product(id: "2")?.name == "ana")
    try FileManager.default.createDirectory(atPath: root.path, withIntermediateDirectories: true)
    #expect(try workspace.current() == "ana")
    try workspace.signIn("bob")
    #expect(try workspace.current() == "bob" && workspace.stores().catalogue().productCount == 0)
    // Another process makes it anew, with as many commits as before and fewer.
    try FileManager.default.removeItem(atPath: root.path)
    #expect(try workspace.current() == "bob")
    try root.open().signIn("ana")
    #expect(try workspace.current() == "ana" && workspace.stores().catalogue().productCount == 0)
    try root.fill("ana", 5)
    #expect(try workspace.stores().catalogue().productCount == 5)
  }

  @Test(arguments: WorkspaceDirectory.RemovalStep.allCases, ["ana", Self.long])
  func `a removal that a crash interrupted is finished by the next one who comes`(
    step: WorkspaceDirectory.RemovalStep, id: String
  ) throws {
    for isOpening in [true, false] {
      let root = TemporaryRoot()
      for user in [id, Self.long + "2", "bob"] {
        try root.fill(user, 3)
        try root.directory.settings(of: user).set(.owner, to: user)
      }
      try root.directory.signIn(id)
      #expect(throws: Crash.self) { try root.directory.remove(id) { if $0 == step { throw Crash() } } }
      // Nobody sees half of a user.
      let users = try root.directory.users()
      #expect(users.contains(id) == (step == .signedOut))
      #expect(try root.directory.currentUser() == nil)
      if users.contains(id) {
        #expect(try CatalogReader.open(root.directory.makeCatalogue(of: id))?.snapshot().productCount == 3)
        #expect(try root.directory.settings(of: id).get(.owner) == id)
      } else {
        #expect(try root.directory.catalogue(of: id) == nil)
      }
      if isOpening, step != .signedOut {
        _ = try root.open().users()
      } else {
        try root.directory.remove(id)
      }
      #expect(
        try root.directory.users() == ["bob", Self.long + "2"].sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
      #expect(try root.names().filter { $0.contains(WorkspaceDirectory.removedPrefix) } == [])
      #expect(try root.directory.settings(of: "bob").get(.owner) == "bob")
      #expect(try root.directory.remove(Self.long + "2"))
      #expect(try root.names().filter { $0.hasPrefix("users/") && !$0.hasPrefix("users/bob") } == [])
    }
  }

  @Test func `links are removed, never followed`() throws {
    let elsewhere = TemporaryRoot()
    try FileManager.default.createDirectory(atPath: elsewhere.path + "/deep", withIntermediateDirectories: true)
    try Data("kept".utf8).write(to: elsewhere.url("deep/file"))
    try root.fill("ana", 3)
    try root.fill("bob", 3)
    let manager = FileManager.default
    try manager.createSymbolicLink(atPath: root.path + "/users/ana/link", withDestinationPath: elsewhere.path)
    try manager.createSymbolicLink(
      atPath: root.path + "/users/ana/file", withDestinationPath: elsewhere.path + "/deep/file")
    try manager.createDirectory(atPath: root.path + "/users/ana/a/b", withIntermediateDirectories: true)
    try manager.createSymbolicLink(
      atPath: root.path + "/users/ana/a/b/up", withDestinationPath: root.path + "/users/bob")
    try Data("x".utf8).write(to: root.url("users/ana/a/b/c"))
    #expect(try root.directory.remove("ana"))
    #expect(!root.exists("users/ana") && root.exists("users/bob/catalogue.log"))
    #expect(try String(contentsOf: elsewhere.url("deep/file"), encoding: .utf8) == "kept")
    // A user's directory that is a link itself is nobody's, and stays.
    try manager.createSymbolicLink(atPath: root.path + "/users/carol", withDestinationPath: elsewhere.path)
    #expect(throws: WorkspaceError.self) { try root.directory.remove("carol") }
    // A link with the name of rubbish is rubbish, and what it leads to is not.
    let name = "users/" + WorkspaceDirectory.removedPrefix + "7"
    try manager.createSymbolicLink(atPath: root.path + "/" + name, withDestinationPath: elsewhere.path)
    try root.directory.finishRemovals()
    #expect(try rubbish.isEmpty)
    #expect(root.exists("users/carol/deep/file") && elsewhere.exists("deep/file"))
  }

  @Test func `a user who shares a base goes without harm to the others`() throws {
    try root.fill("ana", 3000)
    let origin = CatalogueOrigin(source: "s", organisation: "o")
    try root.directory.noteSynchronization(of: "ana", from: origin)
    for id in ["bob", "carol"] {
      #expect(try root.directory.prepareSynchronization(of: id, from: origin)?.isShared == true)
    }
    let workspace = try root.open()
    for (number, id) in ["ana", "bob"].enumerated() {
      #expect(try workspace.remove(id))
      try workspace.signIn("carol")
      #expect(try workspace.stores().catalogue().product(id: "2999")?.name == "ana")
      #expect(try root.directory.sharedBase(of: "carol")?.linkCount == 2 - number)
      let location = try #require(try root.directory.catalogue(of: "carol"))
      #expect(try #require(try Verification.run(location)).findings.isEmpty)
    }
    #expect(try workspace.remove("carol") && root.bytesOnDisk() < 64 << 10)
  }

  @Test func `a user who signs in while he is removed is either there or not`() throws {
    let faults = FaultList()
    let threads = DispatchGroup()
    let path = root.path
    for number in 0..<3 {
      threads.enter()
      Thread {
        do {
          let directory = WorkspaceDirectory(root: path)
          for round in 0..<(20 * depth) {
            let id = round % 2 == 0 ? "ana" : Self.long
            if number == 0 { try directory.remove(id) } else { try directory.signIn(id) }
            _ = try directory.users()
          }
        } catch { faults.add("\(number): \(error)") }
        threads.leave()
      }.start()
    }
    threads.wait()
    #expect(faults.all.isEmpty, "\(faults.all)")
    #expect(try rubbish.isEmpty)
    if let current = try root.directory.currentUser() {
      #expect(try root.directory.users().contains(current))
    }
  }

  @Test func `where it cannot be told who is signed in, nobody is removed`() throws {
    try root.directory.signIn("ana")
    try Data(repeating: 7, count: 20_000).write(to: root.url("default/settings.log"))
    #expect(throws: WorkspaceError.self) { try root.directory.remove("ana") }
    #expect(try root.directory.users() == ["ana"])
  }
}
