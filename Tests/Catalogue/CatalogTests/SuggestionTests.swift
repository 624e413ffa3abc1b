import Barcodes
import RandomTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// What is suggested for a scan that matches nothing.
@Suite struct SuggestionTests {
  private func match(_ code: String, in products: [Product], limit: Int = 5) throws -> Match {
    var options = MatchingOptions()
    options.suggestionLimit = limit
    options.heads.isEnabled = false
    return try TestCatalogue(products).snapshot.match(code, options: options)
  }

  private func suggested(_ code: String, in barcodes: [String], limit: Int = 20) throws -> [String]? {
    try match(code, in: barcodes.map { Product("id of " + $0, $0) }, limit: limit).suggestions?.map(\.barcode)
  }

  @Test(arguments: [
    ("AB-1234", "AB-1234X", "one more"), ("AB-1234", "AB-134", "one fewer"), ("AB-1234", "AB-1734", "another one"),
    ("AB-1234", "AB-1324", "two swapped"), ("AB-1234", "XAB-1234", "one more at the beginning"),
    ("ab-1234", "AB-1235", "whatever the letter case"), (" AB-1234\r", "AB-1235", "whatever surrounds it"),
    ("6901234567890", "6901234567892", "a wrong check digit"), ("AB-1234", "AB1234", "a sign too many"),
    ("件号-1234", "件号-1235", "whatever the script"), ("件号-1234", "件-1234", "a character fewer"),
  ])
  func `a code that is one edit away is suggested`(scanned: String, barcode: String, what: String) throws {
    #expect(try suggested(scanned, in: [barcode, "9999999", ""]) == [barcode], "\(what)")
  }

  @Test(arguments: ["AB-1256", "AB-12", "AB-123456", "BA-1324", "AB-3412"])
  func `a code that is two edits away is not`(barcode: String) throws {
    #expect(try suggested("AB-1234", in: [barcode]) == [])
  }

  @Test(arguments: [
    ("DCD771C3", "DCD771C2"), ("kfr-36gw/n1", "KFR-35GW/N1"), ("DCD77C2", "DCD771C2"), ("DDC771C2", "DCD771C2"),
    ("DCD771C25", "DCD771C2"),
  ])
  func `a model that is one edit away is suggested`(scanned: String, sku: String) throws {
    var product = Product("1", "4006381333931")
    product.skuCode = sku
    var other = Product("2", "4006381333948")
    other.skuCode = "DCD999"
    #expect(try match(scanned, in: [product, other]).suggestions?.map(\.id) == ["1"])
    #expect(try match("DCE772C2", in: [product, other]).suggestions?.isEmpty == true)
  }

  @Test func `the number in a label counts, in every spelling`() throws {
    // The same number with one digit other, written with 12 and 13 digits.
    for barcode in ["012345678805", "0012345678805"] {
      #expect(try suggested("0100012345678905", in: [barcode]) == [barcode], "\(barcode)")
    }
  }

  @Test func `those of the same length come first, then by id, and no more than wanted`() throws {
    let products = [
      Product("c", "12346"), Product("b", "1234"), Product("d", "12354"), Product("a", "123457"), Product("e", "12346"),
      Product("0", "12347", delFlag: 1),
    ]
    for (limit, ids) in [(20, ["c", "d", "e", "a", "b"]), (2, ["c", "d"]), (1, ["c"])] {
      #expect(try match("12345", in: products, limit: limit).suggestions?.map(\.id) == ids)
    }
  }

  @Test func `nothing is suggested where something matched, or where the limit is 0`() throws {
    let products = [Product("a", "12345"), Product("b", "12346")]
    #expect(try match("12345", in: products).suggestions == nil)
    #expect(try match("12347", in: products, limit: 0).suggestions == nil)
    #expect(try match("99999", in: products).suggestions == [])
    var options = MatchingOptions()
    options.suggestionLimit = 3
    #expect(try CatalogSnapshot.empty.match("12345", options: options).suggestions == [])
  }

  @Test func `codes have 4 to 48 characters`() throws {
    for (count, isFound) in [(3, false), (4, true), (48, true), (49, false)] {
      let code = String(repeating: "8", count: count)
      #expect(try suggested(code, in: [code.dropLast() + "9"]) == (isFound ? [code.dropLast() + "9"] : []), "\(count)")
    }
  }

