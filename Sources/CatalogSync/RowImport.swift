public import Catalog
import CatalogRows
public import CatalogWire
import LogStore

/// A person's file of rows on its way into the catalogue, as a full update: text goes in as it is read, a commit comes out.
///
/// Nothing is lost silently: what cannot be taken as it is meant is a fault, all faults are told together, and nothing
/// changes then. An import that is dropped or fails changes nothing.
public struct RowImport: ~Copyable {
  private var sink: Sink
  private var reader: RowFileReader

  /// Begins an import, which locks the catalogue until it ends.
  ///
  /// - Parameters:
  ///   - writer: The writer of the catalogue.
  ///   - format: The format of the file.
  ///   - gate: What the update may lose.
  ///   - rules: What the file may hold that is not a sound row.
  /// - Throws: `StoreError`.
  public init(
    _ writer: CatalogWriter, _ format: RowFileFormat, _ gate: LossGate = LossGate(), rules: RowRules = RowRules()
  ) throws {
    reader = RowFileReader(format, rules: rules)
    sink = Sink(update: try writer.beginFullUpdate(gate))
  }

  /// What was read so far; lines are counted at the end.
  public var summary: RowFileSummary { reader.summary }

  /// Takes the next bytes of the text.
  ///
  /// - Throws: `StoreError`. The import is then over.
  public mutating func consume(_ bytes: Span<UInt8>) throws {
    do { try reader.consume(bytes, into: &sink) } catch { try giveUp(error) }
    // There will be no commit; the rest of the file is only checked.
    if reader.faultCount > 0 { cancel() }
  }

  /// Ends the file, and replaces the rows of the catalogue by its rows.
  ///
  /// - Parameters:
  ///   - cursor: What the next request to the server says; an empty one asks for everything.
  ///   - willCommit: Called when the file is known to be good, before the commit begins.
  /// - Returns: What was done, and is durable; and what the file held.
  /// - Throws: `WireError.rowsRefused` with what is wrong in the file; `CatalogError.wouldLose` if the gate refuses; as
  ///   ``consume(_:)``. Nothing changed then.
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

  /// Gives the import up; nothing changed.
  public mutating func cancel() {
    sink.update?.cancel()
    sink.update = nil
  }

  private mutating func giveUp(_ error: WireError) throws -> Never {
    cancel()
    guard case .sinkFailed(let cause, _) = error else { throw error }
    throw cause
  }

  /// Writes rows for as long as they may count, and then only checks their size.
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
