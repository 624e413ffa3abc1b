public import Catalog
package import CatalogRows
import LogStore
public import RowFiles
import ServerAnswers

/// An import of a person's own file of rows into the catalogue, as a full update or as the difference between the two:
/// it consumes text as it is read and produces a commit.
///
/// Nothing is lost silently: anything that cannot be read as intended is a fault. All faults are reported together, and
/// then nothing is changed. An import that is dropped or fails changes nothing.
public struct RowImport: ~Copyable {
  /// What the rows of the file are.
  public enum Mode: Sendable {
    /// The whole catalogue.
    case replace
    /// Rows to add to the catalogue, or to replace in it.
    case upsert
    /// The whole catalogue, of which only the difference is written.
    case difference
  }

  private var rows: CatalogImport
  private var reader: RowFileReader
  /// The summary of the products, while a table of codes is read.
  private var products: RowFileSummary?
  /// What a difference changes; `nil` for a full update, and before ``finish(cursor:_:)``.
  public var counts: MergeCounts? { rows.counts }

  /// Begins an import, which locks the catalogue until it ends.
  ///
  /// - Parameters:
  ///   - writer: The writer of the catalogue.
  ///   - format: The format of the file.
  ///   - mode: What the rows are.
  ///   - lossLimit: The limit on products that the update may remove.
  ///   - rules: The irregularities that are allowed in the file.
  ///   - mapping: What the columns or keys mean; `nil` if they have the names of the fields.
  /// - Throws: `StoreError`.
  public init(
    _ writer: CatalogWriter, _ format: RowFileFormat, _ mode: Mode = .replace, _ lossLimit: LossLimit = LossLimit(),
    rules: RowRules = RowRules(), mapping: RowMapping? = nil
  ) throws {
    reader = RowFileReader(format, rules: rules, mapping: mapping)
    rows = try CatalogImport(writer, mode, lossLimit, matchesCodes: rules.matchesCodes)
    rows.quantities = CodeQuantities()
  }

  /// The summary of what has been read so far. Lines are counted at the end.
  public var summary: RowFileSummary { reader.summary }

  /// The columns or keys that were found so far, and the fields that they fill.
  public var columns: [RowColumnUse] { reader.columns }

  /// The byte between two fields of a table; `nil` for a format without columns, and until it is recognised.
  public var delimiter: UInt8? { reader.delimiter }

  /// Whether the rest of the file would change nothing: ``finish(cursor:_:)`` throws, and a caller need not read on.
  package var isOver: Bool { reader.isOver }

  /// Consumes the next bytes of the text.
  ///
  /// - Throws: `StoreError`. The import has then ended.
  public mutating func consume(_ bytes: Span<UInt8>) throws {
    do { try reader.consume(bytes, into: &rows) } catch { try giveUp(error) }
    // There will be no commit; only check the rest of the file.
    if reader.faultCount > 0 { cancel() }
  }

  /// Notes that all text was consumed, so that ``columns`` are known before ``finish(cursor:_:)``.
  ///
  /// - Throws: As ``consume(_:)``.
  package mutating func settle() throws {
    do { try reader.settle(into: &rows) } catch { try giveUp(error) }
    if reader.faultCount > 0 { cancel() }
  }

  /// Announces a table of codes, which follows the products. Call it before the first row is consumed.
  ///
  /// - Parameter field: The field of the product that the table names.
  /// - Throws: `StoreError`.
  package mutating func expectCodes(joinedBy field: ProductField) throws { try rows.expectCodes(joinedBy: field) }

  /// Takes the codes among the rows as those of the table of codes that was announced, as a database sends them.
  package mutating func joinCodes() { rows.joinsCodes = true }

  /// Ends the file of products. What is consumed now is the table of codes that was announced.
  ///
  /// - Parameters:
  ///   - format: The format of the table.
  ///   - rules: The irregularities that are allowed in it.
  ///   - mapping: What its columns mean.
  /// - Throws: `RowFileError.refused` with the faults of the products; the errors of ``consume(_:)``.
  package mutating func beginCodes(_ format: RowFileFormat, rules: RowRules, mapping: RowMapping) throws {
    do { products = try reader.finish(into: &rows) } catch { try giveUp(error) }
    if reader.speaksOfCodes { rows.speakOfCodes() }
    rows.joinsCodes = true
    reader = RowFileReader(format, rules: rules, mapping: mapping)
  }

  /// The number of codes of the table whose product is not there, and the first of them.
  package var orphans: (count: Int, first: (code: String, product: String)?) { rows.orphans }

  /// The summary of the table of codes, after ``finish(cursor:_:)``; `nil` if there is none.
  package private(set) var codeSummary: RowFileSummary?

  /// Ends the file, and commits its rows. A difference without any change writes nothing.
  ///
  /// - Parameters:
  ///   - cursor: The cursor for the next request to the server; an empty one requests a full update. `nil` is an empty
  ///     one for a full update, and the one that the catalogue has for a difference.
  ///   - willCommit: Called when the file is known to be valid and to change something, before the commit begins.
  /// - Returns: The report of the import, which is durable, and the summary of the file.
  /// - Throws: `RowFileError.refused` with the faults of the file; `CatalogError.wouldLose` if the loss limit refuses;
  ///   the errors of ``consume(_:)``. Nothing is changed in these cases.
  public mutating func finish(
    cursor: String?, _ willCommit: (_ rows: RowFileSummary) throws -> Void = { _ in }
  ) throws -> (update: UpdateReport, rows: RowFileSummary) {
    try finish(cursor: cursor, checking: { _, _ in }) { rows, _ in try willCommit(rows) }
  }

  /// The same, with a check of what the rows are about, before anything is committed. `willCommit` also receives the
  /// summary of a table of codes.
  package mutating func finish(
    cursor: String?, checking: (_ rows: RowFileSummary, _ counts: MergeCounts) throws -> Void,
    _ willCommit: (_ rows: RowFileSummary, _ codes: RowFileSummary?) throws -> Void
  ) throws -> (update: UpdateReport, rows: RowFileSummary) {
    var summary: RowFileSummary
    do { summary = try reader.finish(into: &rows) } catch { try giveUp(error) }
    if reader.speaksOfCodes { rows.speakOfCodes() }
    if let products { (codeSummary, summary) = (summary, products) }
    let (rowsRead, codesRead) = (summary, codeSummary)
    let update = try rows.finish(
      cursor: cursor, { try willCommit(rowsRead, codesRead) }, checking: { try checking(rowsRead, $0) })
    return (update, summary)
  }

  /// Cancels the import, which has changed nothing.
  public mutating func cancel() { rows.cancel() }

  private mutating func giveUp(_ error: RowFileError) throws -> Never {
    cancel()
    guard case .sinkFailed(let cause, _) = error else { throw error }
    throw cause
  }
}
