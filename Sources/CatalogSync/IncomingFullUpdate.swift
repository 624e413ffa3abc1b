import Catalog
import CatalogWire

/// A full update while it arrives: its rows are written as they are decoded, and a second thread unpacks the answer.
///
/// The first error ends it: the rows that were written are discarded.
struct IncomingFullUpdate: ~Copyable {
  private var update: FullUpdate
  private var decoder: ConcurrentResponseDecoder

  /// - Throws: `StoreError`, `WireError.outOfMemory`.
  init(_ writer: CatalogWriter, _ options: ImportOptions) throws {
    let update = try writer.beginFullUpdate(options.gate, rowGate: options.rowGate)
    do {
      decoder = try ConcurrentResponseDecoder(limits: options.limits, allowsBarePayload: options.allowsBarePayload)
    } catch {
      update.cancel()
      throw error
    }
    self.update = update
  }

  /// How far the decoder has come.
  var progress: WireProgress { decoder.progress }

  /// Takes the next bytes of the answer.
  ///
  /// - Throws: As `AnswerImport.consume(_:)`.
  mutating func consume(_ bytes: Span<UInt8>) throws {
    do throws(WireError) { try decoder.consume(bytes, into: &update) } catch {
      update.cancel()
      throw error.cause
    }
  }

  /// Ends the answer.
  ///
  /// - Parameter willCommit: Called when the answer is known to be good.
  /// - Throws: As `AnswerImport.finish(_:)`; what `willCommit` throws.
  mutating func finish(_ willCommit: () throws -> Void) throws -> PayloadSummary {
    do {
      let summary = try decoder.finish(into: &update)
      try update.checkRows()
      try willCommit()
      return summary
    } catch {
      update.cancel()
      throw (error as? WireError)?.cause ?? error
    }
  }

  /// Commits an answer that is complete.
  ///
  /// - Parameter summary: What ``finish(_:)`` returned.
  consuming func commit(_ summary: PayloadSummary) throws -> ImportReport {
    let update = try self.update.commit(cursor: summary.updateTime, defaulted: summary.defaulted.total)
    return ImportReport(update: update, payload: summary)
  }

  /// Gives the update up; nothing changed.
  consuming func cancel() { update.cancel() }
}
