import Catalog
import Foundation
import Testing

@testable import Studio

/// What an editable studio changes, and what it refuses to change.
struct StudioEditingTests {
  @Test func `documents and settings are changed by an editable studio only`() async throws {
    let studio = try TestStudio(isEditable: true)
    let shown = try TestStudio()
    let document = #"{"id":"m1","name":"Ana","tags":{"a":1}}"#
    let path = "/studio/api/collections/members/m1"
    #expect(try await shown.ask(path, method: .put, body: document).status == .forbidden)
    #expect(try await shown.ask(path, method: .delete).status == .forbidden)
    #expect(try shown.workspace.files(of: "ana").isEmpty)
    let put = try await studio.ask(path, method: .put, body: document)
    #expect(put.status == .ok, "\(put.text)")
    #expect(try await studio.ask(path, method: .put, body: #"{"id":"m2"}"#).status == .badRequest)
    let collections = try await studio.json("/studio/api/collections").rows("collections")
    #expect(collections.count == 1 && collections[0]["paths"] as? [String] == ["id", "name", "tags", "tags.a"])
    let page = try await studio.json("/studio/api/collections/members?where=name+%3D+'Ana'")
    #expect(try page.rows("documents")[0]["id"] as? String == "m1" && page["count"] as? Int == 1)
    #expect(try await studio.ask("/studio/api/collections/members.ndjson").lines.count == 1)
    #expect(try await studio.ask("/studio/api/collections/members.csv").lines.count == 2)
    #expect(try await studio.ask("/studio/api/collections/none").status == .notFound)
    #expect(try await studio.ask(path, method: .delete).status == .ok)
    #expect(try await studio.ask(path, method: .delete).status == .notFound)
    let setting = "/studio/api/settings/user/ordered.indexes"
    #expect(try await shown.ask(setting, method: .put, body: #"{"value":["name"]}"#).status == .forbidden)
    #expect(try await studio.ask(setting, method: .put, body: #"{"value":["nam"]}"#).status == .badRequest)
    #expect(try await studio.ask(setting, method: .put, body: #"{"value":["name"]}"#).status == .ok)
    #expect(
      try await studio.ask("/studio/api/settings/default/a.token", method: .put, body: #"{"value":"s3"}"#).status == .ok
    )
    let settings = try await studio.ask("/studio/api/settings")
    #expect(settings.text.contains("ordered.indexes") && !settings.text.contains("s3"))
    #expect(try await studio.ask("/studio/api/settings.ndjson").lines.count == 2)
    let csv = try await studio.ask("/studio/api/settings.csv").lines
    #expect(csv.count == 3 && csv[0].hasPrefix("\u{FEFF}owner,name,value") && csv[2].hasPrefix("default,a.token,…"))
    #expect(try await studio.ask("/studio/api/cache.csv").lines.count == 1)
    #expect(try await studio.ask("/studio/api/cache.ndjson").lines.isEmpty)
    #expect(try await studio.ask(setting, method: .delete).status == .ok)
    #expect(try await !studio.ask("/studio/api/settings").text.contains("ordered.indexes"))
  }

