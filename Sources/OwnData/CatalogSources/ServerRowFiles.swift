import CatalogFiles
import Platform
import RowFiles
import ServerAnswers

/// Files with rows as the server sends them: NDJSON, plain or gzip, which the first bytes show.
///
/// A file whose first line has `type` as its first key is a dump, and may hold all kinds of row. Fields of a wrong type
/// get their default value and are counted, as in an answer of the server.
struct ServerRowFiles {
  /// The path of the file with the products, or of a dump.
  var products: String
  /// The path of the file with the relations; `nil` if there are none, or if the first file is a dump that has them.
  var relations: String?
  /// The path of the file with the codes; `nil` if there are none, or if the first file is a dump that has them.
  var codes: String?

  /// Reads all rows of the files. Memory: one chunk, and one line.
  ///
  /// - Throws: ``FileOfRowsError``, ``SourceUnreadable``; the errors of storing a row; `CancellationError` if the task is cancelled.
  func load(into rows: inout CatalogImport) throws -> SourceDecoding.Reading {
    rows.requiresIDs = true
    var reading = SourceDecoding.Reading(columns: [], guess: nil, summary: RowFileSummary())
    try load(products, as: .products, into: &rows, &reading)
    if let relations { try load(relations, as: .relations, into: &rows, &reading) }
    if let codes { try load(codes, as: .codes, into: &rows, &reading) }
    return reading
  }

  private func load(
    _ path: String, as kind: RowLines.Kind, into rows: inout CatalogImport, _ reading: inout SourceDecoding.Reading
  ) throws {
    do {
      let file = try SequentialFile(path)
      var text = SourceReader { try file.next() }
      var lines: RowLines?
      while let piece = try text.next() {
        try Task.checkCancellation()
        var reader = lines.take() ?? RowLines(kind: Self.isDump(piece) ? .tagged : kind)
        try reader.consume(piece.span, into: &rows)
        lines = consume reader
      }
      guard var reader = lines.take() else { return }
      let summary = try reader.finish(into: &rows)
      reading.defaulted += summary.defaulted.total
      reading.summary.products += summary.products
      reading.summary.relations += summary.relations
      reading.summary.rows += summary.products + summary.relations + summary.codes
      reading.summary.lines += summary.lines
      reading.summary.bytesIn += summary.bytesIn
    } catch RowFileError.sinkFailed(let cause, _) where !(cause is RowRefusal) {
      throw cause
    } catch let error as RowFileError {
      throw FileOfRowsError(path: path, error: error)
    } catch let error as StorageError {
      throw SourceUnreadable(path: path, code: error.code)
    }
  }

  /// Whether the text begins with an object whose first key is `type`, which no row of the server has.
  private static func isDump(_ text: [UInt8]) -> Bool {
    let marks = text.lazy.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return marks.starts(with: #"{"type":"#.utf8)
  }
}

/// An error in one of several files.
struct FileOfRowsError: Error {
  var path: String
  var error: RowFileError
}
