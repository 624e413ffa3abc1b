import Catalog
import CatalogRows
import Foundation
import LogStore
import Testing

@testable import Workspace

/// Marks tell that an older file of a sealed store was put in its place.
@Suite struct StoreMarkTests {
  private let root = TemporaryRoot()
  private let keys = TemporaryRoot()

  private var key: KeySource {
    get throws {
      let path = keys.path + "/key"
      try FileManager.default.createDirectory(atPath: keys.path, withIntermediateDirectories: true)
      try Data([UInt8](repeating: 1, count: 32)).write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      return .keyFile(path)
    }
  }

  private func directory() throws -> WorkspaceDirectory {
    var directory = root.directory
    directory.key = try key
    return directory
  }

  private var home: String { root.path + "/users/ana" }

  /// A sealed user with settings, and a number of commits.
  private func sealed(commits: Int = 3) throws -> WorkspaceDirectory {
    try root.directory.signIn("ana")
    try set(1, root.directory)
    let directory = try directory()
    _ = try directory.seal("ana")
    for number in 1..<commits { try set(number + 1, directory) }
    return directory
  }

  private func set(_ number: Int, _ directory: WorkspaceDirectory) throws {
    try directory.settings(of: "ana").set(.owner, to: "\(number)")
  }

  private func sequence(_ directory: WorkspaceDirectory, _ store: String = "settings") throws -> UInt64 {
    try StoreReader.open(#require(try directory.store(store, of: "ana")))?.snapshot.sequence ?? 0
  }

  private func copy(_ name: String, to other: String) throws {
    try? FileManager.default.removeItem(atPath: home + "/" + other)
    try FileManager.default.copyItem(atPath: home + "/" + name, toPath: home + "/" + other)
  }

  private func back(_ directory: WorkspaceDirectory) throws -> [String] {
    try directory.storesGoneBack(of: "ana").map { "\($0.store) \($0.found) < \($0.marked)" }
  }

  @Test func `an older file in the place of a store is told, with both numbers, until it is accepted`() throws {
    let directory = try sealed()
    #expect(try back(directory).isEmpty)
    try copy("settings.log", to: "old")
    for number in 10..<13 { try set(number, directory) }
    #expect(try back(directory).isEmpty)
    let last = try sequence(directory)
    try copy("old", to: "settings.log")
    let old = try sequence(directory)
    #expect(old == last - 3)
    #expect(try back(directory) == ["settings \(old) < \(last)"])
    // It is readable, and written to. That hides nothing, not even when it is as long as the lost one.
    #expect(try directory.settings(of: "ana").get(.owner) == "3")
    for number in 20..<25 {
      try set(number, directory)
      #expect(try back(directory) == ["settings \(old) < \(max(last, sequence(directory)))"])
    }
    #expect(try directory.acceptStores(of: "ana").map(\.store) == ["settings"])
    #expect(try back(directory).isEmpty && directory.acceptStores(of: "ana").isEmpty)
    try set(30, directory)
    #expect(try back(directory).isEmpty)
  }

  @Test func `a file of an earlier generation is told too`() throws {
    let directory = try sealed()
    try copy("settings.log", to: "old")
    try set(10, directory)
    let writer = try StoreWriter(#require(try directory.store("settings", of: "ana")), schema: SettingsTable.schema)
    _ = try writer.compact()
    writer.close()
    #expect(try back(directory).isEmpty)
    try copy("old", to: "settings.log")
    #expect(try back(directory).count == 1)
  }

  @Test func `compactions, another data key, and sealing anew tell nothing`() throws {
    var directory = try sealed()
    let writer = try StoreWriter(#require(try directory.store("settings", of: "ana")), schema: SettingsTable.schema)
    _ = try writer.compact()
    writer.close()
    #expect(try back(directory).isEmpty)
    let other = keys.path + "/other"
    try Data([UInt8](repeating: 2, count: 32)).write(to: URL(fileURLWithPath: other))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: other)
    _ = try directory.rekey("ana", to: .keyFile(other), replacesDataKey: true)
    directory.key = .keyFile(other)
    #expect(try back(directory).isEmpty)
    try copy("settings.log", to: "old")
    try set(10, directory)
    try copy("old", to: "settings.log")
    #expect(try back(directory).count == 1)
    _ = try directory.unseal("ana")
    #expect(try back(directory).isEmpty)
    _ = try directory.seal("ana")
    #expect(try back(directory).isEmpty)
  }

  @Test func `a catalogue that is rolled back, updated in full or restored tells nothing`() throws {
    let directory = try sealed()
    try root.fillSealed("ana", 20, directory)
    try root.fillSealed("ana", 30, directory)
    #expect(try directory.marked("catalogue") == sequence(directory, "catalogue"))
    let backup = root.path + "-backup"
    defer { try? FileManager.default.removeItem(atPath: backup) }
    _ = try directory.backUp(to: backup, .user("ana"), program: "test")
    try root.fillSealed("ana", 40, directory)
    let last = try sequence(directory, "catalogue")
    do {
      let writer = try directory.catalogueWriter(of: "ana", lockTimeout: .seconds(5))
      defer { writer.close() }
      _ = try writer.rollback(to: last - 1)
    }
    #expect(try sequence(directory, "catalogue") > last && back(directory).isEmpty)
    _ = try directory.restore(from: backup, .user("ana"), replaces: true)
    #expect(try back(directory).isEmpty)
    // A copy has its own marks.
    #expect(try back(directory.elsewhere(backup)).isEmpty)
    // A store that was removed by hand, and comes from the backup with its old numbers.
    try FileManager.default.removeItem(atPath: home + "/catalogue.log")
    try? FileManager.default.removeItem(atPath: home + "/catalogue.previous")
    _ = try directory.restore(from: backup, .user("ana"), replaces: true)
    #expect(try back(directory).isEmpty)
    // An older file, and then a full update.
    try copy("catalogue.log", to: "old")
    try root.fillSealed("ana", 50, directory)
    try root.fillSealed("ana", 50, directory)
    try copy("old", to: "catalogue.log")
    #expect(try back(directory).count == 1)
    try root.fillSealed("ana", 60, directory)
    #expect(try back(directory).isEmpty)
  }

  @Test func `a mark is never ahead of its store, whatever power cut follows a commit`() throws {
    let directory = try sealed()
    for number in 0..<20 {
      let marked = try directory.marked("settings")
      // What is durable at this moment is at least what is marked.
      #expect(try #require(marked) <= sequence(directory))
      try set(number, directory)
      #expect(try directory.marked("settings") == sequence(directory))
    }
  }

  @Test func `without the key nothing is marked or told, and a clear user has no marks`() throws {
    let directory = try sealed()
    #expect(throws: WorkspaceError.self) { try root.directory.storesGoneBack(of: "ana") }
    _ = try directory.unseal("ana")
    try set(5, directory)
    #expect(try directory.storesGoneBack(of: "ana").isEmpty && directory.storesGoneBack(of: "nobody").isEmpty)
  }
}

extension WorkspaceDirectory {
  /// The number in the mark of a store.
  fileprivate func marked(_ store: String) throws -> UInt64? {
    let file = try #require(try keys(of: "ana"))
    return try file.marks(keyRing.keys(of: file).current).first { $0.name == store }?.sequence
  }
}

extension TemporaryRoot {
  /// Fills a catalogue with a full update, sealed or not.
  fileprivate func fillSealed(_ id: String, _ count: Int, _ directory: WorkspaceDirectory) throws {
    let writer = try directory.catalogueWriter(of: id, lockTimeout: .seconds(5))
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    var row = ProductRow()
    for number in 0..<count {
      var product = Product()
      (product.id, product.barcode) = ("\(number)", "69\(number)")
      product.fill(&row)
      try update.product(row)
    }
    _ = try update.commit(cursor: "\(count)")
  }
}
