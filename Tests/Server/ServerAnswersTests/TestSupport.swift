import Foundation
import RowTestSupport
import ServerAnswers

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
    allowsBarePayload: Bool = false, extraKeys: Set<String> = [], onTwoThreads: Bool = false
  ) {
    var sink = Collector()
    defer { lines = sink.lines }
    do throws(WireError) {
      if onTwoThreads {
        var decoder = try ConcurrentResponseDecoder(
          limits: limits, allowsBarePayload: allowsBarePayload, extraKeys: extraKeys)
        for chunk in Self.ranges(of: bytes, chunks) { try decoder.consume(bytes.span.extracting(chunk), into: &sink) }
        summary = try decoder.finish(into: &sink)
      } else {
        var decoder = try ResponseDecoder(
          limits: limits, allowsBarePayload: allowsBarePayload, extraKeys: extraKeys)
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