  @Test func `random codes are suggested exactly if one edit leads to them`() throws {
    var random = SeededGenerator(for: "SuggestionTests")
    func code() -> String {
      String((0..<Int.random(in: 4...6, using: &random)).map { _ in "AB1-".randomElement(using: &random) ?? "A" })
    }
    let barcodes = Set((0..<200).map { _ in code() })
    let catalogue = try TestCatalogue(barcodes.map { Product($0, $0) })
    var options = MatchingOptions()
    options.suggestionLimit = 1000
    options.heads.isEnabled = false
    for _ in 0..<300 {
      let scanned = code()
      let match = try catalogue.snapshot.match(scanned, options: options)
      guard match.isEmpty else { continue }
      let expected = barcodes.filter { Self.isOneEdit(from: Array(scanned), to: Array($0)) }
      #expect(match.suggestions?.map(\.id).sorted() == expected.sorted(), "\(scanned)")
    }
  }

  /// Whether one edit leads from a code to another. What is put in is a letter or a digit.
  private static func isOneEdit(from code: [Character], to other: [Character]) -> Bool {
    func isWithoutOne(_ long: [Character], _ short: [Character], _ isPermitted: (Character) -> Bool) -> Bool {
      long.indices.contains { index in
        isPermitted(long[index]) && Array(long[..<index] + long[(index + 1)...]) == short
      }
    }
    if other.count == code.count + 1 { return isWithoutOne(other, code) { $0 != "-" } }
    if code.count == other.count + 1 { return isWithoutOne(code, other) { _ in true } }
    guard code.count == other.count else { return false }
    let differences = code.indices.filter { code[$0] != other[$0] }
    if differences.count == 1 { return other[differences[0]] != "-" }
    return differences.count == 2 && differences[1] == differences[0] + 1
      && code[differences[0]] == other[differences[1]]
      && code[differences[1]] == other[differences[0]]
  }

  @Test func `JSON has id, barcode and name of each, if suggestions are wanted`() throws {
    let products = [Product("7", "12346", name: "lamp")]
    func json(_ match: Match) -> String {
      String(decoding: match.json(code: "12345", today: ScanDate(daysSince1970: 20_000)).bytes, as: UTF8.self)
    }
    #expect(
      try json(match("12345", in: products)).contains(
        #""suggestions":[{"id":"7","barcode":"12346","name":"lamp"}]"#))
    #expect(try json(match("12345", in: [])).contains(#""suggestions":[]"#))
    #expect(try !json(match("12345", in: products, limit: 0)).contains("suggestions"))
    #expect(try !json(match("12346", in: products)).contains("suggestions"))
  }

  @Test func `a code of a declared field that is one edit away is suggested`() throws {
    let declared = try DeclaredFields(
      json: Array(#"{"carton_ean": {"role": "code"}, "inner": {"role": "code", "quantity": 6}}"#.utf8))
    var indexes = CatalogIndexes.none
    indexes.fields = declared
    let catalogue = try TestCatalogue(indexes: indexes)
    var products: [Product] = []
    for (id, extra, delFlag) in [
      ("d", #"{"carton_ean":"9300675001007"}"#, 0), ("c", #"{"inner":["x","9300675001014"]}"#, 0),
      ("b", #"{"carton_ean":930067500101}"#, 0), ("a", #"{"carton_ean":"9300675001017"}"#, 1),
      ("e", #"{"carton_ean":"CASE-7"}"#, 0),
    ] {
      var product = Product(id, delFlag: Int64(delFlag))
      product.extra = try ProductExtra(json: extra)
      products.append(product)
    }
    try catalogue.full(products)
    let snapshot = try catalogue.snapshot.declaring(declared)
    var options = MatchingOptions()
    options.suggestionLimit = 5
    options.heads.isEnabled = false
    func suggested(_ code: String) throws -> [String]? {
      try snapshot.match(code, options: options).suggestions?.map(\.id)
    }
    // Those of the same length first: one digit other in two places, then one digit fewer.
    #expect(try suggested("9300675001017") == ["c", "d", "b"])
    #expect(try suggested("case-8") == ["e"] && suggested("9300675001999") == [])
    options.suggestionLimit = 1
    #expect(try suggested("9300675001017") == ["c"])
    // Without the declarations there are no codes to suggest.
    #expect(try catalogue.snapshot.match("case-8", options: options).suggestions == [])
  }
}
