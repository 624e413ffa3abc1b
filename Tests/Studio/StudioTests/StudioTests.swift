import Catalog
import CatalogRows
import DocumentFormat
import Foundation
import Testing
import TextFormat
import UploadQueue

@testable import Studio

/// What the routes answer.
struct StudioTests {
  /// A hundred products in an order that is not that of their ids.
  private func shop() throws -> TestStudio {
    let studio = try TestStudio()
    let products = (0..<100).map { number in
      product(
        "\((number * 37) % 100)", "Lamp \(99 - (number * 37) % 100)", barcode: "40000\((number * 37) % 100)",
        brand: number % 4 == 0 ? "Acme" : "Beta", category: "Light", delFlag: number % 10 == 0 ? 1 : 0)
    }
    try studio.commit(products, [relation("1", "2", count: 2), relation("1", "none")], isFull: true)
    return studio
  }

  private static let ids = (0..<100).map(String.init).sorted()

  @Test(arguments: ProductField.allCases) func `the page has each field, with its kind and its name for people`(
    field: ProductField
  ) throws {
    let files = try ["fields.js", "text.js"].map { name in
      String(decoding: try #require(StudioAssets.embedded[name]).bytes, as: UTF8.self)
    }
    let row = try #require(files[0].firstRange(of: "[\"\(field.key)\", ")).upperBound
    let kind = files[0][row...].prefix { $0 != "]" }
    switch field.slot {
    case .text: #expect(!kind.contains("flag") && !kind.contains("number"), "\(kind)")
    case .flag: #expect(kind.hasSuffix("\"flag\""), "\(kind)")
    case .integer, .double: #expect(kind.hasSuffix("\"number\""), "\(kind)")
    }
    #expect(files[1].contains("\"field.\(field.key)\": ["))
  }

  @Test func `without a store everything is empty`() async throws {
    let studio = try TestStudio()
    let store = try await studio.json("/studio/api/store")
    #expect(store["products"] as? Int == 0 && store["sequence"] as? Int == 0 && store["user"] as? String == "ana")
    #expect(store["orders"] as? [String] == ["id"])
    #expect(try await studio.json("/studio/api/products").rows().isEmpty)
    #expect(try await studio.json("/studio/api/sets").rows().isEmpty)
    #expect(try await studio.json("/studio/api/history").rows("commits").isEmpty)
    #expect(try await studio.json("/studio/api/collections").rows("collections").isEmpty)
    #expect(try await studio.json("/studio/api/queue").rows("uploads").isEmpty)
    #expect(try await studio.json("/studio/api/cache").rows("lists").isEmpty)
    #expect(try await studio.json("/studio/api/settings").rows("settings").isEmpty)
    #expect(try await studio.json("/studio/api/misses").rows("misses").isEmpty)
    #expect(try await studio.json("/studio/api/statistics")["sets"] as? Int == 0)
    #expect((try await studio.json("/studio/api/barcodes")["barcodes"] as? [String: Int])?["sound"] == 0)
    #expect(try await studio.json("/studio/api/scan?code=1")["match"] as? String == "none")
    #expect(try await studio.json("/studio/api/facets?field=brand").rows("values").isEmpty)
    #expect(try await studio.ask("/studio/api/products.ndjson").body.isEmpty)
    // Showing a store creates no file.
    #expect(try studio.workspace.files(of: "ana").isEmpty)
  }

  @Test func `barcodes are counted by what is the matter with them, with the first product of each`() async throws {
    let studio = try TestStudio()
    let first = try studio.commit([
      product("a", "", barcode: "4006381333931"), product("b", "", barcode: "36000291452"),
      product("c", "", barcode: "'4006381333931"), product("d", "", barcode: "<i>"), product("e", ""),
      product("f", "", barcode: "4006381333931", delFlag: 1),
    ])
    try studio.commit([product("g", "", barcode: "4006381333932")])
    let answer = try await studio.json("/studio/api/barcodes")
    let counts = [
      "sound": 1, "lostZero": 1, "exponent": 0, "decorated": 1, "several": 0, "wrongCheckDigit": 1, "text": 1,
      "none": 1,
    ]
    #expect(answer["barcodes"] as? [String: Int] == counts, "\(answer)")
    let examples = try #require(answer["first"] as? [String: [String: String]])
    #expect(examples["lostZero"] == ["id": "b", "barcode": "36000291452"] && examples["exponent"] == nil)
    let then = try await studio.json("/studio/api/barcodes?at=\(first)")
    #expect((then["barcodes"] as? [String: Int])?["wrongCheckDigit"] == 0)
    // The page has a word for each.
    let text = String(decoding: try #require(StudioAssets.embedded["text.js"]).bytes, as: UTF8.self)
    for kind in counts.keys {
      #expect(text.contains("\"home.barcodes.\(kind == "text" ? "text.kind" : kind)\""), "\(kind)")
      #expect(text.contains("\"home.barcodes.mend.\(kind)\""), "\(kind)")
    }
  }

  @Test func `a store that cannot be opened is told, and nobody crashes`() async throws {
    let studio = try shop()
    let file = try #require(
      FileManager.default.subpaths(atPath: studio.root)?.first { $0.hasSuffix("catalogue.log") })
    try Data("nonsense".utf8).write(to: URL(filePath: studio.root + "/" + file))
    for path in ["store", "products", "search?q=a", "scan?code=1", "history", "sets", "facets?field=brand"] {
      let answer = try await studio.ask("/studio/api/" + path)
      #expect(answer.status == .serviceUnavailable && answer.text.contains("storeUnavailable"), "\(path)")
    }
    let nobody = try TestStudio(signsIn: false)
    #expect(try await nobody.ask("/studio/api/store").status == .conflict)
  }

  @Test func `products are paged by id, and by any index in both directions`() async throws {
    let studio = try shop()
    var ids: [String] = []
    for offset in stride(from: 0, to: 110, by: 30) {
      let page = try await studio.json("/studio/api/products?offset=\(offset)&limit=30&columns=name")
      #expect(page["count"] as? Int == 100 && page["sequence"] as? Int == 1)
      let rows = try page.rows()
      ids += rows.compactMap { $0["id"] as? String }
      #expect(rows.allSatisfy { $0.count == 2 && $0["name"] is String })
    }
    #expect(ids == Self.ids)
    let descending = try await studio.json("/studio/api/products?sort=barcode&descending=true&limit=1000").rows()
    #expect(descending.map { $0["barcode"] as? String } == Self.ids.map { "40000" + $0 }.sorted().reversed())
    #expect(descending[0].count == ProductField.allCases.count)
    // A field without an index: so few rows are sorted.
    let names = try await studio.json("/studio/api/products?sort=name&limit=1000").rows().map { $0["name"] as? String }
    #expect(names == Self.ids.map { "Lamp " + $0 }.sorted())
    #expect(try await studio.json("/studio/api/position?id=57")["offset"] as? Int == Self.ids.firstIndex(of: "57"))
    #expect(try await studio.json("/studio/api/position?id=none")["offset"] is NSNull)
  }

  @Test func `filters are combined, and facets count what they leave`() async throws {
    let studio = try shop()
    func count(_ filter: String) async throws -> Int {
      try await studio.table("limit=1000&\(filter)").rows().count
    }
    #expect(try await count("brand=Acme") == 25)
    #expect(try await count("brand=aCME") == 25)
    #expect(try await count("brand=Acme&deleted=true") == 5)
    #expect(try await count("brand=Acme&category=Dark") == 0)
    #expect(try await count("deleted=false") == 90)
    #expect(try await count("set=true") == 0)
    #expect(try await count("where=id+%3D+'7'+or+id+%3D+'8'") == 2)
    let page = try await studio.table("brand=Acme&offset=20&limit=10")
    #expect(try page.rows().count == 5 && page["count"] as? Int == 25)
    let brands = try await studio.json("/studio/api/facets?field=brand").rows("values")
    #expect(brands.map { $0["value"] as? String } == ["Beta", "Acme"])
    #expect(brands.map { $0["count"] as? Int } == [75, 25])
    let flags = try await studio.json("/studio/api/facets?field=delFlag&brand=Acme").rows("values")
    #expect(flags.map { $0["count"] as? Int } == [20, 5])
    let few = try await studio.json("/studio/api/facets?field=brand&limit=1")
    #expect(few["complete"] as? Bool == false)
    // Among what a search finds, which leaves out deleted products.
    let found = try await studio.json("/studio/api/search?q=lamp+7&limit=200").rows("results").count
    let counted = try await studio.json("/studio/api/facets?field=brand&q=lamp+7").rows("values")
    #expect(found > 0 && counted.reduce(0) { $0 + ($1["count"] as? Int ?? 0) } == found)
    let acme = try await studio.json("/studio/api/facets?field=delFlag&q=lamp&brand=Acme").rows("values")
    #expect(acme.map { $0["count"] as? Int } == [20])
    #expect(try await studio.json("/studio/api/facets?field=brand&q=nothing").rows("values").isEmpty)
    #expect(try await count("since=1") == 0)
    #expect(try await studio.ask("/studio/api/products?since=99").status == .notFound)
    try studio.commit([product("new", "New"), product("5", "Changed")])
    #expect(try await count("since=1") == 2)
    #expect(try await count("since=1&at=1") == 0)
  }

  @Test(arguments: [
    "products?sort=nam", "products?limit=0", "products?limit=1001", "products?offset=-1", "products?columns=nam",
    "products?where=nam+%3D+1", "products?where=(", "products?descending=1", "products?at=x", "products?brnad=x",
    "products?q=lamp", "products.csv?brnad=x", "products?brand=%FF",
    "facets?field=name", "search?q=a&after=x", "scan", "queue?state=x", "position",
  ])
  func `a bad parameter is refused with a message`(path: String) async throws {
    let answer = try await shop().ask("/studio/api/" + path)
    #expect(answer.status == .badRequest, "\(answer.text)")
    let error = try #require(answer.json["error"] as? [String: Any])
    #expect((error["message"] as? String)?.isEmpty == false)
  }

  @Test func `a commit underneath changes nothing of a commit that is asked for`() async throws {
    let studio = try shop()
    let before = try await studio.ask("/studio/api/products?limit=1000&at=1").text
    try studio.commit([product("1", "Other"), product("zz", "Last")])
    #expect(try await studio.ask("/studio/api/products?limit=1000&at=1").text == before)
    let now = try await studio.json("/studio/api/products?limit=1000")
    #expect(now["sequence"] as? Int == 2 && now["count"] as? Int == 101)
    #expect(try now.rows().last?["id"] as? String == "zz")
    let unknown = try await studio.ask("/studio/api/products?at=77")
    #expect(unknown.status == .notFound && unknown.text.contains("unknownCommit"))
  }

  @Test func `a page whose rows are not found yet is answered with those that are`() async throws {
    let studio = try TestStudio()
    try studio.commit((0..<20_000).map { product("\(100_000 + $0)", "Lamp \($0)") }, isFull: true)
    let snapshot = try studio.stores.snapshot()
    var filter = ProductFilter()
    filter.condition = try snapshot.products(where: "name = 'Lamp 19999'")
    let key = ProductTable.Key(
      generation: snapshot.generation, sequence: snapshot.sequence, filter: "x", order: ProductTableOrder(.id))
    let table = ProductTable(key, snapshot, filter)
    // One step does not reach the last row.
    let first = try await table.rows(from: 0, count: 100, timeout: .zero)
    #expect(first.rows.isEmpty && first.found == 0 && first.count == nil)
    var page = first
    while page.count == nil { page = try await table.rows(from: 0, count: 100, timeout: .zero) }
    #expect(page.rows.count == 1 && page.found == 1 && page.count == 1)
    // Without timeout for less, and without a filter, a page has its rows.
    let other = ProductTable(key, snapshot, filter)
    #expect(try await other.rows(from: 0, count: 100).rows == page.rows)
    let all = ProductTable(key, snapshot, ProductFilter())
    #expect(try await all.rows(from: 19_990, count: 100, timeout: .zero).rows.count == 10)
    // By a field without an index, rows are collected first.
    let byName = ProductTable.Key(
      generation: key.generation, sequence: key.sequence, filter: "x", order: ProductTableOrder(.name))
    #expect(try await ProductTable(byName, snapshot, filter).rows(from: 0, count: 100).rows == page.rows)
    let answer = try await studio.table("where=id+=+'100007'&limit=2")
    #expect(answer["found"] as? Int == 1 && answer["count"] as? Int == 1)
  }

  @Test func `tables are bounded`() async throws {
    let studio = try shop()
    for number in 0..<20 { _ = try await studio.json("/studio/api/products?where=id+%3D+'\(number)'") }
    #expect(studio.studio.tables.count == 8)
  }

  @Test func `exports have the order and the content of the table`() async throws {
    let studio = try shop()
    let lines = try await studio.ask("/studio/api/products.ndjson").lines
    let ids = try lines.map { line in
      try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["id"] as? String
    }
    #expect(ids == Self.ids)
    let csv = try await studio.ask("/studio/api/products.csv?columns=id,name&brand=Acme&sort=barcode").lines
    #expect(csv.count == 26 && csv[0] == "\u{FEFF}id,name" && csv[1].hasPrefix(#""=""#))
    let found = try await studio.ask("/studio/api/products.ndjson?q=lamp&columns=id").lines
    #expect(found.count == 90)
    for path in ["changes.ndjson?from=0&to=1", "changes.csv?from=0&to=1"] {
      #expect(try await studio.ask("/studio/api/" + path).lines.count >= 102, "\(path)")
    }
    #expect(try await studio.ask("/studio/api/history.csv").lines.count == 2)
    #expect(try await studio.ask("/studio/api/history.ndjson").lines.count == 1)
    #expect(try await studio.ask("/studio/api/sets.csv").lines.count == 2)
    #expect(try await studio.ask("/studio/api/sets.ndjson").lines.count == 1)
    let scanned = try await studio.ask("/studio/api/scan.csv?code=400005").lines
    #expect(
      scanned == [
        "\u{FEFF}code,match,id,barcode,name,brand,unit,package",
        #""=""400005""",exact,"=""5""","=""400005""",Lamp 94,Beta,,"#,
      ], "\(scanned)")
    let missed = try await studio.ask("/studio/api/scan.ndjson?code=nothing").lines
    #expect(missed == [#"{"code":"nothing","match":"none"}"#], "\(missed)")
    let parts = try await studio.ask("/studio/api/set.csv?id=1").lines
    #expect(parts.count == 3 && parts.contains(#"1,"=""1""","=""2""",Lamp 97,"=""400002""",2,false"#), "\(parts)")
    #expect(parts.contains { $0.hasPrefix(#"1,"=""1""",none,,,"#) && $0.hasSuffix(",true") }, "\(parts)")
    #expect(try await studio.ask("/studio/api/set.csv").status == .badRequest)
    let store = try await studio.ask("/studio/api/store.csv").lines
    #expect(store[0] == "\u{FEFF}part,name,value" && store.contains("store,products,100"), "\(store)")
    #expect(store.contains { $0.hasPrefix("files,catalogue.log,") } && store.contains { $0.hasPrefix("commits,1,") })
    #expect(try await studio.ask("/studio/api/store.ndjson?at=1").lines.count == store.count - 1)
  }

