import CatalogRows
import RowFiles
import RowTestSupport
import ServerAnswers
import Testing

/// Files as other programs write them, under a mapping.
@Suite struct ForeignFileTests {
  private static let comma = UInt8(ascii: ",")

  /// What a file became: its rows, or what is wrong with them.
  private struct Reading {
    var products: [[String: Any]] = []
    var faults: [String] = []
    var columns: [RowColumnUse] = []

    func texts(_ field: String) -> [String] { products.map { $0[field] as? String ?? "" } }
    func numbers(_ field: String) -> [Double] { products.map { $0[field] as? Double ?? .nan } }
    /// A field beyond the 25, which is a text.
    func extras(_ name: String) -> [String?] { products.map { ($0["extra"] as? [String: Any])?[name] as? String } }
  }

  private func read(
    _ text: String, _ format: RowFileFormat = .csv, rules: RowRules = RowRules(), mapping: RowMapping = RowMapping()
  ) throws -> Reading {
    let bytes = Array(text.utf8)
    var reading = Reading()
    for size in [bytes.count, 1, 7] {
      var reader = RowFileReader(format, rules: rules, mapping: mapping)
      var sink = Collector()
      do throws(RowFileError) {
        for start in stride(from: 0, to: bytes.count, by: size) {
          try reader.consume(bytes[start..<min(start + size, bytes.count)].span, into: &sink)
        }
        _ = try reader.finish(into: &sink)
      } catch {
        guard case .refused(let faults) = error else { throw error }
        let found = faults.first.map(\.description)
        #expect(size == bytes.count || found == reading.faults, "in pieces of \(size)")
        reading.faults = found
      }
      #expect(size == bytes.count || sink.lines.count == reading.products.count, "in pieces of \(size)")
      reading.products = sink.products
      reading.columns = reader.columns
    }
    return reading
  }

  private func rules(_ change: (inout RowRules) -> Void) -> RowRules {
    var rules = RowRules()
    change(&rules)
    return rules
  }

  private func mapping(_ rules: [ProductField: String] = [:], decimal: UInt8? = nil) -> RowMapping {
    var mapping = RowMapping()
    for (field, column) in rules { mapping.rules[field] = RowMapping.Rule(columns: [column]) }
    mapping.decimal = decimal
    return mapping
  }

  // MARK: Numbers

  @Test func `a number of JSON keeps its point under a decimal comma`() throws {
    let text = #"{"id": "1", "weight": 1.234, "volume": "1,5", "categoryId": 12, "groupNum": "2.000"}"# + "\n"
    let reading = try read(text, .ndjson, mapping: mapping(decimal: Self.comma))
    #expect(reading.faults.isEmpty, "\(reading.faults)")
    #expect(reading.numbers("weight") == [1.234] && reading.numbers("volume") == [1.5])
    #expect(reading.numbers("categoryId") == [12] && reading.numbers("groupNum") == [2000])
  }

  @Test func `whole numbers have the separators that were said`() throws {
    let text = "id;categoryId;groupNum\n1;1.000;2,0\n2;1 234 567;4\n"
    let reading = try read(text, mapping: mapping(decimal: Self.comma))
    #expect(reading.numbers("categoryId") == [1000, 1_234_567] && reading.numbers("groupNum") == [2, 4])
    let half = try read("id;groupNum\n1;2,5\n", mapping: mapping(decimal: Self.comma))
    #expect(half.faults.first?.contains("whole number") == true)
  }

  @Test func `numbers are read as other programs write them`() throws {
    let german = try read("id;weight\n1;1.100,500-\n2; 1,5 \n3;１２，５\n4;-3\n", mapping: mapping(decimal: Self.comma))
    #expect(german.numbers("weight") == [-1100.5, 1.5, 12.5, -3], "\(german.faults)")
    let english = try read("id;weight\n1;1,234.50\n2;0.250\n3;7\n", mapping: mapping(decimal: UInt8(ascii: ".")))
    #expect(english.numbers("weight") == [1234.5, 0.25, 7], "\(english.faults)")
    // Without a separator that was said, a comma may be either.
    #expect(try read("id;weight\n1;1,234.50\n").faults.first?.contains("--decimal .") == true)
  }

  @Test(arguments: ["0.250", "01.500", "1234.567", "1.23", "--5", "-", ""])
  func `what is no group of digits is refused under a decimal comma`(number: String) throws {
    let reading = try read("id;weight\n1;\(number)\n", mapping: mapping(decimal: Self.comma))
    #expect(reading.faults.count == (number.isEmpty ? 0 : 1), "\(reading.faults)")
  }

  // MARK: Columns

  @Test func `a column with a name of relations can be the id of products`() throws {
    let reading = try read("productId,name\n1,Bolt\n", mapping: mapping([.id: "productId"]))
    #expect(reading.faults.isEmpty && reading.texts("id") == ["1"], "\(reading.faults)")
  }

  @Test(arguments: [RowFileFormat.csv, .ndjson])
  func `a column type of another meaning is left out or kept`(format: RowFileFormat) throws {
    let text =
      format == .csv
      ? "id,type,name\n1,simple,Tee\n2,product,Cup\n"
      : "{\"id\": 1, \"type\": \"simple\", \"name\": \"Tee\"}\n{\"id\": 2, \"type\": \"product\", \"name\": \"Cup\"}\n"
    #expect(try read(text, format).faults.first?.contains("--unknown ignore") == true)
    let ignored = try read(text, format, rules: rules { $0.unknownKeys = .ignore })
    #expect(ignored.texts("name") == ["Tee", "Cup"] && ignored.extras("type") == [nil, nil], "\(ignored.faults)")
    let kept = try read(text, format, rules: rules { $0.unknownKeys = .keep })
    #expect(kept.extras("type") == ["simple", nil], "\(kept.faults)")
    // This one may be a relation with a mistake.
    let misspelt = #"{"id": "r", "type": "relatoin", "productId": "1", "subProductId": "2"}"# + "\n"
    #expect(try read(misspelt, .ndjson, rules: rules { $0.unknownKeys = .keep }).faults.count == 1)
  }

