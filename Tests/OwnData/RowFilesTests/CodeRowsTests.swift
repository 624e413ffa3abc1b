import CatalogRows
import RowFiles
import RowTestSupport
import ServerAnswers
import Testing

/// Further codes in a person's own files: rows, columns, further rows of a product, and tables of their own.
@Suite struct CodeRowsTests {
  private struct Reading: Equatable {
    var products: [String] = []
    var codes: [String] = []
    var faults: [String] = []
    var summary: RowFileSummary?
    var speaks = false
  }

  /// Reads a text whole and in small pieces, which has to be the same.
  private func read(
    _ text: String, _ format: RowFileFormat = .csv, rules: RowRules = RowRules(), _ mapping: RowMapping? = RowMapping()
  ) throws -> Reading {
    let bytes = Array(text.utf8)
    var first: Reading?
    for size in [max(1, bytes.count), 1, 7] {
      var reader = RowFileReader(format, rules: rules, mapping: mapping)
      var sink = Collector()
      var reading = Reading()
      do throws(RowFileError) {
        for start in stride(from: 0, to: bytes.count, by: size) {
          try reader.consume(bytes[start..<min(start + size, bytes.count)].span, into: &sink)
        }
        reading.summary = try reader.finish(into: &sink)
      } catch {
        guard case .refused(let faults) = error else { throw error }
        reading.faults = faults.first.map(\.description)
      }
      reading.speaks = reader.speaksOfCodes
      reading.products = sink.products.map { "\($0["id"] ?? "") \($0["barcode"] ?? "")" }
      reading.codes = sink.codes.map { code in
        let values = ["productId", "code", "quantity", "unit", "kind"].map { "\(code[$0] ?? "")" }
        return values.joined(separator: " ").trimmingEnd
      }
      #expect(first == nil || first == reading, "in pieces of \(size)")
      first = first ?? reading
    }
    return first ?? Reading()
  }

  private func read(_ text: String, rules: RowRules = RowRules(), _ mapping: RowMapping) throws -> Reading {
    try read(text, .csv, rules: rules, mapping)
  }

  private func mapping(_ codes: [RowMapping.CodeRule], group: ProductField? = nil) -> RowMapping {
    var mapping = RowMapping()
    mapping.codes = codes
    mapping.group = group
    return mapping
  }

  // MARK: Rows

  @Test(arguments: [true, false]) func `a row of NDJSON with the type code is a code`(isMapped: Bool) throws {
    let text = """
      {"type":"product","id":"7","barcode":"4006381333931"}
      {"type":"code","id":"c","productId":"7","code":"14006381333938","quantity":24,"unit":"case","kind":"GTIN"}
      {"productId":"7","barcode":"X-1","quantity":"0.500","type":"code"}

      """
    let reading = try read(text, .ndjson, isMapped ? RowMapping() : nil)
    #expect(reading.faults.isEmpty, "\(reading.faults)")
    #expect(reading.codes == ["7 14006381333938 24 case GTIN", "7 X-1 0.5"])
    #expect(reading.summary?.codes == 2 && reading.summary?.codeRows == 2 && reading.summary?.products == 1)
    #expect(!reading.speaks)
  }