  @Test func `a table for a spreadsheet keeps zeros and calculates nothing`() async throws {
    let studio = try TestStudio()
    var products: [Product] = []
    let texts = ["0042", "=1+1", " +cmd|' /C calc'!A0", "@SUM(A1)", "-5", "1-2", "12e5", "Лампа", "a,\"b\""]
    for (index, text) in texts.enumerated() {
      var product = Product()
      (product.id, product.barcode, product.name) = ("00\(index)", text, text)
      product.weight = -1.5
      products.append(product)
    }
    try studio.commit(products, isFull: true)
    let answer = try await studio.ask("/studio/api/products.csv?columns=barcode,name,weight")
    #expect(answer.text.hasPrefix("\u{FEFF}id,barcode,name,weight\r\n"))
    #expect(answer.text.contains(#""=""000""","=""0042""","=""0042""",-1.5"# + "\r\n"))
    #expect(answer.text.contains(#""=""007""",Лампа,Лампа,-1.5"# + "\r\n"))
    for text in ["=1+1", " +cmd|' /C calc'!A0", "@SUM(A1)", "-5", "1-2", "12e5"] {
      #expect(answer.text.contains("\"=\"\"\(text)\"\"\",\"=\"\"\(text)\"\"\",-1.5"), "\(text)")
    }
  }

