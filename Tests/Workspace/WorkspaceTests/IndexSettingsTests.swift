import Catalog
import CatalogRows
import DocumentFormat
import Foundation
import LogStore
import Testing

@testable import Workspace

/// The settings `search.index` and `ordered.indexes`.
@Suite struct IndexSettingsTests {
  private let root = TemporaryRoot()

  private func store(_ name: IndexSettings.Name, _ json: String, of id: String? = nil) throws {
    try root.directory.settings(of: id).change { try $0.set(named: name.rawValue, to: DocumentValue(json: json)) }
  }

  @Test func `without a setting the indexes are the standard ones`() throws {
    #expect(IndexSettings().indexes == .standard)
    #expect(try root.directory.indexes(of: "ana") == .standard && root.directory.indexes(of: nil) == .standard)
    #expect(!root.exists(""), "reading creates nothing")
  }

  @Test func `a user's setting counts more than the default store's, each for itself`() throws {
    try store(.search, #""off""#)
    try store(.orders, #"["name", "brand"]"#)
    #expect(try root.directory.indexes(of: "ana") == CatalogIndexes(hasSearch: false, orders: [.name, .brand]))
    try store(.search, #""on""#, of: "ana")
    #expect(try root.directory.indexes(of: "ana") == CatalogIndexes(hasSearch: true, orders: [.name, .brand]))
    try store(.orders, "[]", of: "ana")
    #expect(try root.directory.indexes(of: "ana") == CatalogIndexes(hasSearch: true, orders: []))
    #expect(try root.directory.indexes(of: "bob") == CatalogIndexes(hasSearch: false, orders: [.name, .brand]))
    #expect(try root.directory.indexes(of: nil) == CatalogIndexes(hasSearch: false, orders: [.name, .brand]))
    // A single name stands for a list of it.
    try store(.orders, #""updateTime""#, of: "ana")
    #expect(try root.directory.indexes(of: "ana").orders == [.updateTime])
  }

  @Test(arguments: [
    (IndexSettings.Name.search, "true", "write on or off, not true"), (.search, #""ON""#, #"not "ON""#),
    (.search, "1", "not 1"), (.orders, #"["nam"]"#, "did you mean 'name'?"),
    (.orders, #"["weight"]"#, "write a list of id, barcode, name, category, brand, updateTime"),
    (.orders, "5", "write a list of fields"), (.orders, "[5]", "no index has the order 5"),
  ])
  func `an invalid value is refused, and named where it is stored`(
    name: IndexSettings.Name, json: String, reason: String
  ) throws {
    var settings = IndexSettings()
    let value = try DocumentValue(json: json)
    let error = #expect(throws: SettingsError.self) { try settings.set(name, to: value) }
    #expect(settings == IndexSettings() && error.map { "\($0)" }?.contains(reason) == true)
    #expect(error.map { "\($0)" }?.contains(name.rawValue) == true)
    try store(name, json)
    let stored = #expect(throws: SettingsError.self) { try root.directory.indexes(of: "ana") }
    let words = stored.map { "\($0)" } ?? ""
    #expect(words.contains(reason) && words.contains(name.rawValue) && words.contains("settings.log"), "\(words)")
    #expect(throws: SettingsError.self) {
      try root.directory.catalogueWriter(of: "ana", lockTimeout: .zero).close()
    }
  }

  @Test func `a change takes effect with the next compaction or full update`() throws {
    let workspace = try root.open()
    try workspace.signIn("ana")
    func indexes() throws -> [String] {
      try workspace.stores().catalogue().store?.orderedIndexes(of: 0).sorted() ?? []
    }
    func compact() throws {
      let writer = try workspace.stores().catalogueWriter()
      defer { writer.close() }
      try writer.compact()
    }
    func update() throws {
      let writer = try workspace.stores().catalogueWriter()
      defer { writer.close() }
      var update = try writer.beginFullUpdate(.open)
      var row = ProductRow()
      var product = Product()
      (product.id, product.name) = ("1", "lamp")
      product.fill(&row)
      try update.product(row)
      _ = try update.commit(cursor: "monday")
    }
    try update()
    #expect(try indexes() == ["barcode", "brand", "category", "id", "search", "sku", "updateTime"])
    try store(.search, #""off""#, of: "ana")
    try store(.orders, #"["name"]"#)
    #expect(try indexes() == ["barcode", "brand", "category", "id", "search", "sku", "updateTime"])
    try compact()
    #expect(try indexes() == ["name", "sku"])
    try store(.search, #""on""#, of: "ana")
    try update()
    #expect(try indexes() == ["barcode", "name", "search", "sku"])
    try store(.search, #""off""#, of: "ana")
    try store(.orders, "[]")
    try compact()
    #expect(try indexes() == ["sku"])
  }
}
