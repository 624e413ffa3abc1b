import CatalogSources
import RowFiles
import Testing

@Suite struct MappingFileTests {
  private func file(_ json: String) throws -> MappingFile { try MappingFile(json: Array(json.utf8)) }

  @Test func `what is written reads back the same`() throws {
    let first = try file(
      """
      {"format": "csv", "encoding": "WINDOWS-1252", "delimiter": ";", "decimal": ",", "date": "%d.%m.%Y",
       "true": ["ja", "x"], "null": ["N/A", "-"], "skipLines": 2, "excel": true, "unevenRows": true, "unknown": "keep",
       "withoutId": "ignore", "onDuplicate": "last", "rows": "'Variant Price' != ''",
       "fields": {"barcode": {"columns": ["EAN"], "split": ";", "steps": ["trim", {"capture": "(\\\\d+)"}, "gtin"]},
       "name": {"columns": ["Marke", "Artikel"], "join": " ", "steps": ["html"]},
       "weight": {"columns": "P", "steps": ["money"]}, "updateTime": {"columns": "U", "date": "dd.MM.yyyy"},
       "createTime": {"columns": "C", "steps": ["trim", {"date": "%d.%m.%Y"}]}, "unit": {"constant": "pcs"}}}
      """)
    #expect(first.format == .csv && first.encoding == "WINDOWS-1252" && first.isExcel && first.isUneven)
    #expect(first.rules.duplicates == .last && first.rules.missingIDs == .ignore)
    #expect(first.mapping.decimal == UInt8(ascii: ",") && first.mapping.dateFormat == "%d.%m.%Y")
    #expect(first.mapping.rules[.barcode]?.split == ";" && first.mapping.rules[.barcode]?.steps.last == .gtin)
    #expect(first.mapping.nullWords == ["N/A", "-"])
    #expect(first.mapping.rules[.updateTime]?.steps == [.date("dd.MM.yyyy")])
    #expect(first.mapping.rules[.createTime]?.steps == [.trim, .date("%d.%m.%Y")])
    #expect(first.mapping.rules[.weight]?.steps == [.money] && first.mapping.rules[.name]?.steps == [.html])
    #expect(try MappingFile(json: first.text([])) == first)
    #expect(try MappingFile(json: first.text([])).mapping.rows?.text == "'Variant Price' != ''")
  }

  @Test(arguments: [
    ("[]", "no JSON object"), ("{\"format\":\"xls\"}", "format is csv, tsv, ndjson or json"),
    ("{\"fields\":{\"nmae\":{\"columns\":[\"a\"]}}}", "is name meant?"), ("{\"decimal\":\";\"}", "decimal separator"),
    ("{\"rows\":\"'Variant Price' !\"}", "rows: column 17: "), ("{\"rows\":\"a = 1 extra\"}", "rows: column 7: "),
    ("{\"rows\":true}", "rows is a text"),
    ("{\"fields\":{\"barcode\":{\"columns\":\"a\",\"split\":\"\"}}}", "split is the text between"),
    ("{\"fields\":{\"barcode\":{\"columns\":\"a\",\"split\":\";\",\"join\":\"-\"}}}", "join or split"),
    ("{\"fields\":{\"barcode\":{\"columns\":\"a\",\"steps\":[\"gtn\"]}}}", "\"gtin\""),
    ("{\"delimiter\":\"ab\"}", "one ASCII character"), ("{\"date\":\"%Q\"}", "form of dates"),
    ("{\"null\":1}", "null is a text"), ("{\"null\":[]}", "null is a text"),
    ("{\"fields\":{\"name\":{\"columns\":\"a\",\"steps\":[\"monye\"]}}}", "\"money\", \"html\""),
    ("{\"fields\":{\"updateTime\":{\"columns\":\"a\",\"date\":\"dd.mm.yyyy\"}}}", "form of dates"),
    ("{\"fields\":{\"updateTime\":{\"columns\":\"a\",\"steps\":[{\"date\":5}]}}}", "a step is"),
  ])
  func `what a mapping cannot say is refused with the way on`(json: String, words: String) throws {
    let error = #expect(throws: MappingFile.Invalid.self) { try file(json) }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }
}
