import Foundation
import RandomTestSupport
import RowTestSupport
import Testing

/// One entry of `wire/manifest.json`.
struct WireCase: Sendable, CustomTestStringConvertible {
  var file: String
  var isRejected: Bool
  var isAmbiguous: Bool
  var products: Int?
  var relations: Int?
  var codes: Int
  var updateTime: String?
  /// The decoded rows as JSON.
  var decoded: Data?

  var testDescription: String { file }

  /// The corpus, whether the bundle has it beside its other resources or in their folder.
  static let directory: URL = {
    let bundle = Bundle.module.resourceURL ?? URL(fileURLWithPath: ".")
    let folders = ["wire", "Resources/wire"].map { bundle.appendingPathComponent($0) }
    return folders.first { FileManager.default.fileExists(atPath: $0.path) } ?? bundle
  }()

  static let all: [WireCase] = {
    guard let data = try? Data(contentsOf: directory.appendingPathComponent("manifest.json")),
      let manifest = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { return [] }
    let lists = manifest.values.compactMap { $0 as? [[String: Any]] }
    return lists.flatMap { $0 }.map { entry in
      WireCase(
        file: entry["file"] as? String ?? "",
        isRejected: entry["expect"] as? String == "reject",
        isAmbiguous: entry["ambiguous"] as? Bool ?? false,
        products: entry["products"] as? Int,
        relations: entry["relations"] as? Int,
        codes: entry["codes"] as? Int ?? 0,
        updateTime: entry["updateTime"] as? String,
        decoded: entry["decoded"].flatMap { try? JSONSerialization.data(withJSONObject: $0) })
    }
  }()

  func bytes() throws -> [UInt8] {
    Array(try Data(contentsOf: Self.directory.appendingPathComponent(file)))
  }
}

@Suite struct WireCorpusTests {
  @Test func `the corpus is there`() {
    #expect(WireCase.all.count == 55)
  }

  @Test(arguments: WireCase.all) func `every answer has the outcome of the manifest`(wire: WireCase) throws {
    let outcome = Outcome(try wire.bytes())
    guard !wire.isRejected else {
      #expect(outcome.failure != nil)
      return
    }
    let summary = try #require(outcome.summary, "\(outcome.failure ?? "")")
    #expect(summary.products == wire.products)
    #expect(summary.relations == wire.relations)
    #expect(summary.codes == wire.codes)
    #expect(summary.updateTime == wire.updateTime)
    guard let data = wire.decoded else { return }
    let decoded = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [[String: Any]]])
    let collector = Collector(lines: outcome.lines)
    try expectEqual(collector.products, try #require(decoded["products"]))
    try expectEqual(collector.relations, try #require(decoded["relations"]))
    try expectEqual(collector.codes, decoded["codes"] ?? [])
  }

  private func expectEqual(_ found: [[String: Any]], _ expected: [[String: Any]]) throws {
    try #require(found.count == expected.count)
    for (found, expected) in zip(found, expected) {
      #expect(found.keys.sorted() == expected.keys.sorted())
      for (key, value) in expected {
        if let text = value as? String {
          #expect((found[key] as? String).map { Array($0.utf8) } == Array(text.utf8), "\(key)")
        } else if let number = value as? NSNumber, let other = found[key] as? NSNumber {
          #expect(other.int64Value == number.int64Value, "\(key)")
          #expect(other.doubleValue == number.doubleValue, "\(key)")
        } else {
          Issue.record("\(key) has another type")
        }
      }
    }
  }

  @Test(arguments: WireCase.all) func `no outcome depends on the chunks`(wire: WireCase) throws {
    let bytes = try wire.bytes()
    let whole = Outcome(bytes)
    if bytes.count < 20_000 { #expect(Outcome(bytes, chunks: [1]) == whole) }
    var random = SeededGenerator(for: wire.file)
    for _ in 0..<3 {
      let chunks = (0..<500).map { _ in Int.random(in: 1...700, using: &random) } + [3_000]
      let outcome = Outcome(bytes, chunks: chunks)
      if wire.file.hasPrefix("bomb") {
        #expect(outcome.failure != nil)
      } else {
        #expect(outcome == whole)
      }
    }
  }

  @Test(arguments: [
    ("b64-cut-half", "ends early"), ("b64-empty", "data is empty instead of gzip"),
    ("data-null", "null instead of base64 text"),
    ("data-b64-json", "not gzip: it begins with 7B instead of 1F 8B"),
    ("code-500", "code 500 instead of the number 1000"), ("code-missing", "no code"),
    ("code-text", "\"1000\" (a text)"), ("outer-cut", "the end of the string was expected"),
    ("outer-empty", "ends at byte 0 where a value was expected"),
    ("outer-array", "an array instead of an object"),
    ("outer-html", "'<' at byte 0"), ("outer-deep", "an array instead of an object"),
    ("gz-bad-crc", "incorrect data check"), ("gz-bad-isize", "incorrect length check"),
    ("gz-cut-half", "ends early"), ("gz-zlib", "not gzip"), ("bomb-300m-space", "the limit is 268435456"),
    ("isize-lies-big", "incorrect length check"), ("nested-100k", "more than 512 levels of nesting"),
    ("missing-appProductRelVOList", "no appProductRelVOList"), ("missing-updateTime", "no updateTime"),
    ("row-null", "row 1 (from 0) of appProductVOList"), ("inner-array", "an array instead of an object"),
    ("inner-invalid-utf8", "invalid UTF-8 at byte"),
    ("codes-object", "appProductCodeVOList at byte"), ("codes-row-null", "row 1 (from 0) of appProductCodeVOList"),
    ("inner-trailing-comma", "a key in double quotes was expected"),
  ])
  func `every refusal says why`(file: String, reason: String) throws {
    let wire = try #require(WireCase.all.first { $0.file == file + ".response" })
    let failure = Outcome(try wire.bytes()).failure ?? "accepted"
    #expect(failure.contains(reason), "\(failure)")
  }
}
