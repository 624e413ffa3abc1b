import Foundation
import LogStore
import Storage
import Testing

@testable import Workspace

/// Users whose stores are sealed.
@Suite struct SealedUserTests {
  private struct Crash: Error {}

  private let root: TemporaryRoot
  /// The directory of key files.
  private let keys = TemporaryRoot()
  private static let stores = ["catalogue", "documents", "settings"]

  init() { root = TemporaryRoot() }
  private init(root: TemporaryRoot) { self.root = root }

  /// Writes a key file.
  private func key(_ byte: UInt8) throws -> KeySource {
    let path = keys.path + "/key-\(byte)"
    try FileManager.default.createDirectory(atPath: keys.path, withIntermediateDirectories: true)
    try Data([UInt8](repeating: byte, count: 32)).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    return .keyFile(path)
  }

  private func directory(_ key: KeySource?) -> WorkspaceDirectory {
    var directory = root.directory
    directory.key = key
    return directory
  }

  private func open(_ key: KeySource?) throws -> Workspace { try root.open { $0.key = key } }

  private func fill(_ id: String = "ana") throws {
    let workspace = try root.open()
    try root.fill(id, 20)
    try workspace.signIn(id)
    try workspace.stores().settings.set(.owner, to: "a secret of \(id)")
    try workspace.stores().documents().collection("carts", of: Cart.self).insert(Cart(id: 1, owner: "of \(id)"))
    workspace.close()
  }

  /// Reads something of each store.
  private func isWhole(_ key: KeySource?, _ id: String = "ana") throws -> Bool {
    let workspace = try open(key)
    let stores = try workspace.stores()
    let cart = try stores.documents().collection("carts", of: Cart.self).query().fetch().first
    let product = try stores.catalogue().products(barcode: "693").first
    let note = try stores.settings.get(.owner)
    return product?.name == id && note == "a secret of \(id)" && cart?.owner == "of \(id)"
  }

  /// The files of a user that have a text in clear.
  private func files(with text: String, _ id: String = "ana") throws -> [String] {
    try root.names().filter { $0.hasPrefix("users/\(id)/") }.filter {
      let data = FileManager.default.contents(atPath: root.path + "/" + $0) ?? Data()
      return data.range(of: Data(text.utf8)) != nil
    }
  }

  private func sealedStores(_ id: String = "ana") throws -> [String] {
    try Self.stores.filter { try root.directory.store($0, of: id)?.isSealed() == true }
  }

  @Test func `sealed stores are read and written with the key, and not without it or with another`() throws {
    let key = try key(1)
    try fill()
    #expect(try !files(with: "a secret of").isEmpty && root.directory.keys(of: "ana") == nil)
    let report = try directory(key).seal("ana")
    #expect(report.stores.sorted() == Self.stores && report.changedKeys)
    #expect(try files(with: "a secret of").isEmpty && files(with: "of ana").isEmpty && files(with: "6931").isEmpty)
    #expect(try root.directory.isSealed("ana") && sealedStores() == Self.stores)
    #expect(try root.directory.keys(of: "ana")?.state == .sealed)
    #expect(try isWhole(key))
    // What is written from then on is sealed too, and a store that is new.
    let workspace = try open(key)
    try workspace.stores().settings.set(.owner, to: "changed secret")
    _ = try workspace.stores().pages()
    #expect(try workspace.stores().settings.get(.owner) == "changed secret" && files(with: "changed").isEmpty)
    // Sealing again changes nothing.
    #expect(try directory(key).seal("ana") == SealingReport())
    for other in [nil, try self.key(2)] {
      let workspace = try open(other)
      #expect(throws: (any Error).self) { try workspace.stores().catalogue() }
      #expect(throws: (any Error).self) { try workspace.stores().settings.get(.owner) }
      #expect(throws: (any Error).self) { try workspace.stores().settings.set(.owner, to: "x") }
      #expect(throws: (any Error).self) { try directory(other).seal("ana") }
      #expect(throws: (any Error).self) { try directory(other).unseal("ana") }
    }
  }