  @Test func `words are in the order of their language`() async throws {
    let studio = try TestStudio()
    let names = [
      "zebra", "陈醋", "Äpfel", "安全帽", "apfel", "Zoo", "阿胶", "éclair", "10 mm", "東風", "Eclipse", "北京", "昂贵",
    ]
    try studio.commit(
      names.enumerated().map { index, name in
        var product = Product()
        (product.id, product.name, product.unit) = ("\(index)", name, name)
        return product
      }, isFull: true)
    func name(_ line: String) throws -> String {
      guard case .text(let name)? = try DocumentValue(json: Array(line.utf8).span)["name"] else { return "" }
      return name
    }
    let letters = ["Äpfel", "apfel", "éclair", "Eclipse", "zebra", "Zoo"]
    for sort in ["name", "unit"] {
      let answer = try await studio.ask("/studio/api/products.ndjson?columns=name&sort=\(sort)")
      let found = try answer.lines.map(name)
      #expect(found[0] == "10 mm" && Array(found[1..<7]) == letters)
      let pinyin = try await studio.ask("/studio/api/products.ndjson?columns=name&collation=pinyin&sort=\(sort)")
      let sorted = try pinyin.lines.map(name)
      #expect(sorted == ["10 mm", "阿胶", "安全帽", "昂贵", "北京", "陈醋", "東風"] + letters)
    }
    #expect(try await studio.ask("/studio/api/products?sort=name&collation=zh").status == .badRequest)
  }

