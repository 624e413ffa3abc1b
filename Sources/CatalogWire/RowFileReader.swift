public import CatalogRows

/// Reads the rows of a file in either format, strictly: what cannot be taken as it is meant is a fault, and all faults are
/// told together.
public struct RowFileReader: ~Copyable {
  private enum Rows: ~Copyable {
    case ndjson(NDJSONRows)
    case csv(CSVRows)
    /// Only while a call has taken the rows out.
    case taken
  }

  private var rows: Rows

  /// Creates a reader of a new file.
  ///
  /// - Parameters:
  ///   - format: The format of the file.
  ///   - rules: What the file may hold that is not a sound row.
  ///   - limits: What is refused although it could be read.
  public init(_ format: RowFileFormat, rules: RowRules = RowRules(), limits: WireLimits = WireLimits()) {
    switch format {
    case .ndjson: rows = .ndjson(NDJSONRows(rules: rules, limits: limits))
    case .csv: rows = .csv(CSVRows(rules: rules, limits: limits))
    }
  }

  /// Faults so far.
  public var faultCount: Int {
    switch rows {
    case .ndjson(let rows): rows.faultCount
    case .csv(let rows): rows.faultCount
    case .taken: 0
    }
  }

  /// What was read so far; lines are counted at the end.
  public var summary: RowFileSummary {
    switch rows {
    case .ndjson(let rows): rows.summary
    case .csv(let rows): rows.summary
    case .taken: RowFileSummary()
    }
  }

  /// Takes the next bytes of the text and hands the rows that are complete by now to `sink`.
  ///
  /// - Throws: ``WireError/sinkFailed(_:row:)`` around what the sink throws; ``WireError`` for text that is beyond the
  ///   limits.
  public mutating func consume<Sink: RowSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(WireError) {
    var failure: WireError?
    switch takeRows() {
    case .ndjson(var lines):
      do throws(WireError) { try lines.consume(bytes, into: &sink) } catch { failure = error }
      rows = .ndjson(lines)
    case .csv(var table):
      do throws(WireError) { try table.consume(bytes, into: &sink) } catch { failure = error }
      rows = .csv(table)
    case .taken: break
    }
    if let failure { throw failure }
  }

  /// Ends the file, and hands its last rows to `sink`.
  ///
  /// - Returns: What the file held.
  /// - Throws: ``WireError/rowsRefused(_:)`` with what is wrong in the file; as ``consume(_:into:)``.
  public mutating func finish<Sink: RowSink>(into sink: inout Sink) throws(WireError) -> RowFileSummary {
    var summary = RowFileSummary()
    var failure: WireError?
    switch takeRows() {
    case .ndjson(var lines):
      do throws(WireError) { summary = try lines.finish(into: &sink) } catch { failure = error }
      rows = .ndjson(lines)
    case .csv(var table):
      do throws(WireError) { summary = try table.finish(into: &sink) } catch { failure = error }
      rows = .csv(table)
    case .taken: break
    }
    if let failure { throw failure }
    return summary
  }

  private mutating func takeRows() -> Rows {
    var taken = Rows.taken
    swap(&taken, &rows)
    return taken
  }
}
