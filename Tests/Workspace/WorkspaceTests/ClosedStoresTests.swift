import Catalog
import Documents
import Foundation
import LogStore
import Testing

@testable import Workspace

/// What an application kept of a user who is no longer signed in.
@Suite struct ClosedStoresTests {
  private let root = TemporaryRoot()

  @Test func `handles of a user who was signed out throw, snapshots that were taken do not`() throws {
    let workspace = try root.open()
    try workspace.signIn("ana")
    try root.fill("ana", 5)
    let ana = try workspace.stores()
    let (settings, documents) = (ana.settings, try ana.documents())
    let carts = try documents.collection("carts", of: Cart.self)
    try carts.insert(Cart(id: 1, owner: "ana"))
    try settings.set(.owner, to: "ana")
    let writer = try ana.catalogueWriter()
    defer { writer.close() }
    let (catalogue, before, shown) = (try ana.catalogue(), try documents.snapshot(), try settings.snapshot())
    let results = try carts.query().results()
    try workspace.signIn("bob")
    let calls: [(String, () throws -> Void)] = [
      ("catalogue", { _ = try ana.catalogue() }), ("writer", { _ = try ana.catalogueWriter() }),
      ("documents", { _ = try ana.documents() }), ("get", { _ = try settings.get(.owner) }),
      ("set", { try settings.set(.owner, to: "eve") }), ("unset", { try settings.unset(.owner) }),
      ("list", { _ = try settings.list() }), ("value", { _ = try settings.value(named: "owner") }),
      ("nothing", { try settings.unset(Setting("never set", default: 1)) }),
      ("snapshot", { _ = try documents.snapshot() }), ("compact", { try documents.compact() }),
      ("collection", { _ = try documents.collection("carts", of: Cart.self) }),
      ("untyped", { _ = try documents.untypedCollection("carts") }),
      ("transaction", { try documents.transaction { _ in } }),
      ("carts.get", { _ = try carts.get(1) }), ("carts.count", { _ = try carts.count() }),
      ("carts.insert", { try carts.insert(Cart(id: 2, owner: "eve")) }),
      ("carts.batch", { try carts.insert(contentsOf: [Cart(id: 2, owner: "eve")]) }),
      ("carts.update", { try carts.update(1) { $0.owner = "eve" } }), ("carts.delete", { try carts.delete(1) }),
      ("carts.deleteAll", { try carts.deleteAll() }), ("carts.query", { _ = try carts.query().fetch() }),
      ("writer.snapshot", { _ = try writer.snapshot() }),
      ("writer.full", { _ = try writer.beginFullUpdate(.open) }), ("writer.compact", { try writer.compact() }),
      ("writer.increment", { _ = try writer.beginIncrement().commit(cursor: "never") }),
      ("writer.rollback", { _ = try writer.rollback(to: 1) }), ("writer.room", { _ = try writer.roomForFullUpdate() }),
    ]
    for (name, call) in calls {
      do {
        try call()
        Issue.record("\(name) went through")
      } catch { #expect(isClosed(error), "\(name): \(error)") }
    }
    // What was taken before stays what it was.
    #expect(try catalogue.product(id: "4")?.name == "ana" && before.collectionNames == ["carts"])
    #expect(try shown.get(.owner) == "ana" && carts.get(1, in: before)?.owner == "ana")
    #expect(try results.map { try $0.get() } == [Cart(id: 1, owner: "ana")])
    #expect(try root.directory.settings(of: "ana").get(.owner) == "ana")
    // Who signs in again is given new handles.
    try workspace.signIn("ana")
    #expect(throws: WorkspaceError.self) { try ana.catalogue() }
    #expect(try workspace.stores().settings.get(.owner) == "ana")
    #expect(try workspace.stores().documents().collection("carts", of: Cart.self).count() == 1)
  }

  @Test func `a closed workspace gives nothing, and what came from it neither`() throws {
    let workspace = try root.open()
    try workspace.signIn("ana")
    let ana = try workspace.stores()
    workspace.close()
    workspace.close()
    let calls: [() throws -> Void] = [
      { _ = try workspace.current() }, { _ = try workspace.stores() }, { try workspace.signIn("bob") },
      { try workspace.switch(to: "ana") }, { try workspace.signOut() }, { _ = try workspace.users() },
      { try workspace.remove("ana") }, { _ = try ana.catalogue() }, { _ = try ana.settings.list() },
      { _ = try workspace.defaultStores.settings.list() }, { _ = try workspace.defaultStores.documents() },
    ]
    for call in calls {
      do {
        try call()
        Issue.record("a call went through")
      } catch { #expect(isClosed(error), "\(error)") }
    }
    #expect(try root.directory.currentUser() == "ana" && root.directory.users() == ["ana"])
  }

  #if os(Linux)
  @Test func `a switch lets go of the old user's files, but for those of snapshots`() throws {
    /// The files below the root that this process has open.
    func open() throws -> Set<String> {
      let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
      }
      let real = URL(fileURLWithPath: root.path).resolvingSymlinksInPath().path
      return Set(links.filter { $0.hasPrefix(real + "/users/ana") }.map { String($0.dropFirst(real.count)) })
    }
    let workspace = try root.open()
    try workspace.signIn("ana")
    try root.fill("ana", 3)
    var snapshot: CatalogSnapshot?
    do {
      let ana = try workspace.stores()
      try ana.settings.set(.owner, to: "ana")
      try ana.documents().collection("carts", of: Cart.self).insert(Cart(id: 1, owner: "ana"))
      snapshot = try ana.catalogue()
      #expect(try ana.settings.get(.owner) == "ana" && ana.documents().snapshot().sequence == 1)
      for name in ["", "/catalogue.log", "/settings.log", "/documents.log"] {
        #expect(try open().contains("/users/ana" + name), "\(name)")
      }
      try workspace.signIn("bob")
      #expect(ana.user == "ana")
    }
    // A snapshot holds the file that it reads, and its place.
    #expect(try open().isSubset(of: ["/users/ana", "/users/ana/catalogue.log"]))
    #expect(try snapshot?.product(id: "1")?.name == "ana")
    snapshot = nil
    #expect(try open().isEmpty)
  }
  #endif
}

/// Whether an error says that something was closed, in whichever module's words.
func isClosed(_ error: any Error) -> Bool {
  switch error {
  case WorkspaceError.closed, SettingsError.closed, DocumentStoreError.closed, StoreError.closed,
    CatalogError.store(.closed):
    true
  default: false
  }
}