  @Test func `a code with an unknown key, a wrong quantity or without its product is refused`() throws {
    let text = """
      {"type":"code","productId":"7","code":"1","colour":"red"}
      {"type":"code","productId":"7","code":"1","quantity":"six"}
      {"type":"code","productId":"7","code":"1","quantity":0}
      {"type":"code","code":"1"}
      {"type":"code","productId":"7","code":"1","barcode":"2"}
      {"type":"code","productId":"7"}
      {"type":"code","productId":"7","code":"1","name":"x"}

      """
    let faults = try read(text, .ndjson).faults
    #expect(faults.count == 7, "\(faults)")
    let parts = [
      "Line 1, column colour, value \"red\": a code has no field of this name",
      "Line 2, column quantity, value \"six\": a quantity is a number",
      "Line 3, column quantity, value \"0\": a quantity is more than 0",
      "Line 4, column productId: a code needs productId", "Line 5, column barcode",
      "Line 6, column code: a row of a code needs a code",
      "Line 7, column name",
    ]
    for (fault, part) in zip(faults, parts) { #expect(fault.hasPrefix(part), "\(fault)") }
  }

  @Test func `a table as export writes it has codes as rows`() throws {
    var csv: [UInt8] = []
    var style = RowCSV.Style()
    style.hasCodes = true
    RowCSV.appendHeader(to: &csv, style: style)
    var product = ProductRow()
    product.texts.set(ProductText.id.rawValue, Array("7".utf8).span)
    RowCSV.append(product, to: &csv, style: style)
    var code = CodeRow()
    code.texts.set(CodeText.productId.rawValue, "7")
    code.texts.set(CodeText.code.rawValue, "0,07")
    code.texts.set(CodeText.unit.rawValue, "case")
    RowCSV.append(code, to: &csv, style: style)
    let reading = try read(String(decoding: csv, as: UTF8.self))
    #expect(reading.faults.isEmpty && reading.codes == ["7 0,07 1 case"], "\(reading)")
  }

  // MARK: Columns

  @Test func `columns have codes, with quantity and unit`() throws {
    let rules = [
      RowMapping.CodeRule(columns: ["EAN", "EAN 2"], split: ";,| "),
      RowMapping.CodeRule(columns: ["Case EAN"], quantity: .column("Case size"), unit: .constant("case")),
    ]
    let text = """
      id,EAN,EAN 2,Case EAN,Case size
      7,4006381333931,4006381333948;4006381333955| 04006381333931,14006381333938,24
      8,4006381333962;4006381333979,,,
      9,,978-3-16-148410-0,,

      """
    let reading = try read(text, mapping(rules))
    #expect(reading.faults.isEmpty, "\(reading.faults)")
    #expect(reading.products == ["7 4006381333931", "8 4006381333962", "9 "])
    #expect(
      reading.codes == [
        "7 4006381333948 1", "7 4006381333955 1", "7 14006381333938 24 case", "8 4006381333979 1",
        "9 978-3-16-148410-0 1",
      ])
    #expect(reading.speaks)
  }

  @Test func `a quantity with a decimal comma is exact, and a wrong one names row and column`() throws {
    var comma = mapping([RowMapping.CodeRule(columns: ["case"], quantity: .column("size"))])
    comma.decimal = UInt8(ascii: ",")
    #expect(try read("id;case;size\n1;111;1.000,250\n", comma).codes == ["1 111 1000.25"])
    let faults = try read("id;case;size\n1;111;12\n2;222;-1\n3;333;six\n", comma).faults
    #expect(faults.count == 2, "\(faults)")
    #expect(faults[0].hasPrefix("Line 3, column 3 (size), value \"-1\": a quantity is more than 0"))
    #expect(faults[1].hasPrefix("Line 4, column 3 (size), value \"six\""))
  }

