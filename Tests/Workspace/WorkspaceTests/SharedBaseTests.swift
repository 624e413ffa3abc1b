import Catalog
import CatalogRows
import Foundation
import LogStore
import Testing

@testable import Workspace

/// Users of one organisation, of whom only the first one downloads the catalogue.
@Suite struct SharedBaseTests {
  private let root = NSTemporaryDirectory() + "workspace-" + UUID().uuidString
  private var workspace: WorkspaceDirectory { WorkspaceDirectory(root: root) }

  private func withRoot(_ body: () throws -> Void) rethrows {
    defer { try? FileManager.default.removeItem(atPath: root) }
    try body()
  }

  /// A synchronisation: a full update where `isFull`, else an increment.
  private func sync(_ id: String, _ ids: [String], cursor: String, isFull: Bool = false) throws {
    let writer = try CatalogWriter(workspace.makeCatalogue(of: id), lockTimeout: .seconds(5))
    defer { writer.close() }
    var row = ProductRow()
    if isFull {
      var update = try writer.beginFullUpdate(.open)
      for id in ids {
        product(id, cursor).fill(&row)
        try update.product(row)
      }
      _ = try update.commit(cursor: cursor)
    } else {
      var increment = writer.beginIncrement()
      for id in ids {
        product(id, cursor).fill(&row)
        try increment.product(row)
      }
      _ = try increment.commit(cursor: cursor)
    }
    try workspace.rememberOrigin(of: id, source: "https://one", organisation: "7")
  }

  private func product(_ id: String, _ cursor: String) -> Product {
    var product = Product()
    product.id = id
    product.barcode = "69" + id
    product.name = "of " + cursor
    return product
  }

  private func snapshot(_ id: String) throws -> CatalogSnapshot {
    let location = try #require(try workspace.catalogue(of: id))
    return try #require(try CatalogReader.open(location)).snapshot()
  }

  private func adopt(_ id: String, source: String = "https://one", organisation: String = "7") throws -> String? {
    try workspace.adoptBase(for: id, source: source, organisation: organisation)
  }

  private func path(_ id: String, _ name: String) -> String { "\(root)/users/\(id)/\(name)" }

  /// Bytes on the disk below the root, each file once however many names it has.
  private func bytesOnDisk() throws -> Int {
    var seen: Set<Int> = []
    var total = 0
    for case let url as URL in try #require(
      FileManager.default.enumerator(at: URL(fileURLWithPath: root), includingPropertiesForKeys: nil))
    {
      let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
      guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
      let number = try #require(attributes[.systemFileNumber] as? Int)
      if seen.insert(number).inserted { total += try #require(attributes[.size] as? Int) }
    }
    return total
  }

  @Test func `the first synchronisation of a second user is an increment from the shared cursor`() throws {
    try withRoot {
      #expect(try adopt("alice") == nil)
      try sync("alice", (0..<500).map(String.init), cursor: "monday", isFull: true)
      try sync("alice", ["500"], cursor: "tuesday")
      let before = try bytesOnDisk()
      #expect(try adopt("bob") == "tuesday")
      #expect(try bytesOnDisk() - before < 64 << 10)
      #expect(try snapshot("bob").productCount == 501)
      #expect(try CatalogDigest(snapshot("bob")) == CatalogDigest(snapshot("alice")))
      let shared = try #require(try workspace.sharedBase(of: "bob"))
      #expect(shared.linkCount == 2 && shared.path == path("bob", "catalogue.base"))
      // Each goes on for itself.
      try sync("bob", ["1", "501"], cursor: "wednesday")
      #expect(try snapshot("bob").product(id: "1")?.name == "of wednesday")
      #expect(try snapshot("alice").product(id: "1")?.name == "of monday")
      #expect(try snapshot("alice").cursor == "tuesday" && snapshot("bob").cursor == "wednesday")
      #expect(try adopt("bob") == nil && adopt("alice") == nil)
      // What a plain store with this content says.
      try sync("plain", (0..<501).map(String.init).filter { $0 != "1" && $0 != "500" }, cursor: "monday", isFull: true)
      try sync("plain", ["500"], cursor: "tuesday")
      try sync("plain", ["1", "501"], cursor: "wednesday")
      #expect(try CatalogDigest(snapshot("plain")) == CatalogDigest(snapshot("bob")))
      for id in ["alice", "bob"] {
        let location = try #require(try workspace.catalogue(of: id))
        #expect(try #require(try Verification.run(location)).findings.isEmpty)
      }
    }
  }

