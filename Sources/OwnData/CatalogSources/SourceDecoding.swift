package import CatalogRows
package import Platform
package import RowFiles
package import RowSources
package import ServerAnswers

/// How a person's own file becomes rows: its format, its encoding and the meaning of its columns, as for an import.
package struct SourceDecoding: Sendable {
  /// How the file is written; `nil` to take it from the file's name.
  package var format: RowFileFormat?
  /// The irregularities that are allowed in the file.
  package var rules: RowRules
  /// What the columns or keys mean.
  package var mapping: RowMapping
  /// The name of the encoding; `nil` to guess it.
  package var encoding: String?
  /// The limits above which a file is refused.
  package var limits: WireLimits

  /// Creates a description of a file. Nothing is opened.
  package init(
    format: RowFileFormat? = nil, rules: RowRules = RowRules(), mapping: RowMapping = RowMapping(),
    encoding: String? = nil, limits: WireLimits = WireLimits()
  ) {
    self.format = format
    self.rules = rules
    self.mapping = mapping
    self.encoding = encoding
    self.limits = limits
  }

  /// What was recognised in a file.
  package struct Reading: Sendable {
    /// The columns, and the fields that they fill.
    package var columns: [RowColumnUse]
    /// The encoding, if it was guessed.
    package var guess: EncodingGuess?
    package var summary: RowFileSummary
  }

  /// The format of a file: NDJSON if neither ``format`` nor the name says anything.
  package func format(of path: String) -> RowFileFormat { format ?? RowFileFormat(path: path) ?? .ndjson }

  /// Reads all text of a file, which may be packed and in any encoding, and passes it to `body`, piece by piece.
  ///
  /// - Returns: The encoding, if it was guessed.
  /// - Throws: `RowFileError`, `SourceError`, the errors of reading and of `body`.
  package func read(_ file: SequentialFile, _ body: ([UInt8]) throws -> Void) throws -> EncodingGuess? {
    var unpacker = OptionalGzip(limits: limits)
    var text = try SourceText(
      encoding: encoding,
      limits: SourceLimits(
        unpackedByteCount: limits.unpackedByteCount, unpackedRatio: limits.unpackedRatio,
        absoluteByteCount: limits.absoluteByteCount))
    while true {
      var packed = try file.read(upTo: 256 << 10)[...]
      if packed.isEmpty { break }
      while !packed.isEmpty {
        let piece = try text.decode(try unpacker.unpack(Array(packed.prefix(OptionalGzip.stepByteCount))))
        packed = packed.dropFirst(OptionalGzip.stepByteCount)
        try body(piece)
        while text.hasMore { try body(try text.decode([])) }
      }
    }
    try body(try text.decode(try unpacker.finish()) + text.finish())
    return text.guess
  }

  /// Reads all rows of the file at `path`. Any fault refuses the whole file.
  ///
  /// - Throws: `RowFileError`, `SourceError`, and the errors of reading.
  package func load<Sink: RowSink>(_ file: SequentialFile, at path: String, into rows: inout Sink) throws -> Reading {
    var reader = RowFileReader(format(of: path), rules: rules, limits: limits, mapping: mapping)
    let guess = try read(file) { piece in try reader.consume(piece.span, into: &rows) }
    let summary = try reader.finish(into: &rows)
    return Reading(columns: reader.columns, guess: guess, summary: summary)
  }

  /// Reads all rows of a database. Any fault refuses all of them.
  ///
  /// - Returns: What was recognised, and the greatest value of the column that shows newer rows.
  /// - Throws: `RowFileError`, `DatabaseError`, and the errors of `rows`.
  package func load<Sink: RowSink>(
    _ query: DatabaseQuery, into rows: inout Sink
  ) throws -> (Reading, newest: String?) {
    var reader = RowFileReader(.ndjson, rules: rules, limits: limits, mapping: mapping)
    var lines = try DatabaseRows(query) { Task.isCancelled }
    while let piece = try lines.next() { try reader.consume(piece.span, into: &rows) }
    let summary = try reader.finish(into: &rows)
    return (Reading(columns: reader.columns, guess: nil, summary: summary), lines.newest)
  }
}