  @Test func `a column that the file does not have is refused with the one that may be meant`() throws {
    let faults = try read("id,EAN 2\n1,111\n", mapping([RowMapping.CodeRule(columns: ["EAN2"])])).faults
    #expect(
      faults.contains { $0.contains("the mapping takes codes from this column") && $0.contains("EAN 2") }, "\(faults)")
    var rules = RowRules()
    rules.allowsAbsentColumns = true
    let partial = try read("id,name\n1,x\n", rules: rules, mapping([RowMapping.CodeRule(columns: ["EAN 2"])]))
    #expect(partial.faults.isEmpty && !partial.speaks)
  }

  @Test func `lists of JSON have codes, also as the barcode`() throws {
    let text = #"[{"id":"7","barcode":["4006381333931","4006381333948"],"cases":[{"x":1}]},{"id":"8","barcode":"1"}]"#
    let plain = RowMapping.CodeRule(columns: ["barcode"])
    let reading = try read(
      text.replacing(#"[{"x":1}]"#, with: "[]"), .ndjson,
      mapping([plain, .init(columns: ["cases"], unit: .constant("case"))]))
    #expect(reading.faults.isEmpty, "\(reading.faults)")
    #expect(reading.products == ["7 4006381333931", "8 1"] && reading.codes == ["7 4006381333948 1"])
    let faults = try read(text, .ndjson, mapping([plain, .init(columns: ["cases"])])).faults
    #expect(faults.count == 1 && faults[0].contains("column cases"), "\(faults)")
  }

  @Test func `damage by a program for tables is mended in codes as in barcodes`() throws {
    var gtin = mapping([RowMapping.CodeRule(columns: ["b"])])
    gtin.rules[.barcode] = RowMapping.Rule(columns: ["a"], steps: [.gtin])
    let reading = try read("id,a,b\n1,4006381333931,36000291452\n2,,4006381333948.0\n3,,#N/A\n", gtin)
    #expect(reading.codes == ["1 036000291452 1", "2 4006381333948 1"], "\(reading)")
    let raw = try read("id,b\n1,36000291452\n", mapping([RowMapping.CodeRule(columns: ["b"])]))
    #expect(raw.codes == ["1 36000291452 1"] && raw.summary?.codeHealth.total == 1)
  }

  // MARK: Several rows of a product

  @Test func `rows of a product are codes, wherever they stand`() throws {
    let text = """
      id,EAN,name,Factor,UoM
      7,4006381333931,Marker,1,each
      8,4006381333948,Paper,1,each
      7,14006381333938,Marker,24,case
      ,14006381333938,,24,case
      ,4006381333955,,6,inner

      """
    let reading = try read(text, mapping([], group: .id))
    #expect(reading.faults.isEmpty, "\(reading.faults)")
    #expect(reading.products == ["7 4006381333931", "8 4006381333948"])
    #expect(reading.codes == ["7 14006381333938 24 case", "7 4006381333955 6 inner"])
    #expect(reading.summary?.furtherRows == 3 && reading.summary?.products == 2 && reading.summary?.duplicates == 0)
    let rule = RowMapping.CodeRule(columns: [], quantity: .column("Factor"), unit: .column("UoM"))
    #expect(try read(text, mapping([rule], group: .id)).codes == reading.codes)
  }

  @Test func `rows of a product in JSON find quantity and unit by their names`() throws {
    let text = """
      {"id":"7","ean":"4006381333931","uom":"each","factor":1}
      {"id":"7","ean":"14006381333938","uom":"case","factor":24}

      """
    let reading = try read(text, .ndjson, mapping([], group: .id))
    #expect(reading.faults.isEmpty && reading.codes == ["7 14006381333938 24 case"], "\(reading)")
  }

  @Test func `another value in a further row is counted, and the first is shown`() throws {
    let text = "id,EAN,name,weight\n7,1,Marker,1\n7,2,Marker,2\n7,3,Pen,1\n"
    let reading = try read(text, mapping([], group: .id))
    let notice = try #require(reading.summary?.notices.first)
    #expect(notice.hasPrefix("2 values of further rows of a product (group) left out"), "\(notice)")
    #expect(notice.contains("line 3, column weight, value \"2\"; the first row of this product is line 2"), "\(notice)")
  }

  @Test func `a first row of a case is a warning`() throws {
    let reading = try read("id,EAN,qty\n7,1,24\n7,2,1\n", mapping([], group: .id))
    #expect(reading.summary?.notices.first?.contains("a quantity other than 1 in the first row") == true)
  }

  @Test func `a row without an id and without one above it is refused`() throws {
    let faults = try read("id,EAN\n,1\n7,2\n", mapping([], group: .id)).faults
    #expect(faults.count == 1 && faults[0].contains("belongs to the product in the row above"), "\(faults)")
  }

  @Test func `the rows below a product that a condition leaves out are left out too`() throws {
    var group = mapping([], group: .id)
    group.rows = try RowCondition(parsing: "kind != 'x'")
    var rules = RowRules()
    rules.unknownKeys = .ignore
    let reading = try read("id,EAN,kind\n1,11,\n2,22,x\n,33,\n1,44,\n,55,\n", rules: rules, group)
    #expect(reading.products == ["1 11"] && reading.codes == ["1 44 1", "1 55 1"], "\(reading)")
    #expect(reading.summary?.leftOut == 2)
  }

  @Test func `another field can group, and the id of the first row counts`() throws {
    let reading = try read("id,sku,EAN\n1,A,11\n2,A,22\n3,B,33\n", mapping([], group: .skuCode))
    #expect(reading.products == ["1 11", "3 33"] && reading.codes == ["1 22 1"], "\(reading)")
  }

  @Test func `a duplicate id names the ways to say that rows are codes`() throws {
    let faults = try read("id,EAN\n1,11\n1,22\n").faults
    for way in ["\"group\": \"id\"", "\"codes\"", "\"codesFrom\"", "--codes", "--on-duplicate last"] {
      #expect(faults.first?.contains(way) == true, "\(faults)")
    }
  }

  @Test func `a code with another quantity than before is refused, and the same is no second code`() throws {
    let columns = mapping([
      RowMapping.CodeRule(columns: ["A"], quantity: .column("n")),
      RowMapping.CodeRule(columns: ["B"], quantity: .column("m")),
    ])
    let same = try read("id,A,n,B,m\n7,14006381333938,6,14006381333938,6.0\n", columns)
    #expect(same.faults.isEmpty && same.codes == ["7 14006381333938 6"], "\(same)")
    let other = try read("id,A,n,B,m\n7,14006381333938,6,14006381333938,24\n", columns).faults
    #expect(
      other.count == 1 && other[0].hasPrefix("Line 2, column 4 (B), value \"14006381333938\": line 2"), "\(other)")
    #expect(other.first?.contains("with the quantity 6, and here it is 24") == true, "\(other)")
    let own = try read("id,barcode,A,n,B,m\n7,4006381333931,4006381333931,24,,\n", columns).faults
    #expect(own.first?.contains("the product's own barcode, which stands for one piece") == true, "\(own)")
    let rows = "id,EAN,qty\n7,1,1\n7,22,6\n8,22,7\n7,22,6\n7,22,24\n"
    let grouped = try read(rows, mapping([], group: .id))
    #expect(grouped.faults.count == 1 && grouped.faults[0].hasPrefix("Line 6, "), "\(grouped)")
    #expect(grouped.faults.first?.contains("line 3 has this code") == true, "\(grouped)")
  }

  @Test func `a row below a product, and a column of codes, name the mapping that takes them`() throws {
    let faults = try read("id,name,Packages/Barcode\n7,Pen,4006381333955\n,,14006381333938\n").faults
    #expect(faults.count == 2, "\(faults)")
    #expect(faults.first?.contains("say so in a mapping (--map): \"codes\"") == true, "\(faults)")
    #expect(faults.last?.contains("\"group\": \"id\"") == true, "\(faults)")
    // The first row is below nothing.
    let first = try read("id,name\n,Pen\n").faults
    #expect(first.first?.contains("group") == false, "\(first)")
  }

  // MARK: Tables of codes

  private func table(_ table: RowMapping.CodeTable = RowMapping.CodeTable()) -> RowMapping {
    var mapping = RowMapping()
    mapping.codeTable = table
    return mapping
  }

  @Test(arguments: [
    ("productId,code,quantity,unit,kind,id\n7,14006381333938,24,case,k,c\n", RowFileFormat.csv),
    ("name;parent;barcode;uom;conversion_factor;barcode_type;idx\nr1;7;14006381333938;case;24;k;1\n", .csv),
    ("Qty\tItem Code\tGTIN\tPackaging\tBarcode Type\n24\t7\t14006381333938\tcase\tk\n", .tsv),
    (#"{"product_id":7,"ean":"14006381333938","qty":24,"uom":"case","kind":"k","x":[1]}"# + "\n", .ndjson),
    (#"[{"uom":"case","code":"14006381333938","productId":"7","quantity":"24.0","kind":"k"}]"#, .ndjson),
  ]) func `the columns of a table are found by common names`(text: String, format: RowFileFormat) throws {
    let reading = try read(text, format, table())
    #expect(reading.faults.isEmpty, "\(reading.faults)")
    #expect(reading.codes == ["7 14006381333938 24 case k"] && reading.speaks && reading.summary?.codeRows == 1)
  }

  @Test func `a table names its columns, and what every row has`() throws {
    let mapped = RowMapping.CodeTable(
      values: [.productId: .column("p"), .code: .column("c"), .unit: .constant("case"), .quantity: .constant("12")],
      split: "/")
    let reading = try read("p,c,x\n7,111/222,\n8,,\n", table(mapped))
    #expect(reading.codes == ["7 111 12 case", "7 222 12 case"] && reading.summary?.withoutCodes == 1, "\(reading)")
  }

  @Test func `a table joined by barcode has two columns of codes`() throws {
    let joined = RowMapping.CodeTable(join: .barcode)
    #expect(try read("gtin,childGtin,quantity\n111,222,24\n", table(joined)).codes == ["222 111 24"])
    #expect(try read("barcode,code,quantity\n222,111,24\n", table(joined)).codes == ["222 111 24"])
    #expect(try read("barcode,EAN 2,quantity\n222,111,24\n", table(joined)).codes == ["222 111 24"])
    #expect(try read("sku,ean\nA,111\n", table(.init(join: .skuCode))).codes == ["A 111 1"])
  }

  @Test func `a table without a needed column, a quantity and a product is refused`() throws {
    #expect(try read("a,code\n1,2\n", table()).faults.first?.contains("no column says which product") == true)
    #expect(try read("productId,b\n1,2\n", table()).faults.first?.contains("no column has the codes") == true)
    let faults = try read("productId,code,qty\n1,2,x\n,2,1\n", table()).faults
    #expect(faults.count == 2 && faults[0].hasPrefix("Line 2, column 3 (quantity), value \"x\""), "\(faults)")
    #expect(faults[1].hasPrefix("Line 3, column 1 (productId): a code needs the id of its product"))
  }
}

extension String {
  fileprivate var trimmingEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