  @Test func `only users of one origin share, and of these the one with the newest commit is chosen`() throws {
    try withRoot {
      try sync("alice", ["1"], cursor: "monday", isFull: true)
      try sync("bob", ["1", "2"], cursor: "tuesday", isFull: true)
      for (source, organisation) in [
        ("https://two", "7"), ("https://one", "8"), ("https://one7", ""), ("", "https://one7"),
      ] {
        #expect(try adopt("carol", source: source, organisation: organisation) == nil)
      }
      #expect(try workspace.catalogue(of: "carol") == nil)
      #expect(try adopt("carol") == "tuesday")
      try sync("alice", ["3"], cursor: "wednesday")
      #expect(try adopt("dave") == "wednesday")
      // A catalogue from nobody knows where is nobody's to begin with.
      try workspace.forgetOrigin(of: "alice")
      try workspace.forgetOrigin(of: "dave")
      #expect(try adopt("erin") == "tuesday")
      try workspace.rememberOrigin(of: "alice", source: "https://two", organisation: "7")
      #expect(try adopt("frank", source: "https://two") == "wednesday")
    }
  }

  @Test func `a catalogue without a cursor, or one that is damaged, is passed over`() throws {
    try withRoot {
      try sync("alice", ["1"], cursor: "monday", isFull: true)
      try sync("bob", ["1"], cursor: "", isFull: true)
      try sync("carol", ["1"], cursor: "tuesday", isFull: true)
      var log = try Data(contentsOf: URL(fileURLWithPath: path("carol", "catalogue.log")))
      log[log.count - 10] ^= 1
      try log.write(to: URL(fileURLWithPath: path("carol", "catalogue.log")))
      #expect(try adopt("dave") == "monday")
    }
  }

  @Test func `removing one user never harms another`() throws {
    try withRoot {
      let ids = (0..<300).map(String.init)
      try sync("alice", ids, cursor: "monday", isFull: true)
      #expect(try adopt("bob") == "monday" && adopt("carol") == "monday")
      try sync("bob", ["300"], cursor: "tuesday")
      let digests = try ["bob", "carol"].map { try CatalogDigest(snapshot($0)) }
      let held = try snapshot("bob")
      try FileManager.default.removeItem(atPath: "\(root)/users/alice")
      #expect(try ["bob", "carol"].map { try CatalogDigest(snapshot($0)) } == digests)
      #expect(try workspace.sharedBase(of: "bob")?.linkCount == 2)
      // A new user takes the base over from those who are left.
      #expect(try adopt("alice") == "monday")
      try sync("alice", ["301"], cursor: "wednesday")
      try FileManager.default.removeItem(atPath: "\(root)/users/carol")
      try sync("bob", ids, cursor: "thursday", isFull: true)
      try sync("bob", ids, cursor: "friday", isFull: true)
      #expect(try snapshot("alice").productCount == 301)
      #expect(try #require(try workspace.sharedBase(of: "alice")).linkCount == 1)
      #expect(try CatalogDigest(held) == digests[0])
      let location = try #require(try workspace.catalogue(of: "alice"))
      #expect(try #require(try Verification.run(location)).findings.isEmpty)
      // With the last one it goes.
      let writer = try CatalogWriter(location, lockTimeout: .seconds(5))
      try writer.compact()
      writer.close()
      #expect(!FileManager.default.fileExists(atPath: path("alice", "catalogue.base")))
      #expect(try snapshot("alice").productCount == 301)
    }
  }
}
