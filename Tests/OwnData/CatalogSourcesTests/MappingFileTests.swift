import CatalogSources
import RowFiles
import Testing

@Suite struct MappingFileTests {
  private func file(_ json: String) throws -> MappingFile { try MappingFile(json: Array(json.utf8)) }

  @Test func `what is written reads back the same`() throws {
    let first = try file(
      """
      {"format": "csv", "encoding": "WINDOWS-1252", "delimiter": ";", "decimal": ",", "date": "%d.%m.%Y",
       "true": ["ja", "x"], "skipLines": 2, "excel": true, "unevenRows": true, "unknown": "keep", "withoutId": "ignore",
       "onDuplicate": "last", "fields": {"barcode": {"columns": ["EAN"], "steps": ["trim", {"capture": "(\\\\d+)"}]},
       "name": {"columns": ["Marke", "Artikel"], "join": " "}, "unit": {"constant": "pcs"}}}
      """)
    #expect(first.format == .csv && first.encoding == "WINDOWS-1252" && first.isExcel && first.isUneven)
    #expect(first.rules.duplicates == .last && first.rules.missingIDs == .ignore)
    #expect(first.mapping.decimal == UInt8(ascii: ",") && first.mapping.dateFormat == "%d.%m.%Y")
    #expect(try MappingFile(json: first.text([])) == first)
  }

  @Test(arguments: [
    ("[]", "no JSON object"), ("{\"format\":\"xls\"}", "format is csv, tsv, ndjson or json"),
    ("{\"fields\":{\"nmae\":{\"columns\":[\"a\"]}}}", "is name meant?"), ("{\"decimal\":\";\"}", "decimal separator"),
    ("{\"delimiter\":\"ab\"}", "one ASCII character"), ("{\"date\":\"%Q\"}", "form of dates"),
  ])
  func `what a mapping cannot say is refused with the way on`(json: String, words: String) throws {
    let error = #expect(throws: MappingFile.Invalid.self) { try file(json) }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }
}
