import CatalogRows
import CatalogSources
import RowFiles
import Testing

/// What the file of a mapping says of further codes.
@Suite struct CodeMappingTests {
  private func file(_ json: String) throws -> MappingFile { try MappingFile(json: Array(json.utf8)) }

  @Test func `codes, group and codesFrom are read, and written as they were`() throws {
    let mapping = try file(
      #"""
      {"codes": [{"columns": ["EAN","EAN 2"], "split": ";,| "},
                 {"column": "Case EAN", "quantity": {"column": "Case size"}, "unit": "case", "steps": ["gtin"]},
                 {"columns": ["Inner"], "quantity": 0.5, "unit": {"column": "u"}, "kind": {"column": "k"}}],
       "group": "id",
       "codesFrom": {"file": "codes.csv", "join": "skuCode", "split": "/", "encoding": "latin1",
                     "delimiter": ";",
                     "columns": {"productId": "Item", "code": "Barcode", "unit": {"constant": "case"}, "quantity": 12}}}
      """#)
    #expect(mapping.mapping.codes.count == 3 && mapping.mapping.group == .id && mapping.mapping.speaksOfCodes)
    #expect(mapping.mapping.codes[0].split == ";,| " && mapping.mapping.codes[1].quantity == .column("Case size"))
    #expect(mapping.mapping.codes[2].quantity == .constant("0.5") && mapping.mapping.codes[1].unit == .constant("case"))
    #expect(mapping.codesFrom?.table.join == .skuCode && mapping.codesFrom?.table.values[.quantity] == .constant("12"))
    #expect(try MappingFile(json: mapping.text([])) == mapping)
  }

  @Test(arguments: [
    (#"{"codes": []}"#, "codes is a list"), (#"{"codes": [{"colums": ["a"]}]}"#, "\"colums\" is unknown"),
    (#"{"codes": [{"column": "a", "quantity": 0}]}"#, "quantity is a number of more than 0"),
    (#"{"codes": [{"column": "a", "quantity": "x"}]}"#, "quantity is a number of more than 0"),
    (#"{"codes": [{"column": "a", "split": ""}]}"#, "split is the characters"),
    (#"{"group": "weight"}"#, "group is a field"),
    (#"{"codesFrom": {"file": "a", "query": "b"}}"#, "give file, or query"),
    (#"{"codesFrom": {"query": "b", "encoding": "latin1"}}"#, "encoding and delimiter are for a file"),
    (#"{"codes": [{"column": "a", "kind": null}]}"#, "kind is a text, or {\"column\": …}"),
    (#"{"codes": [{"column": "a", "quantity": 1e400}]}"#, "codes, entry 1, quantity: a number that is too large"),
    (#"{"codesFrom": {"file": "a", "join": "name"}}"#, "codes are joined by id, skuCode or barcode"),
    (#"{"codesFrom": {"file": "a", "columns": {"price": "b"}}}"#, "a code has no field \"price\""),
  ]) func `what cannot be meant is refused`(json: String, message: String) throws {
    let error = try #require(throws: MappingFile.Invalid.self) { try file(json) }
    #expect(error.message.contains(message), "\(error.message)")
  }

  @Test func `codesFrom may leave the file to an option, and a source needs one`() throws {
    let mapping = try file(#"{"codesFrom": {"join": "skuCode"}}"#)
    #expect(mapping.codesFrom?.table.join == .skuCode && mapping.codesFrom?.file == nil)
    #expect(try MappingFile(json: mapping.text([])) == mapping)
    var source = CatalogueSource(path: "/nowhere", decoding: SourceDecoding())
    let error = try #require(throws: MappingFile.Invalid.self) { try source.addCodes(mapping) }
    #expect(error.message.contains("add file, or query"), "\(error.message)")
  }

  @Test func `the path of a table is from the directory of the mapping`() throws {
    var mapping = try file(#"{"codesFrom": {"file": "codes.csv"}}"#)
    mapping.resolveCodes(nextTo: "/etc/shop/map.json")
    #expect(mapping.codesFrom?.file == "/etc/shop/codes.csv")
    mapping.resolveCodes(nextTo: "/other/map.json")
    #expect(mapping.codesFrom?.file == "/etc/shop/codes.csv")
  }
}
