import CatalogFiles
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
    /// The number of fields that got their default value because of a wrong type, which only the server's rows may have.
    package var defaulted = 0
    /// What a person should know about a table of codes.
    var notices: [String] = []
  }

  /// The format of a file, of which `text` is the beginning: ``format``, or what the contents and the name say.
  func format(of text: [UInt8], named path: String) -> RowFileFormat {
    format ?? RowFileFormat(of: text, named: path, hasDelimiter: mapping.delimiter != nil)
  }

  /// Reads the text of a file, which may be packed and in any encoding, and passes it to `body`, piece by piece, until
  /// that returns `false`.
  ///
  /// - Returns: The encoding, if it was guessed.
  /// - Throws: `RowFileError`, `SourceError`, the errors of reading and of `body`.
  package func read(_ file: SequentialFile, _ body: ([UInt8]) throws -> Bool) throws -> EncodingGuess? {
    var text = try SourceReader(encoding: encoding, limits: limits) { try file.next() }
    while let piece = try text.next(), try body(piece) {}
    return text.guess
  }

  /// Reads all rows of the file at `path` into a catalogue. Any fault refuses the whole file.
  ///
  /// - Throws: `RowFileError`, `SourceError`, and the errors of reading; `CancellationError` if the task is cancelled.
  func load(_ file: SequentialFile, at path: String, into rows: inout CatalogImport) throws -> Reading {
    try load(format, named: path, into: &rows) { body in try read(file, body) }
  }

  /// Reads all rows of a text, which `read` passes on piece by piece, into a catalogue. Any fault refuses all of them.
  ///
  /// - Parameters:
  ///   - format: The format; `nil` to recognise it in the text.
  ///   - path: The path of the file.
  ///   - rows: The catalogue.
  ///   - read: Passes the text to its argument until that returns `false`, as the rest would change nothing.
  /// - Throws: `RowFileError`, and the errors of `read`; `CancellationError` if the task is cancelled.
  func load(
    _ format: RowFileFormat?, named path: String = "", into rows: inout CatalogImport,
    _ read: (_ body: ([UInt8]) throws -> Bool) throws -> EncodingGuess?
  ) throws -> Reading {
    var reader = RowFileReader(
      format ?? self.format(of: [], named: path), rules: rules, limits: limits, mapping: mapping)
    var isBegun = false
    let guess = try read { piece in
      try Task.checkCancellation()
      if !isBegun, format == nil {
        reader = RowFileReader(self.format(of: piece, named: path), rules: rules, limits: limits, mapping: mapping)
      }
      isBegun = true
      try reader.consume(piece.span, into: &rows)
      // There will be no commit; only check the rest.
      if reader.faultCount > 0 { rows.cancel() }
      return !reader.isOver
    }
    let summary = try reader.finish(into: &rows)
    if reader.speaksOfCodes { rows.speakOfCodes() }
    return Reading(columns: reader.columns, guess: guess, summary: summary)
  }
}
