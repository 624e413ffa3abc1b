import CatalogRows
import Foundation
import RandomTestSupport
import RowTestSupport
import ServerAnswers
import Testing

@Suite struct PayloadEncoderTests {
  @Test(arguments: [0, 1, 40, 3_000]) func `what is encoded is decoded again`(count: Int) throws {
    var rows = RowGenerator(random: SeededGenerator(for: "what is encoded is decoded again"))
    var expected = Collector()
    let encoder = PayloadEncoder()
    var output: [UInt8] = []
    for _ in 0..<count {
      let row = rows.relation()
      encoder.relation(row)
      try expected.relation(row)
    }
    for _ in 0..<count {
      let row = rows.product()
      encoder.product(row)
      try expected.product(row)
      output += encoder.takeOutput()
    }
    encoder.finish(updateTime: "2023-05-13 \"10\"")
    output += encoder.takeOutput()
    let outcome = Outcome(output)
    #expect(outcome.failure == nil)
    #expect(outcome.lines == expected.lines)
    #expect(outcome.summary?.updateTime == "2023-05-13 \"10\"")
    #expect(outcome.summary?.bytesUnpacked == encoder.unpackedByteCount)
    #expect(outcome.summary?.defaulted.total == 0)
    // And the envelope is what others read, too.
    let object = try #require(try JSONSerialization.jsonObject(with: Data(output)) as? [String: Any])
    #expect(object["code"] as? Int == 1000)
    #expect(Data(base64Encoded: object["data"] as? String ?? "!") != nil)
  }

  @Test func `the plain form is the payload as the server writes it`() {
    let encoder = PayloadEncoder(form: .plain)
    var row = ProductRow()
    row.texts.set(ProductText.name.rawValue, Array("a\"\u{2028}\u{1}\n".utf8).span)
    row.weight = 226.8
    row.wide = 5
    encoder.product(row)
    encoder.finish(updateTime: "t")
    #expect(
      String(decoding: encoder.takeOutput(), as: UTF8.self)
        == "{\"appProductVOList\":[{\"barcode\":\"\",\"brand\":\"\",\"brandId\":\"\",\"category\":\"\",\"createBy\":\"\","
        + "\"createTime\":\"\",\"id\":\"\",\"name\":\"a\\\"\u{2028}\\u0001\\n\",\"orgId\":\"\",\"skuCode\":\"\",\"unit\":\"\","
        + "\"updateBy\":\"\",\"updateTime\":\"\",\"categoryId\":0,\"delFlag\":0,\"groupNum\":1,\"isGreeProduct\":false,"
        + "\"isGroupedProduct\":false,\"isSaleProduct\":false,\"isMarketingProduct\":false,\"length\":0.0,\"tall\":0.0,"
        + "\"volume\":0.0,\"weight\":226.8,\"wide\":5.0}],\"appProductRelVOList\":[],\"updateTime\":\"t\"}")
  }

  @Test func `a double that JSON cannot write becomes the default`() {
    var row = ProductRow()
    row.weight = .infinity
    row.wide = .nan
    let encoder = PayloadEncoder()
    encoder.product(row)
    encoder.finish(updateTime: "t")
    #expect(Outcome(encoder.takeOutput()).lines.first?.hasSuffix("\"weight\":0.0,\"wide\":0.0}") == true)
  }
}
