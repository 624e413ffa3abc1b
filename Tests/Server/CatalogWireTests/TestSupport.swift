import CatalogRows
import CatalogWire
import Foundation
import RandomTestSupport

struct SinkFull: Error, Equatable {}

/// Keeps every row as its dump line, so that rows are compared bit by bit.
struct Collector: RowSink {
  var lines: [String] = []
  /// How many rows are taken before the sink throws.
  var capacity = Int.max

  mutating func product(_ row: borrowing ProductRow) throws {
    guard lines.count < capacity else { throw SinkFull() }
    var json: [UInt8] = []
    RowJSON.appendDump(row, to: &json)
    lines.append(String(decoding: json, as: UTF8.self))
  }

  mutating func relation(_ row: borrowing RelationRow) throws {
    guard lines.count < capacity else { throw SinkFull() }
    var json: [UInt8] = []
    RowJSON.appendDump(row, to: &json)
    lines.append(String(decoding: json, as: UTF8.self))
  }

  var products: [[String: Any]] { objects("product") }
  var relations: [[String: Any]] { objects("relation") }

  private func objects(_ type: String) -> [[String: Any]] {
    lines.compactMap {
      var object = try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
      return object?.removeValue(forKey: "type") as? String == type ? object : nil
    }
  }
}

/// What came of decoding one answer.
///
/// Two refusals are equal: their reasons, and the rows before them, may depend on the chunks.
struct Outcome: Equatable {
  static func == (left: Outcome, right: Outcome) -> Bool {
    guard left.failure == nil, right.failure == nil else {
      return (left.failure == nil) == (right.failure == nil)
    }
    return left.summary == right.summary && left.lines == right.lines
  }

  var lines: [String] = []
  var summary: PayloadSummary?
  /// The description of what was thrown.
  var failure: String?

  /// Decodes `bytes` in chunks of the given sizes, the last one again and again.
  init(
    _ bytes: [UInt8], chunks: [Int] = [.max], limits: WireLimits = WireLimits(),
    allowsBarePayload: Bool = false, onTwoThreads: Bool = false
  ) {
    var sink = Collector()
    defer { lines = sink.lines }
    do throws(WireError) {
      if onTwoThreads {
        var decoder = try ConcurrentResponseDecoder(limits: limits, allowsBarePayload: allowsBarePayload)
        for chunk in Self.ranges(of: bytes, chunks) { try decoder.consume(bytes.span.extracting(chunk), into: &sink) }
        summary = try decoder.finish(into: &sink)
      } else {
        var decoder = try ResponseDecoder(limits: limits, allowsBarePayload: allowsBarePayload)
        for chunk in Self.ranges(of: bytes, chunks) { try decoder.consume(bytes.span.extracting(chunk), into: &sink) }
        summary = try decoder.finish()
      }
    } catch {
      failure = error.description
    }
  }

  private static func ranges(of bytes: [UInt8], _ chunks: [Int]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    while start < bytes.count {
      let stop = start + min(bytes.count - start, chunks[min(ranges.count, chunks.count - 1)])
      ranges.append(start..<stop)
      start = stop
    }
    return ranges
  }
}

/// Makes gzip by hand out of stored blocks (RFC 1951, 3.2.4), so that every byte of header and trailer is
/// known.
enum GzipMaker {
  static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var crc = UInt32.max
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    return ~crc
  }

  static func littleEndian(_ value: UInt32, count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32($0 * 8)) }
  }

  static func pack(_ bytes: [UInt8], flags: UInt8 = 0, extra: [UInt8] = []) -> [UInt8] {
    var result: [UInt8] = [0x1F, 0x8B, 8, flags, 0, 0, 0, 0, 0, 3] + extra
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(65_535)
      result.append(rest.isEmpty ? 1 : 0)
      result +=
        littleEndian(UInt32(block.count), count: 2) + littleEndian(~UInt32(block.count), count: 2) + block
    } while !rest.isEmpty
    return result + littleEndian(crc32(bytes)) + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
  }
}

func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

/// A good envelope around `packed`.
func envelope(packed: [UInt8], code: String = "1000") -> [UInt8] {
  Array("{\"message\":\"ok\",\"code\":\(code),\"data\":\"\(base64(packed))\"}".utf8)
}

/// A good envelope around the payload `json`.
func envelope(_ json: String) -> [UInt8] { envelope(packed: GzipMaker.pack(Array(json.utf8))) }

/// A payload with one product of the given members.
func payload(product members: String) -> String {
  "{\"appProductVOList\":[{\(members)}],\"appProductRelVOList\":[],\"updateTime\":\"t\"}"
}

/// Rows with all kinds of values.
struct RowGenerator {
  var random: SeededGenerator

  mutating func text() -> String {
    let alphabet = Array(
      "abcXYZ019 -/\\\"'{}[]:,\u{0}\u{1}\n\t\u{1F}\u{7F}é格力😀\u{2028}\u{FFFD}".unicodeScalars)
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0..<[1, 6, 12, 60].randomElement(using: &random)!, using: &random) {
      text.append(alphabet.randomElement(using: &random)!)
    }
    return String(text)
  }

  mutating func integer() -> Int64 {
    [0, 1, -1, .max, .min, Int64(bitPattern: random.next()), Int64.random(in: 0..<1000, using: &random)]
      .randomElement(using: &random)!
  }

  mutating func double() -> Double {
    let any = Double(bitPattern: random.next())
    return [0, -0.0, 1, 226.8, 1e308, .leastNonzeroMagnitude, any.isFinite ? any : 0.1].randomElement(
      using: &random)!
  }

  mutating func product() -> ProductRow {
    var row = ProductRow()
    for field in ProductText.allCases { row.texts.set(field.rawValue, Array(text().utf8).span) }
    row.categoryId = integer()
    row.delFlag = integer()
    row.groupNum = integer()
    row.isGreeProduct = Bool.random(using: &random)
    row.isGroupedProduct = Bool.random(using: &random)
    row.isSaleProduct = Bool.random(using: &random)
    row.isMarketingProduct = Bool.random(using: &random)
    row.length = double()
    row.tall = double()
    row.volume = double()
    row.weight = double()
    row.wide = double()
    return row
  }

  mutating func relation() -> RelationRow {
    var row = RelationRow()
    for field in RelationText.allCases { row.texts.set(field.rawValue, Array(text().utf8).span) }
    row.groupNum = integer()
    return row
  }
}
