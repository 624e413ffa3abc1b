import LogStore
import RandomTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct SearchTests {
  private func product(
    _ id: String, _ name: String, brand: String = "", sku: String = "", barcode: String = "", category: String = ""
  ) -> Product {
    var product = Product(id, barcode)
    product.name = name
    product.brand = brand
    product.skuCode = sku
    product.category = category
    return product
  }

  private var shop: [Product] {
    [
      product("1", "Nutella 400g", brand: "Ferrero", barcode: "3017620422003"),
      product("2", "Chocolat noir 70%", brand: "Lindt", barcode: "3046920028004"),
      product("3", "Chocolat noir", barcode: "3046920028011"),
      product("4", "Pâte à tartiner au chocolat", barcode: "8000500310427"),
      product("5", "格力挂机 KFR-35GW/N1", brand: "Gree", sku: "KFR-35GW/N1", barcode: "6901234567892"),
      product("6", "格力電視機", barcode: "6901234567908"),
      product("7", "Noir désir", barcode: ""),
      product("8", "重庆火锅底料", barcode: "6901234567915"),
    ]
  }

  private func ids(_ text: String, in snapshot: CatalogSnapshot, _ options: SearchOptions = SearchOptions()) throws
    -> [String]
  { try snapshot.search(text, options).results.map(\.product.id) }

  @Test(arguments: [
    ("nutella 400", ["1"]), ("400g nutella", ["1"]), ("ferrero", ["1"]), ("FERRERO nut", ["1"]),
    ("noir chocolat", ["3", "2"]), ("chocolat noir 70", ["2"]), ("pate tartiner", ["4"]), ("ＰＡＴＥ　Tartiner", ["4"]),
    ("tart", ["4"]), ("格力", ["6", "5"]), ("电视", ["6"]), ("電視機", ["6"]), ("kfr35gw", ["5"]), ("35gw", ["5"]),
    ("301762", ["1"]), ("3017620422003", ["1"]), ("KFR-35GW/N1", ["5"]), ("noir d", ["7"]), ("", []), ("!?", []),
  ])
  func `words are found in any order, folded, the last one as a beginning`(_ text: String, _ found: [String]) throws {
    #expect(try ids(text, in: TestCatalogue(shop).snapshot) == found)
  }

  @Test(arguments: [
    ("4 croissants", ["1"]), ("croissants ×4", ["1"]), ("x4 croissants", ["1"]), ("125 yaourt", ["2"]),
    ("yaourt 4x125g", ["2"]), ("4x 125g", ["2"]), ("yaourt 4×125g", ["2"]), ("10×20", ["3"]), ("10x20 cadre", ["3"]),
    ("1 dijon", ["4"]), ("no1", ["4"]), ("№1", ["4"]),
  ])
  func `numbers next to × and № are words, and joined by x`(_ text: String, _ found: [String]) throws {
    let shop = [
      product("1", "Croissants ×4"), product("2", "Yaourt 4×125g"), product("3", "Cadre 10x20"),
      product("4", "Moutarde de Dijon №1"),
    ]
    #expect(try ids(text, in: TestCatalogue(shop).snapshot) == found)
  }

  @Test func `a word or run of any length is looked up in time that grows with its length only`() throws {
    let run = String(repeating: "格力挂机", count: 100)
    let word = String(repeating: "kfr", count: 100)
    let snapshot = try TestCatalogue([product("1", run), product("2", word), product("3", "格力挂机格")]).snapshot
    #expect(try ids(run, in: snapshot) == ["1"])
    #expect(try ids(word, in: snapshot) == ["2"])
    // Longer than any product: nothing, also not by its pairs of characters or by a typing mistake.
    #expect(try ids(run + "格", in: snapshot) == [])
    #expect(try ids(String(repeating: run, count: 500), in: snapshot) == [])
    #expect(try ids(String(repeating: word, count: 1000), in: snapshot) == [])
  }

  @Test(arguments: [
    ("glgj", ["5"]), ("geligua", ["5"]), ("geli", ["6", "5"]), ("gelidian", ["6"]), ("cqhg", ["8"]), ("zqhg", ["8"]),
    ("chongqing", ["8"]), ("colat", ["4", "2", "3"]), ("20422", ["1"]), ("ferr utell", ["1"]),
  ])
  func `parts of words are found, and how Chinese names are read`(_ text: String, _ found: [String]) throws {
    #expect(try Set(ids(text, in: TestCatalogue(shop).snapshot)) == Set(found))
  }

  @Test func `a Chinese run is found in names that have it in parts of two characters or more`() throws {
    let snapshot = try TestCatalogue([
      product("whole", "格力挂机"), product("apart", "格力空调挂机"), product("words", "挂机 格力", brand: "格力"),
      product("one", "格力空调机"), product("half", "美的挂机"), product("tiny", "格 力 挂 机"),
    ]).snapshot
    let all = try snapshot.search("格力挂机").results
    #expect(all.first?.product.id == "whole")
    #expect(Set(all.map(\.product.id)) == ["whole", "words", "apart"])
    // The middle pair is shared by two parts, and an odd number of characters needs one of three.
    #expect(try ids("格力空挂机", in: snapshot) == ["apart"])
    #expect(try ids("力空机", in: snapshot) == [])
    let apart = all.first { $0.product.id == "apart" }
    #expect(apart?.matched == [SearchResult.MatchedField(field: "name", ranges: [0..<2, 4..<6])])
    // Next to a word with a typing mistake too.
    let more = try TestCatalogue([product("m", "格力空调挂机 KFR35")]).snapshot
    #expect(try ids("格力挂机 KFR36", in: more) == ["m"])
  }

  @Test func `a Chinese run is found where the brand has a part of it and the name the rest`() throws {
    let snapshot = try TestCatalogue([
      product("split", "空调挂机", brand: "格力"), product("whole", "格力挂机", brand: "格力"),
      product("other", "挂机", brand: "美的"), product("sku", "遥控", sku: "格力"),
    ]).snapshot
    let found = try snapshot.search("格力挂机").results
    #expect(found.map(\.product.id) == ["whole", "split"])
    #expect(
      found.last?.matched == [
        SearchResult.MatchedField(field: "name", ranges: [2..<4]),
        SearchResult.MatchedField(field: "brand", ranges: [0..<2]),
      ])
    #expect(try ids("格力遥控", in: snapshot) == ["sku"])
    #expect(try ids("格力空调柜机", in: snapshot) == [])
  }

  @Test(arguments: [
    ("cocacola", ["1", "12"]), ("coca cola", ["12", "1"]), ("cocacola light", []),
    ("lays", ["2", "3"]), ("lay's", ["2"]),
    ("500 ml", ["1", "4"]), ("500ml", ["4", "1"]), ("wasser 500 ml", ["4"]), ("din933", ["5", "6"]),
    ("din 933", ["5", "6"]), ("dn50", ["15", "14"]), ("dn 50", ["15", "14"]), ("dn5", ["14"]),
    ("cocacol", ["12", "1"]), ("redbu", ["13"]), ("redb", ["13"]), ("redbu light", []),
    ("DIN933 m8", ["5"]), ("schraube din 933", ["6"]), ("iphone 15", ["7"]), ("iphone 1", ["7"]), ("colacoca", []),
    ("m8x20", ["10", "11"]), ("m8 x 20", ["11", "10"]), ("1,5l", ["12"]), ("1l", ["13"]), ("redbull", ["13"]),
    ("04006381333931", ["8"]), ("4006381333931", ["8"]), ("0036000291452", ["9"]), ("36000291452", ["9"]),
  ])
  func `what one writes in one word and another in several is found`(_ text: String, _ found: [String]) throws {
    let shop = [
      product("1", "Coca-Cola 500 ml"), product("2", "Lay's Classic"), product("3", "Malaysian Curry"),
      product("4", "Wasser 500ml"), product("5", "DIN 933 M8"), product("6", "Schraube DIN933"),
      product("7", "iPhone15"),
      product("8", "Stift", barcode: "4006381333931"), product("9", "Tuch", barcode: "036000291452"),
      product("10", "Bolzen M8x20"), product("11", "Mutter M8 x 20"), product("12", "Coca Cola 1,5 l"),
      product("13", "Red Bull 1 l"), product("14", "Muffe DN500"), product("15", "Schwere Muffe DN 50"),
    ]
    #expect(try ids(text, in: TestCatalogue(shop).snapshot) == found)
  }

  @Test(arguments: [
    ("m&m's", ["peanut", "crisps", "powder"]), ("m&m", ["peanut", "crisps", "powder"]),
    ("reese's puffs", ["apostrophe", "plain"]), ("reeses puffs", ["plain", "apostrophe"]),
    ("milk 1 l", ["litre", "low"]), ("milk 1l", ["litre"]), ("m8y40", ["letter", "digit"]),
  ])
  func `what was meant comes before what merely fits`(_ text: String, _ found: [String]) throws {
    let shop = [
      product("powder", "M.S.G."), product("crisps", "M&S"), product("peanut", "M&M's Peanut Family Pack"),
      product("plain", "Reeses Puffs"), product("apostrophe", "Reese's Puffs"), product("low", "1% Low-fat Milk"),
      product("litre", "Vitasoy Soy Milk 1L"), product("digit", "M8y41"), product("letter", "Bolzen, verzinkt, M8x40"),
    ]
    #expect(try Array(ids(text, in: TestCatalogue(shop).snapshot).prefix(found.count)) == found)
  }

  @Test(arguments: [
    ("nutela", ["1"]), ("nutlela 400", ["1"]), ("chocolta noir 70", ["2"]), ("ntella", ["1"]), ("xutella", ["1"]),
    ("pate tartinner", ["4"]), ("nwir désir", ["7"]), ("qqqqq", []), ("nutella 4711", []),
    ("nutella w 400", ["1"]), ("w nutlela", ["1"]), ("w 7", []), ("w", []),
  ])
  func `one typing mistake in a word is forgiven where nothing else is found`(_ text: String, _ found: [String]) throws
  {
    #expect(try ids(text, in: TestCatalogue(shop).snapshot) == found)
  }

  @Test func `what matched is reported in UTF-16 code units`() throws {
    let snapshot = try TestCatalogue([
      product("1", "🍫 Crème brûlée", brand: "Crème & Co", barcode: " ab-12 "), product("2", "ﬁne ½ Straße"),
    ]).snapshot
    let found = try snapshot.search("creme ab-12").results
    #expect(
      found.map(\.matched) == [
        [
          SearchResult.MatchedField(field: "name", ranges: [3..<8]),
          SearchResult.MatchedField(field: "brand", ranges: [0..<5]),
        ]
      ] || found.isEmpty)
    let code = try snapshot.search("AB-12").results
    #expect(code.first?.matched.last == SearchResult.MatchedField(field: "barcode", ranges: [0..<7]))
    #expect(
      try snapshot.search("fine strasse").results.first?.matched
        == [SearchResult.MatchedField(field: "name", ranges: [0..<3, 6..<12])])
  }

  @Test func `filters leave out what has another brand, category, or is no set`() throws {
    var set = product("s", "Lampe rouge", brand: "Acme", category: "Lampes")
    set.isGroupedProduct = true
    let snapshot = try TestCatalogue([
      set, product("t", "Lampe bleue", brand: "ACMÉ"), product("u", "Lampe verte", brand: "Other"),
      product("c", "Tomato soup", brand: "Campbell's"),
    ]).snapshot
    var soup = SearchOptions()
    soup.brand = "campbells"
    #expect(try ids("soup", in: snapshot, soup) == ["c"])
    var options = SearchOptions()
    options.brand = "acme"
    #expect(try Set(ids("lampe", in: snapshot, options)) == ["s", "t"])
    options.category = "LAMPES"
    #expect(try ids("lampe", in: snapshot, options) == ["s"])
    options = SearchOptions()
    options.isSetsOnly = true
    #expect(try ids("lampe", in: snapshot, options) == ["s"])
    options = SearchOptions()
    options.condition = try snapshot.products(where: "brand == 'Other'")
    #expect(try ids("lampe", in: snapshot, options) == ["u"])
  }

  @Test func `pages have every result once, also across blocks of candidates`() throws {
    var random = SeededGenerator(for: "SearchTests, pages")
    let colours = ["rouge", "bleu", "vert", "noir"]
    let products = (0..<1500).map { number in
      product(
        "\(number)", "Lampe \(colours.randomElement(using: &random)!) \(number)", barcode: "\(1_000_000 + number)")
    }
    let snapshot = try TestCatalogue(products).snapshot
    for text in ["lampe", "l", "lampe rouge", "ampe", "rouge lampe 1"] {
      var options = SearchOptions()
      options.limit = .max
      let all = try snapshot.search(text, options).results
      options.limit = 97
      var paged: [SearchResult] = []
      repeat {
        let page = try snapshot.search(text, options)
        paged += page.results
        options.cursor = try page.next.map { try #require(SearchCursor("\($0)")) }
        // As the OpenAPI document has it.
        if let text = page.next?.description {
          #expect(text.contains(/^[0-9]{1,3}\.[0-9]{1,9}\.[0-6]?[0-9a-f]{1,15}\.([0-9a-f]{2})*$/))
        }
      } while options.cursor != nil
      #expect(paged.map(\.product.id) == all.map(\.product.id), "\(text)")
      #expect(Set(paged.map(\.product.id)).count == paged.count)
      #expect(zip(paged, paged.dropFirst()).allSatisfy { $0.score >= $1.score })
    }
    #expect(try ids("lampe 7", in: snapshot, SearchOptions()).first == "7")
  }

  @Test func `words that thousands of products have are read in parts, and every product is found once`() throws {
    var random = SeededGenerator(for: "SearchTests, common words")
    let fillers = ["rouge", "bleu", "vert", "noir", "tres longue description", "x"]
    var products: [Product] = []
    for number in 0..<6000 {
      var words = ["lampe", fillers.randomElement(using: &random)!]
      if number % 3 == 0 { words.append("murale") }
      if number % 50 == 0 { words.append("lampadaire") }
      words.shuffle(using: &random)
      products.append(product("\(number)", words.joined(separator: " ")))
    }
    let catalogue = try TestCatalogue(products)
    // In several blocks of the index, and with rows that are dead.
    for first in [0, 1000, 2000] {
      _ = try catalogue.increment((first..<first + 400).map { products[$0] })
    }
    let snapshot = try catalogue.writer.snapshot()
    for (text, wanted) in [("lampe", 6000), ("lampe murale", 2000), ("murale", 2000), ("lampadaire lampe murale", 40)] {
      var options = SearchOptions()
      options.limit = 611
      var found: [String] = []
      repeat {
        let page = try snapshot.search(text, options)
        found += page.results.map(\.product.id)
        options.cursor = page.next
      } while options.cursor != nil
      #expect(found.count == wanted && Set(found).count == wanted, "\(text)")
    }
  }

  @Test func `products with the words as they are come before those with words that begin like the last one`() throws {
    let products =
      (0..<300).map { product("a\($0)", "Chocolat") }
      + (0..<30).map { product("b\($0)", "Un grand biscuit choc \($0)") }
    let snapshot = try TestCatalogue(products).snapshot
    var options = SearchOptions()
    options.limit = 330
    let found = try ids("choc", in: snapshot, options)
    #expect(found.count == 330 && found.prefix(30).allSatisfy { $0.hasPrefix("b") })
    #expect(try ids("grand choc", in: snapshot).count == 20)
  }

  /// Words as SQLite's unicode61 would divide them, near enough for these names.
  private func plainWords(_ text: String) -> Set<String> {
    Set(text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init))
  }

  @Test func `everything that has all words is found, in increments, compactions and full updates`() throws {
    var random = SeededGenerator(for: "SearchTests, model")
    let vocabulary = (0..<60).map { number in
      String((0..<Int.random(in: 1...8, using: &random)).map { _ in "abcdeéß12格力机".randomElement(using: &random)! })
        + (number % 7 == 0 ? "\(number)" : "")
    }
    var names: [String: String] = [:]
    func name() -> String {
      (0..<Int.random(in: 1...5, using: &random)).map { _ in vocabulary.randomElement(using: &random)! }.joined(
        separator: [" ", "-", ", "].randomElement(using: &random)!)
    }
    for number in 0..<400 { names["\(number)"] = name() }
    let catalogue = try TestCatalogue(names.sorted { $0.key < $1.key }.map { product($0.key, $0.value) })
    for round in 0..<12 {
      var changes: [Product] = []
      for _ in 0..<25 {
        let id = "\(Int.random(in: 0..<450, using: &random))"
        names[id] = name()
        changes.append(product(id, names[id]!))
      }
      _ = try catalogue.increment(changes)
      if round % 5 == 4 { _ = try catalogue.writer.compact() }
      let snapshot = try catalogue.writer.snapshot()
      #expect(try snapshot.verify().isEmpty)
      for _ in 0..<10 {
        let words = (0..<Int.random(in: 1...3, using: &random)).map { _ in vocabulary.randomElement(using: &random)! }
        let wanted = names.filter { plainWords($0.value).isSuperset(of: words) }.keys
        var options = SearchOptions()
        options.limit = .max
        let found = try Set(ids(words.joined(separator: " "), in: snapshot, options))
        #expect(found.isSuperset(of: wanted), "\(words)")
      }
    }
  }

  @Test func `a catalogue without the index says what to do, and gets one by a compaction`() throws {
    let catalogue = try TestCatalogue(indexes: .none)
    try catalogue.full(shop)
    let without = try catalogue.snapshot
    #expect(!without.hasSearchIndex && without.orders.isEmpty)
    #expect(throws: SearchError.self) { try without.search("nutella") }
    #expect(throws: SearchError.self) { try without.products(inOrderOf: .barcode, limit: 1) }
    try catalogue.reopen()
    // An increment keeps what the generation has.
    try catalogue.increment([product("9", "Neu")])
    #expect(try !catalogue.snapshot.hasSearchIndex)
    let with = try catalogue.writer.compact()
    #expect(with.hasSearchIndex && with.orders == [.id, .barcode, .category, .brand, .updateTime])
    #expect(try ids("nutella", in: with) == ["1"])
    #expect(try ids("neu", in: with) == ["9"])
    #expect(try with.verify().isEmpty)
    try catalogue.reopen(indexes: CatalogIndexes(hasSearch: false, orders: [.name]))
    #expect(try catalogue.writer.compact().orders == [.name])
  }

  @Test func `products are read in an order, page by page, in both directions`() throws {
    var random = SeededGenerator(for: "SearchTests, order")
    let products = (0..<300).map { number in
      product(
        "\(number)", ["Été", "ete 2", "Abc", "z"].randomElement(using: &random)! + " \(number % 40)",
        brand: ["", "Acme", "beta"].randomElement(using: &random)!,
        barcode: number % 9 == 0 ? "" : "\(Int.random(in: 1...99_999, using: &random))")
    }
    let catalogue = try TestCatalogue(
      indexes: CatalogIndexes(hasSearch: true, orders: Set(CatalogIndexes.Order.allCases)))
    try catalogue.full(products)
    let snapshot = try catalogue.snapshot
    for order in CatalogIndexes.Order.allCases {
      for descending in [false, true] {
        var pages: [Product] = []
        var cursor: ProductCursor?
        repeat {
          let page = try snapshot.products(inOrderOf: order, after: cursor, descending: descending, limit: 17)
          #expect(page.products.count <= 17)
          pages += page.products
          cursor = try page.next.map { try #require(ProductCursor("\($0)")) }
        } while cursor != nil
        #expect(Set(pages.map(\.id)).count == products.count && pages.count == products.count)
        if order == .id {
          let ids = pages.map { Array($0.id.utf8) }
          let ascending = ids.sorted { $0.lexicographicallyPrecedes($1) }
          #expect(ids == (descending ? ascending.reversed() : ascending))
        }
        if order == .barcode {
          let codes = pages.map(\.barcode)
          #expect(codes == (descending ? codes.sorted().reversed() : codes.sorted()))
        }
      }
    }
    let beginnings = try snapshot.products(barcodePrefix: "12", limit: 1000).map(\.barcode)
    #expect(beginnings == products.map(\.barcode).filter { $0.hasPrefix("12") }.sorted())
    let first = try snapshot.products(inOrderOf: .name, limit: 150)
    let compacted = try catalogue.writer.compact()
    let rest = try compacted.products(inOrderOf: .name, after: first.next, limit: 1000)
    #expect(Set((first.products + rest.products).map(\.id)).count == 300)
    #expect(rest.products.count == 150)
  }
}