  @Test func `columns with the same name are told apart by a number`() throws {
    let text = "sku,name,ean,ean,label,label\nA1,Bolt,4006381333931,,a,b\nA2,Nut,,4006381333948,,\n"
    #expect(try read(text, mapping: mapping([.id: "sku"])).faults.first?.contains("--column \"barcode=ean#2\"") == true)
    var both = mapping([.id: "sku"])
    both.rules[.barcode] = RowMapping.Rule(columns: ["ean", "ean#2"])
    let reading = try read(text, rules: rules { $0.unknownKeys = .keep }, mapping: both)
    #expect(reading.texts("barcode") == ["4006381333931", "4006381333948"], "\(reading.faults)")
    #expect(reading.extras("label") == ["a", nil] && reading.extras("label#2") == ["b", nil])
    let twice = "id,name,name\n1,a,b\n"
    #expect(try read(twice).faults.first?.contains("--column \"name=name#2\"") == true)
    #expect(try read(twice, mapping: mapping([.name: "name#2"])).faults.first?.contains("column 2 (name)") == true)
    let second = try read(twice, rules: rules { $0.unknownKeys = .ignore }, mapping: mapping([.name: "name#2"]))
    #expect(second.texts("name") == ["b"], "\(second.faults)")
  }

  @Test func `a column without a name is kept under its number, and names may go over two lines`() throws {
    let reading = try read("id,name,\n1,x,keep me\n2,y,\n", rules: rules { $0.unknownKeys = .keep })
    #expect(reading.extras("column 3") == ["keep me", nil], "\(reading.faults)")
    let split = try read("id,\"Artikel\nName\"\n1,Bolt\n", mapping: mapping([.name: "Artikel Name"]))
    #expect(split.texts("name") == ["Bolt"], "\(split.faults)")
  }

  @Test func `names of a feed for shops are recognised`() throws {
    let reading = try read("g:id\tg:title\tg:gtin\tg:brand\nA\tTee\t4006381333931\tACME\n", .tsv)
    #expect(reading.texts("id") == ["A"] && reading.texts("barcode") == ["4006381333931"], "\(reading.faults)")
  }

  @Test func `columns that rules name may be missing in a file of some columns`() throws {
    let mapping = mapping([.id: "Nr", .name: "Name", .weight: "Gewicht"])
    let text = "Nr;Gewicht\n1;2.5\n"
    #expect(try read(text, mapping: mapping).faults.first?.contains("the file has none of this name") == true)
    let reading = try read(text, rules: rules { $0.allowsAbsentColumns = true }, mapping: mapping)
    #expect(reading.numbers("weight") == [2.5], "\(reading.faults)")
    #expect(reading.columns.filter(\.isAbsent).map(\.fields) == [["name"]])
    let nameless = try read("Gewicht\n1\n", rules: rules { $0.allowsAbsentColumns = true }, mapping: mapping)
    #expect(!nameless.faults.isEmpty)
  }

  // MARK: Rows

  @Test func `rows may lack fields at the end where that is allowed`() throws {
    let text = "id,name,brand\n1,a,b\n2,c\n3\n4,d,e,,\n"
    let faults = try read(text).faults
    #expect(faults.count == 3 && faults.allSatisfy { $0.contains("--uneven-rows") }, "\(faults)")
    let uneven = rules { $0.allowsUnevenRows = true }
    let reading = try read(text, rules: uneven)
    #expect(reading.texts("id") == ["1", "2", "3", "4"] && reading.texts("brand") == ["b", "", "", "e"])
    #expect(try read("id,name\n1,a,b\n", rules: uneven).faults.first?.contains("in quotes") == true)
  }

  @Test func `a cell of a formula needs no quotes around it`() throws {
    let text = "id;barcode;name\n1;=\"007\";\"Bolt; \"\"M8\"\"\"\n2;=\"a\"\"b\";=x\n3;=\"\";\r\n"
    let reading = try read(text, rules: rules { $0.readsExcelTexts = true })
    #expect(reading.faults.isEmpty, "\(reading.faults)")
    #expect(reading.texts("barcode") == ["007", "a\"b", ""] && reading.texts("name") == ["Bolt; \"M8\"", "=x", ""])
    #expect(try read(text).faults.first?.contains("--excel") == true)
    let open = try read("id;name\n1;=\"x\n", rules: rules { $0.readsExcelTexts = true })
    #expect(open.faults.first?.contains("close them") == true)
  }

  @Test func `quotes that hold whole rows of a table with tabs are an error`() throws {
    let text = "id\tname\n1\t\"Noir\n2\tLait\n3\tTV 12\"\n4\tz\n"
    #expect(try read(text, .tsv).faults.first?.contains("--no-quotes") == true)
    var plain = RowMapping()
    plain.hasQuotes = false
    #expect(try read(text, .tsv, mapping: plain).texts("name") == ["\"Noir", "Lait", "TV 12\"", "z"])
    #expect(try read("id\tname\n1\t\"two\nlines\"\n", .tsv).texts("name") == ["two\nlines"])
  }

  @Test func `a document of several lines is called that, once`() throws {
    let text = "{\n  \"products\": [\n    {\"id\": 1}\n  ]\n}\n"
    let faults = try read(text, .ndjson).faults
    #expect(faults.count == 1 && faults.first?.contains("jq .products") == true, "\(faults)")
  }
}