  @Test(arguments: [".", "..", "~", "~a", "a/b", "%2E", " "])
  func `a product is found whatever its id is`(id: String) async throws {
    let studio = try TestStudio()
    var product = Product()
    (product.id, product.name) = (id, "here")
    try studio.commit([product], isFull: true)
    // As segment() in api.js.
    let isEscaped = id.hasPrefix("~") || id == "." || id == ".."
    let segment = PercentEncoding.encoded((isEscaped ? "~" : "") + id)
    for path in ["products/\(segment)", "products/\(segment)/history", "sets/\(segment)"] {
      #expect(try await studio.ask("/studio/api/" + path).status == .ok, "\(path)")
    }
  }

  @Test func `a product is shown with its commit, record, sets and history`() async throws {
    let studio = try shop()
    try studio.commit([product("2", "Better lamp")])
    let shown = try await studio.json("/studio/api/products/2")
    let commit = try #require(shown["commit"] as? [String: Any])
    #expect(commit["sequence"] as? Int == 2)
    #expect(try shown.rows("sets").map { $0["id"] as? String } == ["1"])
    let record = try #require(shown["record"] as? [String: Any])
    let hex = try #require(record["hex"] as? String)
    #expect(hex.contains(Array("Better lamp".utf8).map { String($0, radix: 16) }.joined()))
    let old = try await studio.json("/studio/api/products/3")
    #expect((old["commit"] as? [String: Any])?["sequence"] as? Int == 1)
    let history = try await studio.json("/studio/api/products/2/history").rows("history")
    #expect(history.map { $0["change"] as? String } == ["changed", "added"])
    #expect(try history[0].rows("fields").contains { $0["field"] as? String == "name" })
    #expect(try await studio.ask("/studio/api/products/none").status == .notFound)
  }

