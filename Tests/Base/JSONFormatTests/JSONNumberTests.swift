import Foundation
import JSONFormat
import RandomTestSupport
import Testing

@Suite struct JSONNumberTests {
  private func read(_ text: String) throws -> (int64: Int64?, double: Double?) {
    var tokens = JSONTokenizer()
    tokens.append(Array(text.utf8).span)
    tokens.finish()
    #expect(try tokens.next() == .number)
    return (tokens.int64Value, tokens.doubleValue)
  }

  @Test(arguments: [
    ("0", 0), ("-0", 0), ("-0.0", 0), ("7", 7), ("2.0", 2), ("1e3", 1000), ("1E+3", 1000), ("-2.50e1", -25),
    ("10e-1", 1), ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min),
    ("9223372036854775807.000", Int64.max), ("922337203685477580700e-2", Int64.max),
    ("0e99999999999999999999", 0),
    ("0.0000000000000000000000000001e28", 1), ("10000000000000000000000000000e-28", 1),
    ("0.00000e5", 0), ("1.000000000000000000000000000000", 1),
  ])
  func `integers may be written with fraction and exponent`(text: String, value: Int64) throws {
    #expect(try read(text).int64 == value)
  }

  @Test(arguments: [
    "2.5", "1e-1", "9223372036854775808", "-9223372036854775809", "1e19", "99999999999999999999999999",
    "1e400",
    "1e-400", "1.00000000000000000000000000001", "1e99999999999999999999", "12345678901234567890123e-3",
    "18446744073709551616", "0.1",
  ])
  func `fractions and what is outside of 64 bits are no integers`(text: String) throws {
    #expect(try read(text).int64 == nil)
  }

  @Test(arguments: [
    "0", "-0", "-0.0", "0.1", "0.3", "1e22", "1e23", "8.98846567431158e307", "1.7976931348623157e308",
    "1.7976931348623158e308", "2.2250738585072011e-308", "2.2250738585072014e-308", "4.9e-324", "5e-324",
    "2.4703282292062327e-324", "2.4703282292062328e-324", "9007199254740993", "9007199254740992.5", "-1e-400",
    "9007199254740993.00000000000000000000000000000001", "18446744073709551615", "18446744073709551616",
    "1.00000000000000011102230246251565404236316680908203125",
    "1.00000000000000011102230246251565404236316680908203124",
    "1.00000000000000011102230246251565404236316680908203126", "123456789012345678901234567890",
    "3.518437208883201171875e13", "62.5364939768271845828", "8.10109172351e-10",
    "1.50000000000000011102230246251565",
    "5708990770823839207320493820740630171355185151999e-3", "179769313486231570814527423731704356798070e267",
    "0.000000000000000000000000000000000000000000000000000000000001e60", "7.2057594037927933e16",
  ])
  func `hard cases are rounded as the standard library does`(text: String) throws {
    #expect(try read(text).double?.bitPattern == Double(text)?.bitPattern)
  }

  @Test(arguments: ["1e309", "-1e400", "1.7976931348623159e308", "1e99999999999999999999"])
  func `an overflow has no value`(text: String) throws {
    #expect(try read(text).double == nil)
  }

  @Test func `random numbers are rounded as the standard library does`() throws {
    var generator = DocumentGenerator(random: SeededGenerator(for: "random numbers"))
    for _ in 0..<20_000 {
      var json: [UInt8] = []
      generator.number(&json)
      let text = String(decoding: json, as: UTF8.self)
      let expected = try #require(Double(text))
      let found = try read(text).double
      guard found?.bitPattern == (expected.isFinite ? expected.bitPattern : nil) else {
        Issue.record("\(text)")
        return
      }
    }
  }

  @Test func `every double reads back from its shortest form`() throws {
    var random = SeededGenerator(for: "every double reads back")
    for _ in 0..<20_000 {
      let value = Double(bitPattern: random.next())
      guard value.isFinite else { continue }
      guard try read(value.description).double?.bitPattern == value.bitPattern else {
        Issue.record("\(value)")
        return
      }
    }
  }

  @Test func `short decimals are rounded as the standard library does`() throws {
    for whole in 0..<200 {
      for hundredth in 0..<100 {
        let text = "\(whole).\(hundredth)"
        #expect(try read(text).double == Double(text))
      }
    }
  }
}
