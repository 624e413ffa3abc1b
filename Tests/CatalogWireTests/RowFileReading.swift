import CatalogRows
import CatalogWire
import Testing

/// What came of reading a person's file of rows.
struct RowFileReading: Equatable {
  var lines: [String] = []
  var summary: RowFileSummary?
  var faults: RowFaults?
  /// The faults as people read them, or what else went wrong.
  var failures: [String] = []

  /// Reads `bytes` whole and in small pieces, which has to be the same.
  static func csv(_ bytes: [UInt8], rules: RowRules = RowRules(), limits: WireLimits = WireLimits()) -> RowFileReading {
    same(bytes) { pieces in
      var reader = CSVRows(rules: rules, limits: limits)
      return read(pieces) { (piece, sink) throws(WireError) in
        try reader.consume(piece, into: &sink)
      } finish: { (sink) throws(WireError) in
        try reader.finish(into: &sink)
      }
    }
  }

  static func ndjson(
    _ bytes: [UInt8], rules: RowRules = RowRules(), limits: WireLimits = WireLimits()
  ) -> RowFileReading {
    same(bytes) { pieces in
      var reader = NDJSONRows(rules: rules, limits: limits)
      return read(pieces) { (piece, sink) throws(WireError) in
        try reader.consume(piece, into: &sink)
      } finish: { (sink) throws(WireError) in
        try reader.finish(into: &sink)
      }
    }
  }

  static func csv(_ text: String, rules: RowRules = RowRules()) -> RowFileReading {
    csv(Array(text.utf8), rules: rules)
  }

  static func ndjson(_ text: String, rules: RowRules = RowRules()) -> RowFileReading {
    ndjson(Array(text.utf8), rules: rules)
  }

  private static func same(_ bytes: [UInt8], _ run: ([[UInt8]]) -> RowFileReading) -> RowFileReading {
    let whole = run([bytes])
    for size in [1, 7] where bytes.count < 100_000 {
      let pieces = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min(bytes.count, $0 + size)]) }
      #expect(run(pieces) == whole, "in pieces of \(size)")
    }
    return whole
  }

  private static func read(
    _ pieces: [[UInt8]], consume: (Span<UInt8>, inout Collector) throws(WireError) -> Void,
    finish: (inout Collector) throws(WireError) -> RowFileSummary
  ) -> RowFileReading {
    var sink = Collector()
    var result = RowFileReading()
    do throws(WireError) {
      for piece in pieces { try consume(piece.span, &sink) }
      result.summary = try finish(&sink)
    } catch {
      if case .rowsRefused(let faults) = error {
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