  @Test func `a clear store instead of a sealed one is refused, until the user is sealed again`() throws {
    let key = try key(1)
    try fill()
    let names = ["catalogue", "documents", "settings"].map { root.path + "/users/ana/\($0).log" }
    let clear = try names.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    _ = try directory(key).seal("ana")
    for (name, bytes) in zip(names, clear) {
      let sealed = try Data(contentsOf: URL(fileURLWithPath: name))
      try bytes.write(to: URL(fileURLWithPath: name))
      for key in [key, nil] {
        #expect {
          _ = try isWhole(key)
        } throws: { error in
          "\(error)".contains("in clear") || "\(error)".contains("no key")
        }
      }
      try sealed.write(to: URL(fileURLWithPath: name))
      #expect(try isWhole(key))
    }
    for (name, bytes) in zip(names, clear) { try bytes.write(to: URL(fileURLWithPath: name)) }
    #expect(try directory(key).seal("ana").stores.sorted() == Self.stores)
    #expect(try isWhole(key) && files(with: "a secret of").isEmpty)
  }

  @Test func `unsealing leaves everything in clear and no keys`() throws {
    let key = try key(1)
    try fill()
    try #require(throws: WorkspaceError.self) { try directory(key).unseal("ana") }
    _ = try directory(key).seal("ana")
    let report = try directory(key).unseal("ana")
    #expect(report.stores.sorted() == Self.stores)
    #expect(try isWhole(nil) && isWhole(key) && sealedStores().isEmpty && !root.directory.isSealed("ana"))
    #expect(try !root.names().contains { $0.hasSuffix(".keys") || $0.hasSuffix(".keys.new") })
  }

  @Test func `a seal or unseal that was interrupted is readable, and the same call finishes it`() throws {
    let key = try key(1)
    for stop in 0..<Self.stores.count {
      let root = TemporaryRoot()
      let suite = SealedUserTests(root: root)
      try suite.fill()
      var left = stop
      func interrupt(_ name: String) throws {
        if left == 0 { throw Crash() }
        left -= 1
      }
      #expect(throws: Crash.self) {
        try suite.directory(key).seal("ana", announcing: interrupt)
      }
      #expect(try suite.sealedStores().count == stop && suite.isWhole(key) && !suite.root.directory.isSealed("ana"))
      #expect(try suite.directory(key).seal("ana").stores.count == Self.stores.count - stop)
      #expect(try suite.isWhole(key) && suite.sealedStores() == Self.stores && suite.root.directory.isSealed("ana"))
      left = stop
      #expect(throws: Crash.self) { try suite.directory(key).unseal("ana", announcing: interrupt) }
      #expect(try suite.sealedStores().count == Self.stores.count - stop && suite.isWhole(key))
      #expect(try suite.directory(key).unseal("ana").stores.count == Self.stores.count - stop)
      #expect(try suite.isWhole(nil) && suite.root.directory.keys(of: "ana") == nil)
    }
  }

  @Test func `another key, and another data key, open the stores, and the old ones do not`() throws {
    let (one, two, three) = (try key(1), try key(2), try key(3))
    try fill()
    _ = try directory(one).seal("ana")
    #expect(try directory(one).rekey("ana", to: two).stores.isEmpty)
    #expect(try isWhole(two))
    #expect(throws: (any Error).self) { try isWhole(one) }
    // The same call again finds it done.
    #expect(try directory(one).rekey("ana", to: two) == SealingReport())
    let added = try directory(two).addKey(three, of: "ana")
    #expect(try isWhole(three) && root.directory.keys(of: "ana")?.wrappings.last?.id == added.id)
    let id = try #require(try root.directory.keys(of: "ana")).keyID
    #expect(try directory(three).rekey("ana", to: one, replacesDataKey: true).stores.sorted() == Self.stores)
    #expect(try isWhole(one) && root.directory.keys(of: "ana")?.keyID != id)
    for key in [two, three] { #expect(throws: (any Error).self) { try isWhole(key) } }
    #expect(try root.directory.keys(of: "ana")?.former == nil)
  }

  @Test func `a change of the data key that was interrupted is readable, and the same call finishes it`() throws {
    let (one, two) = (try key(1), try key(2))
    for stop in 0..<Self.stores.count {
      let suite = SealedUserTests(root: TemporaryRoot())
      try suite.fill()
      _ = try suite.directory(one).seal("ana")
      var left = stop
      #expect(throws: Crash.self) {
        try suite.directory(one).rekey("ana", to: two, replacesDataKey: true) { _ in
          if left == 0 { throw Crash() }
          left -= 1
        }
      }
      #expect(try suite.isWhole(two) && suite.root.directory.keys(of: "ana")?.former != nil)
      #expect(throws: (any Error).self) { try suite.isWhole(one) }
      let report = try suite.directory(one).rekey("ana", to: two, replacesDataKey: true)
      #expect(report.stores.count == Self.stores.count - stop)
      #expect(try suite.isWhole(two) && suite.root.directory.keys(of: "ana")?.former == nil)
    }
  }

  @Test func `who removes a sealed user destroys the keys first, and needs none`() throws {
    try fill()
    try fill("bob")
    _ = try directory(key(1)).seal("ana")
    #expect(throws: Crash.self) {
      try root.directory.remove("ana") { step in if step == .signedOut { throw Crash() } }
    }
    #expect(try root.directory.users() == ["ana", "bob"] && !root.exists("users/ana/user.keys"))
    #expect(throws: (any Error).self) { try directory(key(1)).catalogue(of: "ana").map { try StoreReader.open($0) } }
    #expect(try root.directory.remove("ana") && root.directory.users() == ["bob"])
    #expect(try isWhole(nil, "bob"))
  }

  @Test func `a backup has the keys, and is restored where nothing is or the same keys are`() throws {
    let key = try key(1)
    let copy = TemporaryRoot()
    try fill()
    _ = try directory(key).seal("ana")
    _ = try directory(key).backUp(to: copy.path, .user("ana"), program: "test")
    #expect(copy.exists("users/ana/user.keys"))
    let other = SealedUserTests(root: TemporaryRoot())
    _ = try other.directory(key).restore(from: copy.path, .user("ana"), replaces: false)
    try other.root.open().signIn("ana")
    #expect(try other.isWhole(key) && other.root.directory.isSealed("ana"))
    _ = try other.directory(key).restore(from: copy.path, .user("ana"), replaces: true)
    #expect(try other.isWhole(key) && other.root.directory.isSealed("ana"))
    let clear = SealedUserTests(root: TemporaryRoot())
    try clear.fill()
    #expect(throws: BackupError.self) {
      try clear.directory(key).restore(from: copy.path, .user("ana"), replaces: true)
    }
    #expect(try clear.isWhole(nil) && !clear.root.exists("users/ana/user.keys"))
  }

}
