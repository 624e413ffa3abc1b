public import CatalogRows
public import ServerAnswers

/// A strict reader of the rows of a file in any format: anything that cannot be read as intended is a fault, and all
/// faults are reported together.
public struct RowFileReader: ~Copyable {
  private enum Rows: ~Copyable {
    case ndjson(NDJSONRows)
    case csv(CSVRows)
    /// The state while a call has moved the reader out.
    case taken
  }

  private var rows: Rows

  /// Creates a reader of a new file.
  ///
  /// - Parameters:
  ///   - format: The format of the file.
  ///   - rules: The irregularities that are allowed in the file.
  ///   - limits: The limits above which a readable file is refused.
  ///   - mapping: What the columns or keys mean; `nil` if they have the names of the fields, and nothing is converted.
  public init(
    _ format: RowFileFormat, rules: RowRules = RowRules(), limits: WireLimits = WireLimits(),
    mapping: RowMapping? = nil
  ) {
    switch format {
    case .ndjson: rows = .ndjson(NDJSONRows(rules: rules, limits: limits, mapping: mapping))
    case .csv, .tsv:
      let delimiter = mapping?.delimiter ?? (format == .csv && mapping != nil ? nil : format.delimiter)
      rows = .csv(CSVRows(rules: rules, limits: limits, mapping: mapping, delimiter: delimiter))
    }
  }

  /// The columns or keys that were found so far, and the fields that they fill.
  public var columns: [RowColumnUse] {
    switch rows {
    case .ndjson(let rows): rows.uses
    case .csv(let rows): rows.uses
    case .taken: []
    }
  }

  /// Whether the rows read so far say which codes the products have, also if they have none: the mapping takes them from
  /// columns that there are, or the rows are a table of codes.
  public var speaksOfCodes: Bool {
    switch rows {
    case .ndjson(let rows): rows.speaksOfCodes
    case .csv(let rows): rows.speaksOfCodes
    case .taken: false
    }
  }

  /// The byte between two fields of a table; `nil` for a format without columns, and until it is recognised.
  public var delimiter: UInt8? {
    switch rows {
    case .csv(let rows): rows.delimiter
    case .ndjson: nil
    case .taken: nil
    }
  }

  /// The number of faults so far.
  package var faultCount: Int {
    switch rows {
    case .ndjson(let rows): rows.faultCount
    case .csv(let rows): rows.faultCount
    case .taken: 0
    }
  }

  /// Whether the rest of the file would change nothing: it has a fault after which rows cannot be told apart, or very
  /// many faults. ``finish(into:)`` then throws, and a caller need not read on.
  package var isOver: Bool {
    switch rows {
    case .ndjson(let rows): rows.isOver
    case .csv(let rows): rows.isOver
    case .taken: false
    }
  }

  /// The summary of what has been read so far. Lines are counted at the end.
  public var summary: RowFileSummary {
    switch rows {
    case .ndjson(let rows): rows.summary
    case .csv(let rows): rows.summary
    case .taken: RowFileSummary()
    }
  }

  /// Reads the next bytes of the text, and passes the rows that are complete by now to `sink`.
  ///
  /// - Throws: ``RowFileError/sinkFailed(_:row:)`` with the error that the sink throws; ``RowFileError`` for text above
  ///   the limits.
  public mutating func consume<Sink: RowSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(RowFileError) {
    var failure: RowFileError?
    switch takeRows() {
    case .ndjson(var lines):
      do throws(RowFileError) { try lines.consume(bytes, into: &sink) } catch { failure = error }
      rows = .ndjson(lines)
    case .csv(var table):
      do throws(RowFileError) { try table.consume(bytes, into: &sink) } catch { failure = error }
      rows = .csv(table)
    case .taken: break
    }
    if let failure { throw failure }
  }

  /// Notes that all text was consumed, so that ``columns`` are known before ``finish(into:)``.
  ///
  /// - Throws: As ``consume(_:into:)``.
  package mutating func settle<Sink: RowSink>(into sink: inout Sink) throws(RowFileError) {
    var failure: RowFileError?
    switch takeRows() {
    case .ndjson(let lines): rows = .ndjson(lines)
    case .csv(var table):
      do throws(RowFileError) { try table.readHead(into: &sink) } catch { failure = error }
      rows = .csv(table)
    case .taken: break
    }
    if let failure { throw failure }
  }

  /// Ends the file, and passes its last rows to `sink`.
  ///
  /// - Returns: The summary of the file.
  /// - Throws: ``RowFileError/refused(_:)`` with the faults of the file; the errors of ``consume(_:into:)``.
  public mutating func finish<Sink: RowSink>(into sink: inout Sink) throws(RowFileError) -> RowFileSummary {
    var summary = RowFileSummary()
    var failure: RowFileError?
    switch takeRows() {
    case .ndjson(var lines):
      do throws(RowFileError) { summary = try lines.finish(into: &sink) } catch { failure = error }
      rows = .ndjson(lines)
    case .csv(var table):
      do throws(RowFileError) { summary = try table.finish(into: &sink) } catch { failure = error }
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