  @Test func `ids with any characters are found`() async throws {
    let studio = try TestStudio()
    try studio.commit([product("a/b c?%25", "Odd")], isFull: true)
    let shown = try await studio.json("/studio/api/products/a%2Fb%20c%3F%2525")
    #expect((shown["product"] as? [String: Any])?["name"] as? String == "Odd")
  }

  @Test func `search, scan and sets answer as the commands do`() async throws {
    let studio = try shop()
    let results = try await studio.json("/studio/api/search?q=lamp+42&limit=5").rows("results")
    #expect((results.first?["product"] as? [String: Any])?["id"] as? String == "57")
    #expect(try results[0].rows("matched")[0]["ranges"] as? [[Int]] == [[0, 4], [5, 7]])
    let scan = try await studio.json("/studio/api/scan?code=4000057")
    #expect(scan["match"] as? String == "exact" && scan["reading"] is [String: Any])
    #expect(try !scan.rows("attempts").isEmpty)
    let sets = try await studio.json("/studio/api/sets?missing=true").rows()
    #expect(sets.count == 1 && sets[0]["missing"] as? Int == 1 && sets[0]["components"] as? Int == 2)
    let tree = try await studio.json("/studio/api/sets/1").rows("components")
    #expect(tree.count == 2 && tree.contains { $0["product"] is NSNull })
    let answer = try await studio.ask(
      "/studio/api/sets/complete", method: .post, body: #"{"codes":["400002","none"]}"#)
    #expect(try (answer.json["names"] as? [String: String])?["2"] == "Lamp 97", "\(answer.text)")
    #expect(try await studio.ask("/studio/api/sets/complete", method: .post, body: "{").status == .badRequest)
  }

  @Test func `a cycle of sets is cut`() async throws {
    let studio = try TestStudio()
    try studio.commit(
      [product("a", "A"), product("b", "B")], [relation("a", "b"), relation("b", "a")], isFull: true)
    let answer = try await studio.ask("/studio/api/sets/a")
    #expect(answer.status == .ok && answer.text.contains(#""cycle":true"#))
  }

  @Test func `changes are told by field, and from nothing`() async throws {
    let studio = try shop()
    try studio.commit([product("new", "New"), product("5", "Changed")])
    let changes = try await studio.json("/studio/api/changes?from=1&to=2")
    #expect((changes["products"] as? [String: Int]) == ["added": 1, "removed": 0, "changed": 1])
    let rows = try changes.rows()
    #expect(rows.count == 2 && rows[0]["id"] as? String == "5")
    let back = try await studio.json("/studio/api/changes?from=2&to=1")
    #expect((back["products"] as? [String: Int]) == ["added": 0, "removed": 1, "changed": 1])
    let all = try await studio.json("/studio/api/changes?from=0&to=1&limit=10")
    #expect(all["more"] as? Bool == true)
    #expect(try all.rows().map { $0["id"] as? String } == Array(Self.ids.prefix(10)))
    #expect((all["products"] as? [String: Int]) == ["added": 100, "removed": 0, "changed": 0])
    #expect((all["relations"] as? [String: Int]) == ["added": 2, "removed": 0, "changed": 0])
    let last = try await studio.json("/studio/api/changes?from=0&to=1&offset=100&limit=10").rows()
    #expect(last.map { $0["kind"] as? String } == ["relation", "relation"])
  }

  @Test func `only an editable studio goes back to a commit, after a confirmation`() async throws {
    let body = #"{"sequence":1,"confirmation":"1"}"#
    let shown = try shop()
    let refused = try await shown.ask("/studio/api/rollback", method: .post, body: body)
    #expect(refused.status == .forbidden && refused.text.contains("notEditable"))
    let studio = try TestStudio(isEditable: true)
    try studio.commit([product("1", "One")], isFull: true)
    try studio.commit([product("1", "Two")])
    for bad in [#"{"sequence":1,"confirmation":"2"}"#, #"{"sequence":1}"#, "{}", "", #"{"sequence":-1}"#] {
      #expect(try await studio.ask("/studio/api/rollback", method: .post, body: bad).status == .badRequest, "\(bad)")
    }
    let done = try await studio.ask("/studio/api/rollback", method: .post, body: body)
    #expect(try done.json["sequence"] as? Int == 3, "\(done.text)")
    let name = try await studio.json("/studio/api/products").rows()[0]["name"] as? String
    #expect(name == "One")
  }

  @Test func `what changed since a commit of the previous generation is compared row by row`() async throws {
    let studio = try shop()
    try studio.commit([product("5", "Changed")])
    // A full update with one more product, one changed and one missing; all others are the same rows in another file.
    let rows = try await studio.json("/studio/api/products?limit=1000").rows()
    var next = rows.compactMap { $0["id"] as? String }.filter { $0 != "9" }.map { id in
      let row = rows.first { $0["id"] as? String == id } ?? [:]
      return product(
        id, id == "7" ? "Changed too" : row["name"] as? String ?? "", barcode: row["barcode"] as? String ?? "",
        brand: row["brand"] as? String ?? "", category: row["category"] as? String ?? "",
        delFlag: (row["delFlag"] as? NSNumber)?.int64Value ?? 0)
    }
    next.append(product("new", "New"))
    try studio.commit(next, isFull: true)
    func ids(_ query: String) async throws -> [String?] {
      try await studio.table(query).rows().map { $0["id"] as? String }
    }
    #expect(try await ids("since=1") == ["5", "7", "new"])
    #expect(try await ids("since=2") == ["7", "new"])
    #expect(try await ids("since=2&sort=name") == ["7", "new"])
    #expect(try await ids("since=2&at=2") == [])
    #expect(try await ids("since=1&at=2") == ["5"])
    #expect(try await ids("since=3") == [])
    let found = try await studio.json("/studio/api/search?q=changed&since=2").rows("results")
    #expect(found.map { ($0["product"] as? [String: Any])?["id"] as? String } == ["7"])
    let counted = try await studio.json("/studio/api/facets?field=isSet&since=2").rows("values")
    #expect(counted.map { $0["count"] as? Int } == [2])
    // A row that is written again unchanged is no change, in the same generation as well.
    try studio.commit([product("new", "New"), product("7", "Again")])
    #expect(try await ids("since=3") == ["7"])
    // Another full update: the first generation is not kept any more.
    try studio.commit(next, isFull: true)
    for path in ["products?", "products.csv?", "search?q=a&", "facets?field=brand&"] {
      let answer = try await studio.ask("/studio/api/\(path)since=2")
      #expect(answer.status == .notFound && answer.text.contains("unknownEarlierCommit"), "\(path): \(answer.text)")
    }
  }

  @Test func `the queue is exported in the order of enqueuing, also those that are held`() async throws {
    let studio = try TestStudio()
    let documents = try studio.stores.writableDocuments()
    defer { documents.close() }
    let queue = try UploadQueue(in: documents)
    for number in 0..<250 {
      try await queue.enqueue(["n": number], kind: "scan", orderKey: number % 2 == 0 ? "even" : nil)
    }
    let lines = try await studio.ask("/studio/api/queue.ndjson").lines
    let numbers = try lines.map { line in
      let json = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      return (json["payload"] as? [String: Int])?["n"]
    }
    #expect(numbers == Array(0..<250))
    let csv = try await studio.ask("/studio/api/queue.csv?state=waiting").lines
    #expect(csv.count == 251 && csv[0].hasPrefix("\u{FEFF}id,kind,state,"))
    #expect(try await studio.ask("/studio/api/queue.csv?state=parked").lines.count == 1)
    #expect(try await studio.ask("/studio/api/queue.ndjson?state=held").lines.isEmpty)
    #expect(try await studio.ask("/studio/api/queue.csv?state=x").status == .badRequest)
  }

  @Test func `a verification ends with what it found`() async throws {
    let lines = try await shop().ask("/studio/api/verify", method: .post).lines
    #expect(lines.first?.hasPrefix(#"{"done":0,"#) == true)
    #expect(lines.last?.hasPrefix(#"{"findings":[],"digest":""#) == true)
  }
}
