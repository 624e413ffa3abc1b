package import CatalogWire
import Foundation
import RowSources

/// How a person's own file becomes rows: its format, its encoding and the meaning of its columns, as for an import.
package struct OriginDecoding: Sendable {
  /// How the file is written.
  package var format: RowFileFormat
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
    format: RowFileFormat, rules: RowRules = RowRules(), mapping: RowMapping = RowMapping(), encoding: String? = nil,
    limits: WireLimits = WireLimits()
  ) {
    self.format = format
    self.rules = rules
    self.mapping = mapping
    self.encoding = encoding
    self.limits = limits
  }

  /// What was recognised in a file.
  struct Reading: Sendable {
    var columns: [RowColumnUse]
    /// The encoding, if it was guessed.
    var guess: EncodingGuess?
    var summary: RowFileSummary
  }

  /// Reads all rows of `file`. Any fault refuses the whole file.
  ///
  /// - Throws: `WireError`, `SourceError`, and the errors of reading.
  func load(_ file: FileHandle, into rows: inout OriginRows) throws -> Reading {
    var reader = RowFileReader(format, rules: rules, limits: limits, mapping: mapping)
    var unpacker = OptionalGzip(limits: limits)
    var text = try SourceText(
      encoding: encoding,
      limits: SourceLimits(
        unpackedByteCount: limits.unpackedByteCount, unpackedRatio: limits.unpackedRatio,
        absoluteByteCount: limits.absoluteByteCount))
    while let data = try file.read(upToCount: 256 << 10), !data.isEmpty {
      var packed = Array(data)[...]
      while !packed.isEmpty {
        let piece = try text.decode(try unpacker.unpack(Array(packed.prefix(OptionalGzip.stepByteCount))))
        packed = packed.dropFirst(OptionalGzip.stepByteCount)
        try reader.consume(piece.span, into: &rows)
      }
    }
    var rest = try text.decode(try unpacker.finish())
    rest += try text.finish()
    try reader.consume(rest.span, into: &rows)
    let summary = try reader.finish(into: &rows)
    return Reading(columns: reader.columns, guess: text.guess, summary: summary)
  }

  /// Reads all rows of a database. Any fault refuses all of them.
  ///
  /// - Returns: What was recognised, and the greatest value of the column that shows newer rows.
  /// - Throws: `WireError`, `DatabaseError`, and the errors of `rows`.
  func load(_ query: DatabaseQuery, into rows: inout OriginRows) throws -> (Reading, newest: String?) {
    var reader = RowFileReader(.ndjson, rules: rules, limits: limits, mapping: mapping)
    var lines = try DatabaseRows(query) { Task.isCancelled }
    while let piece = try lines.next() { try reader.consume(piece.span, into: &rows) }
    let summary = try reader.finish(into: &rows)
    return (Reading(columns: reader.columns, guess: nil, summary: summary), lines.newest)
  }
}
