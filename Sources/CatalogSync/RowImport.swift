public import Catalog
import CatalogRows
public import CatalogWire
import LogStore

/// An import of a person's own file of rows into the catalogue, as a full update: it consumes text as it is read and
/// produces a commit.
///
/// Nothing is lost silently: anything that cannot be read as intended is a fault. All faults are reported together, and
/// then nothing is changed. An import that is dropped or fails changes nothing.
public struct RowImport: ~Copyable {
  private var sink: Sink
  private var reader: RowFileReader

  /// Begins an import, which locks the catalogue until it ends.
  ///
  /// - Parameters:
  ///   - writer: The writer of the catalogue.
  ///   - format: The format of the file.
  ///   - lossLimit: The limit on products that the update may remove.
  ///   - rules: The irregularities that are allowed in the file.
  ///   - mapping: What the columns or keys mean; `nil` if they have the names of the fields.
  /// - Throws: `StoreError`.
  public init(
    _ writer: CatalogWriter, _ format: RowFileFormat, _ lossLimit: LossLimit = LossLimit(),
    rules: RowRules = RowRules(), mapping: RowMapping? = nil
  ) throws {
    reader = RowFileReader(format, rules: rules, mapping: mapping)
    sink = Sink(update: try writer.beginFullUpdate(lossLimit))
  }

  /// The summary of what has been read so far. Lines are counted at the end.
  public var summary: RowFileSummary { reader.summary }

  /// The columns or keys that were found so far, and the fields that they fill.
  public var columns: [RowColumnUse] { reader.columns }

  /// Consumes the next bytes of the text.
  ///
  /// - Throws: `StoreError`. The import has then ended.
  public mutating func consume(_ bytes: Span<UInt8>) throws {
    do { try reader.consume(bytes, into: &sink) } catch { try giveUp(error) }
    // There will be no commit; only check the rest of the file.
    if reader.faultCount > 0 { cancel() }
  }

  /// Ends the file, and replaces the rows of the catalogue by its rows.
  ///
  /// - Parameters:
  ///   - cursor: The cursor for the next request to the server; an empty one requests a full update.
  ///   - willCommit: Called when the file is known to be valid, before the commit begins.
  /// - Returns: The report of the import, which is durable, and the summary of the file.
  /// - Throws: `WireError.rowsRefused` with the faults of the file; `CatalogError.wouldLose` if the loss limit refuses;
  ///   the errors of ``consume(_:)``. Nothing is changed in these cases.
  public mutating func finish(
    cursor: String, _ willCommit: (_ rows: RowFileSummary) throws -> Void = { _ in }
  ) throws -> (update: UpdateReport, rows: RowFileSummary) {
    let summary: RowFileSummary
    do { summary = try reader.finish(into: &sink) } catch { try giveUp(error) }
    do { try willCommit(summary) } catch {
      cancel()
      throw error
    }
    guard let update = sink.update else { preconditionFailure("an import is finished once") }
    sink.update = nil
    return (try update.commit(cursor: cursor), summary)
  }

  /// Cancels the import, which has changed nothing.
  public mutating func cancel() {
    sink.update?.cancel()
    sink.update = nil
  }

  private mutating func giveUp(_ error: WireError) throws -> Never {
    cancel()
    guard case .sinkFailed(let cause, _) = error else { throw error }
    throw cause
  }

  /// A sink that writes rows until there is a fault, and then only checks their size.
  private struct Sink: RowSink {
    var update: FullUpdate?
    private var check = RowSizeCheck()

    init(update: FullUpdate) { self.update = update }

    mutating func product(_ row: borrowing ProductRow) throws {
      do {
        if update == nil { try check.product(row) } else { try update!.product(row) }
      } catch StoreError.tooLarge(let what, let byteCount, let limit) {
        throw Self.refusal(what, byteCount, limit)
      }
    }

    mutating func relation(_ row: borrowing RelationRow) throws {
      do {
        if update == nil { try check.relation(row) } else { try update!.relation(row) }
      } catch StoreError.tooLarge(let what, let byteCount, let limit) {
        throw Self.refusal(what, byteCount, limit)
      }
    }

    private static func refusal(_ what: String, _ byteCount: Int, _ limit: Int) -> RowRefusal {
      RowRefusal("\(what) would take \(byteCount) bytes, and there is room for \(limit)")
    }
  }
}
