import Catalog
import ServerAnswers

/// A full update in progress: its rows are written as they are decoded, and a second thread decompresses the response.
///
/// The first error ends it and discards the rows already written.
struct IncomingFullUpdate: ~Copyable {
  private var update: FullUpdate
  private var decoder: ConcurrentResponseDecoder

  /// - Throws: `StoreError`, `WireError.outOfMemory`.
  init(_ writer: CatalogWriter, _ options: ImportOptions) throws {
    let update = try writer.beginFullUpdate(options.lossLimit, rowLimits: options.rowLimits)
    do {
      decoder = try ConcurrentResponseDecoder(
        limits: options.limits, allowsBarePayload: options.allowsBarePayload, extraKeys: options.extraKeys)
    } catch {
      update.cancel()
      throw error
    }
    self.update = update
  }

  /// The decoder's progress.
  var progress: WireProgress { decoder.progress }

  /// Consumes the next bytes of the response.
  ///
  /// - Throws: The errors of `AnswerImport.consume(_:)`.
  mutating func consume(_ bytes: Span<UInt8>) throws {
    do throws(WireError) { try decoder.consume(bytes, into: &update) } catch {
      update.cancel()
      throw error.cause
    }
  }

  /// Ends the response.
  ///
  /// - Parameter willCommit: Called when the response is known to be valid.
  /// - Throws: The errors of `AnswerImport.finish(_:)` and of `willCommit`.
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

  /// Commits a complete response.
  ///
  /// - Parameter summary: The result of ``finish(_:)``.
  consuming func commit(_ summary: PayloadSummary) throws -> ImportReport {
    let update = try self.update.commit(cursor: summary.updateTime, defaulted: summary.defaulted.total)
    return ImportReport(update: update, payload: summary)
  }

  /// Cancels the update, which has changed nothing.
  consuming func cancel() { update.cancel() }
}