  @Test func `pending changes of documents are one commit, and all of them or none`() async throws {
    let studio = try TestStudio(isEditable: true)
    func sequence() throws -> UInt64? { try studio.stores.documents()?.snapshot().sequence }
    func save(_ changes: String) async throws -> TestStudio.Answer {
      try await studio.ask("/studio/api/collections", method: .post, body: #"{"changes":[\#(changes)]}"#)
    }
    let first = try await save(
      #"{"collection":"a","id":"1","document":{"id":"1","n":1}},{"collection":"b","id":2,"document":{"id":2}}"#)
    #expect(first.status == .ok && first.text == #"{"put":2,"deleted":0}"#, "\(first.text)")
    let before = try #require(try sequence())
    let second = try await save(
      #"{"collection":"a","id":"1","document":{"id":"1","n":2}},{"collection":"b","id":2}"#)
    #expect(second.text == #"{"put":1,"deleted":1}"#)
    #expect(try sequence() == before + 1)
    for (bad, status) in [
      (#"{"collection":"a","id":"1","document":{"id":"1","n":3}},{"collection":"a","id":"none"}"#, 404),
      (#"{"collection":"a","id":"1","document":{"id":"2"}}"#, 400), (#"{"id":"1"}"#, 400),
      (#"{"collection":"a"}"#, 400), ("", 400),
      (#"{"collection":"a","id":"1","document":{"id":"1"}},{"collection":"a","id":{},"document":{"id":{}}}"#, 400),
    ] {
      let answer = try await save(bad)
      #expect(answer.status.code == status, "\(bad): \(answer.text)")
    }
    // What was edited is no longer what is there.
    for change in [#""document":{"id":"1","n":4},"before":{"id":"1","n":1}"#, #""before":{"n":1,"id":"1"}"#] {
      let stale = try await save(#"{"collection":"a","id":"1",\#(change)}"#)
      #expect(stale.status == .conflict && stale.text.contains("changedMeanwhile"), "\(stale.text)")
    }
    let isNew = #"{"collection":"a","id":"1","document":{"id":"1"},"isNew":true}"#
    let known = try await save(#"{"collection":"a","id":"3","document":{"id":"3"},"isNew":true},"# + isNew)
    #expect(known.status == .conflict && known.text.contains("documentExists"), "\(known.text)")
    #expect(try sequence() == before + 1)
    let page = try await studio.json("/studio/api/collections/a").rows("documents")
    #expect((page[0]["document"] as? [String: Any])?["n"] as? Int == 2)
    let again = try await save(#"{"collection":"a","id":"1","document":{"id":"1","n":3},"before":{"n":2.0,"id":"1"}}"#)
    #expect(again.status == .ok, "\(again.text)")
    let shown = try TestStudio()
    #expect(try await shown.ask("/studio/api/collections", method: .post, body: "{}").status == .forbidden)
  }

  @Test func `products of a catalogue that comes from here can be changed in one commit`() async throws {
    let studio = try TestStudio(isEditable: true)
    func save(_ changes: String) async throws -> TestStudio.Answer {
      try await studio.ask("/studio/api/products", method: .post, body: #"{"changes":[\#(changes)]}"#)
    }
    func store(_ key: String) async throws -> Any? { try await studio.json("/studio/api/store")[key] }
    let row = #"{\"id\":\"1\",\"name\":\"Bolt\",\"weight\":1.5,\"extra\":{\"price\":1.10}}"#
    let other = #"{\"id\":\"2\"}"#
    let first = try await save(#"{"id":"1","row":"\#(row)","isNew":true},{"id":"2","row":"\#(other)","isNew":true}"#)
    #expect(first.status == .ok && first.text.contains(#""added":2"#), "\(first.text)")
    #expect(try await store("productsEditable") as? Bool == true)
    let bolt = try await studio.ask("/studio/api/products/1")
    #expect(bolt.text.contains(#""price":1.10"#) && bolt.text.contains(#""name":"Bolt""#), "\(bolt.text)")
    let sequence = try #require(try await store("sequence") as? Int)
    // The second one is deleted, and the first one changed, in one commit.
    let second = try await save(#"{"id":"1","row":"{\"id\":\"1\",\"name\":\"Nut\"}"},{"id":"2"}"#)
    #expect(second.text.contains(#""changed":1,"deleted":1"#), "\(second.text)")
    #expect(try await store("sequence") as? Int == sequence + 1)
    #expect(try await store("products") as? Int == 1)
    for (bad, status, words) in [
      (#"{"id":"1","row":"{\"id\":\"1\"}","isNew":true}"#, 409, "productExists"),
      (#"{"id":"1","row":"{\"id\":\"1\"}","before":"{\"id\":\"1\",\"name\":\"Bolt\"}"}"#, 409, "changedMeanwhile"),
      (#"{"id":"1","row":"{\"id\":\"3\"}"}"#, 400, "is not the id"), (#"{"id":"9"}"#, 404, "no product"),
      (#"{"id":"1","row":"{\"id\":\"1\",\"weight\":\"x\"}"}"#, 400, "weight: this is not a number"),
      (#"{"id":"1","row":"{\"id\":\"1\",\"color\":\"x\"}"}"#, 400, "color"), (#"{"id":"1","row":"["}"#, 400, "row"),
      (#"{"id":"1","row":"{\"id\":\"1\"}\n{\"id\":\"1\"}"}"#, 400, "not JSON"),
      (
        #"{"id":"r","row":"{\"type\":\"relation\",\"id\":\"r\",\"productId\":\"1\",\"subProductId\":\"2\"}"}"#, 400,
        "relation"
      ),
    ] as [(String, Int, String)] {
      let answer = try await save(bad)
      #expect(answer.status.code == status && answer.text.contains(words), "\(bad): \(answer.text)")
    }
    #expect(try await store("sequence") as? Int == sequence + 1)
    let whole = try await studio.json("/studio/api/products/1")["product"]
    #expect((whole as? [String: Any])?["name"] as? String == "Nut")
    // A server's cursor, and an address to ask, say that the catalogue comes from elsewhere.
    try studio.commit([product("4", "Washer")])
    #expect(try await store("productsEditable") as? Bool == false)
    let refused = try await save(#"{"id":"4"}"#)
    #expect(refused.status == .conflict && refused.text.contains("notOwn"), "\(refused.text)")
    let shown = try TestStudio()
    #expect(try await shown.ask("/studio/api/products", method: .post, body: "{}").status == .forbidden)
  }

  @Test func `the codes of products are changed with them, and stay if nothing is said of them`() async throws {
    let studio = try TestStudio(isEditable: true)
    func save(_ changes: String) async throws -> TestStudio.Answer {
      try await studio.ask("/studio/api/products", method: .post, body: #"{"changes":[\#(changes)]}"#)
    }
    func codes(_ id: String) async throws -> [String] {
      try await studio.json("/studio/api/products/\(id)").rows("codes").map {
        "\($0["id"] as? String ?? "")|\($0["code"] as? String ?? "")|\($0["quantity"] ?? "")|\($0["unit"] as? String ?? "")"
      }
    }
    func row(_ id: String, _ name: String) -> String { #""{\"id\":\"\#(id)\",\"name\":\"\#(name)\"}""# }
    func code(_ code: String, _ quantity: String = "1", id: String = "", unit: String = "") -> String {
      #"{"id":"\#(id)","code":"\#(code)","quantity":"\#(quantity)","unit":"\#(unit)","kind":""}"#
    }
    let first = try await save(
      #"{"id":"1","row":\#(row("1", "Bolt")),"isNew":true,"codes":[\#(code("CASE", "24", id: "a", unit: "case")),"#
        + #"\#(code("HALF", "0.5"))]},{"id":"2","row":\#(row("2", "Nut")),"isNew":true}"#)
    #expect(first.status == .ok, "\(first.text)")
    #expect(try await codes("1") == ["a|CASE|24|case", "|HALF|0.5|"])
    #expect(try await codes("2") == [])
    #expect(try await studio.json("/studio/api/store")["codes"] as? Int == 2)
    // A change that says nothing of codes, alone and together with one that does.
    #expect(try await save(#"{"id":"1","row":\#(row("1", "Bolt 2"))}"#).status == .ok)
    #expect(try await codes("1").count == 2)
    let both = try await save(
      #"{"id":"1","row":\#(row("1", "Bolt 3"))},{"id":"2","row":\#(row("2", "Nut")),"codes":[\#(code("N6", "6"))],"#
        + #""codesBefore":[]}"#)
    #expect(both.status == .ok, "\(both.text)")
    #expect(try await codes("1").count == 2)
    #expect(try await codes("2") == ["|N6|6|"])
    let removed = try await save(
      #"{"id":"2","row":\#(row("2", "Nut")),"codes":[],"codesBefore":[\#(code("N6", "6.0"))]}"#)
    #expect(removed.status == .ok, "\(removed.text)")
    #expect(try await codes("2").isEmpty)
    #expect(try await codes("1").count == 2)
    let sequence = try await studio.json("/studio/api/store")["sequence"] as? Int
    for (bad, status, words) in [
      (#""codes":[\#(code(" "))]"#, 400, "the code is empty"), (#""codes":[\#(code("X", "0"))]"#, 400, "quantity"),
      (#""codes":[\#(code("X", "-1"))]"#, 400, "quantity"), (#""codes":[\#(code("X", "x"))]"#, 400, "quantity"),
      (#""codes":[{"code":"X"}]"#, 400, "id: a text"), (#""codes":1"#, 400, "a list"),
      (#""codes":[],"codesBefore":[\#(code("OTHER"))]"#, 409, "changedMeanwhile"),
      (#""codes":[\#(code(String(repeating: "7", count: 70_000)))]"#, 400, "there is room for"),
    ] as [(String, Int, String)] {
      let answer = try await save(#"{"id":"1","row":\#(row("1", "Bolt 3")),\#(bad)}"#)
      #expect(answer.status.code == status && answer.text.contains(words), "\(bad.prefix(200)): \(answer.text)")
    }
    #expect(try await studio.json("/studio/api/store")["sequence"] as? Int == sequence)
    // A deleted product has no codes.
    #expect(try await save(#"{"id":"1"}"#).status == .ok)
    #expect(try await studio.json("/studio/api/store")["codes"] as? Int == 0)
  }

  @Test func `declared fields are columns, orders, filters and facets`() async throws {
    let studio = try TestStudio(isEditable: true)
    let setting = #"{"value":{"price":{"type":"decimal","order":true},"color":{},"gone":{"type":"bool"}}}"#
    #expect(try await studio.ask("/studio/api/settings/user/fields", method: .put, body: setting).status == .ok)
    var products: [Product] = []
    for (id, extra) in [
      ("1", #"{"color":"red","gone":"no","price":"2.50"}"#), ("2", #"{"color":"blue","gone":true,"price":10}"#),
      ("3", #"{"color":"red","price":"0.99"}"#), ("4", "{}"),
    ] {
      var product = Product()
      product.id = id
      product.extra = try ProductExtra(json: extra)
      products.append(product)
    }
    try studio.commit(products, isFull: true)
    let declared = try await studio.json("/studio/api/store").rows("fields")
    #expect(declared.map { $0["name"] as? String } == ["color", "gone", "price"])
    #expect(declared.map { $0["ordered"] as? Bool } == [false, false, true])
    func ids(_ query: String) async throws -> [String] {
      try await studio.table(query).rows().compactMap { $0["id"] as? String }
    }
    #expect(try await ids("sort=extra.price") == ["4", "3", "1", "2"])
    #expect(try await ids("sort=extra.color&descending=true").prefix(2).sorted() == ["1", "3"])
    #expect(try await ids("extra.color=red&sort=extra.price") == ["3", "1"])
    #expect(try await ids("extra.color=red&where=extra.price+%3E+1") == ["1"])
    #expect(try await ids("extra.gone=true") == ["2"])
    #expect(try await ids("extra.price=2.5") == ["1"])
    let prices = try await studio.table("columns=extra.price").rows()
    #expect(prices.map { $0["extra.price"] as? String }.first == "2.50")
    let colors = try await studio.json("/studio/api/facets?field=extra.color").rows("values")
    #expect(colors.map { $0["value"] as? String } == ["red", "blue", nil] && colors[0]["count"] as? Int == 2)
    let flags = try await studio.json("/studio/api/facets?field=extra.gone&extra.color=red").rows("values")
    #expect(flags.map { $0["value"] as? String } == ["false", nil])
    #expect(try await studio.ask("/studio/api/products.ndjson?columns=id&extra.color=blue").lines == [#"{"id":"2"}"#])
    for query in [
      "products?extra.gone=maybe", "products?extra.price=x", "products?sort=extra.prise", "facets?field=extra",
    ] {
      #expect(try await studio.ask("/studio/api/\(query)").status == .badRequest, "\(query)")
    }
  }

  @Test func `codes are counted, filtered, exported and compared`() async throws {
    let studio = try TestStudio(isEditable: true)
    func save(_ changes: String) async throws {
      let answer = try await studio.ask("/studio/api/products", method: .post, body: #"{"changes":[\#(changes)]}"#)
      try #require(answer.status == .ok, "\(answer.text)")
    }
    func code(_ code: String, _ quantity: String) -> String {
      #"{"id":"","code":"\#(code)","quantity":"\#(quantity)","unit":"case","kind":""}"#
    }
    let bolt = #""row":"{\"id\":\"1\",\"barcode\":\"B-1\",\"name\":\"Bolt\"}""#
    try await save(
      #"{"id":"1",\#(bolt),"codes":[\#(code("CASE-7", "24")),\#(code("X", "2"))]},"#
        + #"{"id":"2","row":"{\"id\":\"2\",\"name\":\"Nut\"}"}"#)
    let table = try await studio.table("columns=codes,codeCount,name&sort=codeCount&descending=true")
    #expect(try table.rows().map { $0["codeCount"] as? Int } == [2, 0])
    #expect(try table.rows()[0].rows("codes").map { $0["code"] as? String } == ["CASE-7", "X"])
    #expect(try table.rows().map { $0["id"] as? String } == ["1", "2"])
    #expect(try await studio.table("codes=true").rows().map { $0["id"] as? String } == ["1"])
    #expect(try await studio.table("codes=false").rows().map { $0["id"] as? String } == ["2"])
    let facet = try await studio.json("/studio/api/facets?field=hasCodes").rows("values")
    #expect(facet.map { $0["value"] as? String } == ["true", "false"] && facet.allSatisfy { $0["count"] as? Int == 1 })
    let csv = try await studio.ask("/studio/api/products.csv?columns=id,codes").lines
    let records = ["id,codes", "\"=\"\"1\"\"\",CASE-7 (24 case); X (2 case)", "\"=\"\"2\"\"\","]
    #expect(csv.map { $0.replacing("\u{FEFF}", with: "") } == records)
    let lines = try await studio.ask("/studio/api/products.ndjson?columns=id,codeCount").lines
    #expect(lines == [#"{"id":"1","codeCount":2}"#, #"{"id":"2","codeCount":0}"#])
    let found = try await studio.json("/studio/api/search?q=CASE-7&codes=true&columns=codes").rows("results")
    #expect(try (found.first?["product"] as? [String: Any])?.rows("codes").count == 2)
    #expect((found.first?["package"] as? [String: Any])?["quantity"] as? Int == 24 && found.count == 1)
    #expect(try await studio.json("/studio/api/search?q=CASE-7&codes=false").rows("results").isEmpty)
    let scan = try await studio.json("/studio/api/scan?code=CASE-7")
    #expect((scan["package"] as? [String: Any])?["unit"] as? String == "case")
    #expect(try await studio.ask("/studio/api/scan.csv?code=CASE-7").lines.last?.contains("24") == true)

    try await save(#"{"id":"1",\#(bolt),"codes":[\#(code("CASE-7", "30"))]}"#)
    let changes = try await studio.json("/studio/api/changes?from=1&to=2")
    let counts = try #require(changes["codes"] as? [String: Int])
    #expect(counts == ["added": 0, "removed": 1, "changed": 1])
    let rows = try changes.rows().filter { $0["kind"] as? String == "code" }
    #expect(rows.map { $0["name"] as? String } == ["CASE-7", "X"] && rows.allSatisfy { $0["id"] as? String == "1" })
    let fields = try rows[0].rows("fields")
    #expect(fields.count == 1 && fields[0]["before"] as? Int == 24 && fields[0]["after"] as? Int == 30)
    #expect(try await studio.ask("/studio/api/changes.csv?from=1&to=2").lines.contains { $0.hasPrefix("code,") })
    let history = try await studio.json("/studio/api/products/1/history").rows("history")
    #expect(history.count == 2)
    #expect(try history[0].rows("fields").map { $0["field"] as? String } == ["codes"])
    #expect(try await studio.json("/studio/api/products/2/history").rows("history").count == 1)
    let commits = try await studio.json("/studio/api/history").rows("commits")
    #expect(commits.allSatisfy { $0["codes"] != nil })
  }

  @Test func `pending changes of settings are one commit for each owner`() async throws {
    let studio = try TestStudio(isEditable: true)
    func save(_ changes: String) async throws -> TestStudio.Answer {
      try await studio.ask("/studio/api/settings", method: .post, body: #"{"changes":[\#(changes)]}"#)
    }
    let saved = try await save(
      """
      {"owner":"user","name":"a","value":1},{"owner":"user","name":"b","value":null},\
      {"owner":"default","name":"a","value":"x"}
      """)
    #expect(saved.status == .ok, "\(saved.text)")
    #expect(try studio.stores.settings(ofUser: true).list().map(\.name) == ["a", "b"])
    #expect(try await save(#"{"owner":"user","name":"a"},{"owner":"user","name":"b","value":2}"#).status == .ok)
    #expect(try studio.stores.settings(ofUser: true).list().map(\.name) == ["b"])
    for bad in [
      #"{"owner":"user","name":"b","value":3},{"owner":"user","name":"ordered.indexes","value":["nam"]}"#,
      #"{"owner":"user","name":"b","value":3},{"owner":"nobody","name":"b"}"#, #"{"owner":"user"}"#, "",
    ] {
      #expect(try await save(bad).status == .badRequest, "\(bad)")
    }
    #expect(try studio.stores.settings(ofUser: true).value(named: "b")?.json == "2")
    let shown = try TestStudio()
    #expect(try await shown.ask("/studio/api/settings", method: .post, body: "{}").status == .forbidden)
  }
}
