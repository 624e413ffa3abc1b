import CatalogRows
import RowFiles
import RowTestSupport
import ServerAnswers
import Testing

/// What came of reading a person's file of rows.
struct RowFileReading: Equatable {
  var lines: [String] = []
  var summary: RowFileSummary?
  var faults: RowFaults?
  /// The faults as people read them, or what else went wrong.
  var failures: [String] = []

  static func csv(_ bytes: [UInt8], rules: RowRules = RowRules(), limits: WireLimits = WireLimits()) -> RowFileReading {
    same(bytes) { read($0, .csv, rules, limits) }
  }

  static func ndjson(
    _ bytes: [UInt8], rules: RowRules = RowRules(), limits: WireLimits = WireLimits()
  ) -> RowFileReading {
    same(bytes) { read($0, .ndjson, rules, limits) }
  }

  static func csv(_ text: String, rules: RowRules = RowRules()) -> RowFileReading {
    csv(Array(text.utf8), rules: rules)
  }

  static func ndjson(_ text: String, rules: RowRules = RowRules()) -> RowFileReading {
    ndjson(Array(text.utf8), rules: rules)
  }

  /// Reads `bytes` whole and in small pieces, which has to be the same.
  private static func same(_ bytes: [UInt8], _ run: ([[UInt8]]) -> RowFileReading) -> RowFileReading {
    let whole = run([bytes])
    for size in [1, 7] where bytes.count < 100_000 {
      let pieces = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min(bytes.count, $0 + size)]) }
      #expect(run(pieces) == whole, "in pieces of \(size)")
    }
    return whole
  }

  private static func read(
    _ pieces: [[UInt8]], _ format: RowFileFormat, _ rules: RowRules, _ limits: WireLimits
  ) -> RowFileReading {
    var reader = RowFileReader(format, rules: rules, limits: limits)
    var sink = Collector()
    var result = RowFileReading()
    do throws(RowFileError) {
      for piece in pieces { try reader.consume(piece.span, into: &sink) }
      result.summary = try reader.finish(into: &sink)
    } catch {
      if case .refused(let faults) = error {
        result.faults = faults
        result.failures = faults.first.map(\.description)
      } else {
        result.failures = [error.description]
      }
    }
    result.lines = sink.lines
    return result
  }
}
