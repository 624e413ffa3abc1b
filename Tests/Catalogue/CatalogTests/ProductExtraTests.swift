import CatalogRows
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// `extra`: the fields of a product beyond the 25.
@Suite struct ProductExtraTests {
  private static func product(_ id: String, _ json: String) throws -> Product {
    var product = Product(id, "1")
    product.name = "Lamp"
    product.extra = try ProductExtra(json: json)
    return product
  }

  @Test(arguments: [
    (#"{}"#, "{}"),
    (
      #" { "b" : 1.50 , "a" : [ true , null , { "y" : 1 , "x" : "\u00e9\/\u0001\n" } ] } "#,
      "{\"a\":[true,null,{\"x\":\"é/\\u0001\\n\",\"y\":1}],\"b\":1.50}"
    ),
    (#"{"price":12345678901234567890.123456789,"":0}"#, #"{"":0,"price":12345678901234567890.123456789}"#),
  ])
  func `an object has one form`(json: String, form: String) throws {
    let extra = try ProductExtra(json: json)
    #expect(extra.json == form)
    #expect(try ProductExtra(json: form) == extra && extra.isEmpty == (form == "{}"))
  }

  @Test func `fields are values`() throws {
    let extra = try ProductExtra(json: #"{"price":12.5,"shelf":"A7","sizes":[1,2]}"#)
    #expect(extra["price"] == .double(12.5) && extra["shelf"] == .text("A7") && extra["none"] == nil)
    #expect(extra.names == ["price", "shelf", "sizes"])
    #expect(ProductExtra()["price"] == nil && ProductExtra().names.isEmpty)
  }

  @Test(arguments: [
    "", "[]", "1", "{", "{} {}", #"{"a":1,"a":2}"#, #"{"a":{"b":1,"b":1}}"#, #"{"a":"\ud800"}"#, #"{"a":NaN}"#,
    #"{"a":"# + String(repeating: "[", count: 16) + String(repeating: "]", count: 16) + "}",
    #"{"a":""# + String(repeating: "x", count: ExtraLimits.byteCount) + "\"}",
    "{" + (0...ExtraLimits.fieldCount).map { "\"\($0)\":1" }.joined(separator: ",") + "}",
  ])
  func `what is no object within the limits is an error`(json: String) {
    #expect(throws: ProductExtra.Invalid.self) { try ProductExtra(json: json) }
  }

  @Test func `the largest object is stored`() throws {
    let extra = "{\"a\":\"" + String(repeating: "x", count: ExtraLimits.byteCount - 8) + "\"}"
    #expect(extra.utf8.count == ExtraLimits.byteCount)
    let catalogue = try TestCatalogue([try Self.product("1", extra)])
    #expect(try catalogue.snapshot.product(id: "1")?.extra.json == extra)
  }

  @Test func `products come back with their fields, after increments, compaction and a new start`() throws {
    var rows = RowGenerator("products come back with their fields")
    let catalogue = try TestCatalogue()
    var model: [String: Product] = [:]
    for round in 0..<12 {
      var changed: [Product] = []
      for _ in 0..<20 {
        var product = rows.product()
        product.delFlag = 0
        product.id = "\(Int.random(in: 0..<60, using: &rows.random))"
        if changed.contains(where: { $0.id == product.id }) { continue }
        if rows.chance(50) { product.extra = rows.extra() }
        changed.append(product)
        model[product.id] = product
      }
      if round % 4 == 0 {
        model = Dictionary(uniqueKeysWithValues: changed.map { ($0.id, $0) })
        try catalogue.full(changed)
      } else {
        try catalogue.increment(changed)
      }
      if round % 3 == 2 { try catalogue.reopen() }
      if round % 5 == 4 { try catalogue.writer.compact() }
      let snapshot = try catalogue.snapshot
      #expect(try Set(snapshot.products) == Set(model.values))
      for product in model.values { #expect(try snapshot.product(id: product.id)?.extra == product.extra) }
      #expect(snapshot.mayHaveExtra || model.values.allSatisfy(\.extra.isEmpty))
      let copy = try TestCatalogue()
      try copy.full(Array(model.values), cursor: snapshot.cursor)
      #expect(try CatalogDigest(snapshot) == CatalogDigest(copy.snapshot))
    }
  }

  @Test func `a catalogue without such fields has the bytes it had without them`() throws {
    let product = Product("1", "2")
    var other = product
    other.extra = try ProductExtra(json: "{}")
    let (plain, empty) = (try TestCatalogue([product]), try TestCatalogue([other]))
    #expect(try plain.snapshot.mayHaveExtra == false && empty.snapshot.mayHaveExtra == false)
    #expect(try plain.snapshot.state.encoded[0] == 1)
    try plain.increment([try Self.product("3", #"{"a":1}"#)])
    #expect(try plain.snapshot.mayHaveExtra && plain.snapshot.state.encoded[0] == 2)
    // A rollback brings the old version back.
    #expect(try plain.writer.rollback(to: 1) != nil)
    #expect(try plain.snapshot.mayHaveExtra == false && plain.snapshot.product(id: "3") == nil)
  }

  @Test func `fields alone make a difference`() throws {
    let (first, second) = (try Self.product("1", #"{"a":1}"#), try Self.product("1", #"{"a":1.0}"#))
    let catalogue = try TestCatalogue([first])
    for (product, changed) in [(first, 0), (second, 1), (Product("1", "1"), 1)] {
      var merge = try CatalogMerge(catalogue.snapshot, deletesMissing: false)
      try merge.take([product], [])
      try merge.finish()
      #expect(merge.counts.changed == changed)
      _ = try merge.commit(to: catalogue.writer, cursor: nil, .open)
      #expect(try catalogue.snapshot.product(id: "1")?.extra == product.extra)
    }
  }
}
