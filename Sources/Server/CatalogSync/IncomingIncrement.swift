import Catalog
import ServerAnswers

/// An increment in progress: its rows are kept in memory.
///
/// It is a stage of ``AnswerImport``, whose writer stays open. ``Synchronizer`` uses it without a writer, because it
/// opens the catalogue only after the answer has arrived.
///
/// Memory: that of `Increment`, bounded by its limits.
struct IncomingIncrement: ~Copyable {
  private var increment: Increment
  private var decoder: ResponseDecoder
  private let skipsUnchanged: Bool

  /// Begins an increment.
  ///
  /// - Parameter writer: The writer that will commit it; `nil` if the catalogue is opened for writing only when the
  ///   increment is complete.
  /// - Throws: `WireError.outOfMemory`.
  init(_ options: ImportOptions, for writer: CatalogWriter? = nil) throws {
    increment =
      writer?.beginIncrement(threshold: options.threshold, rowLimits: options.rowLimits)
      ?? Increment(threshold: options.threshold, rowLimits: options.rowLimits)
    decoder = try ResponseDecoder(
      limits: options.limits, allowsBarePayload: options.allowsBarePayload, extraKeys: options.extraKeys)
    skipsUnchanged = options.skipsUnchanged
  }

  /// The decoder's progress.
  var progress: WireProgress { decoder.progress }

  /// Consumes the next bytes of the response.
  ///
  /// - Throws: The errors of `AnswerImport.consume(_:)`.
  mutating func consume(_ bytes: Span<UInt8>) throws {
    do throws(WireError) { try decoder.consume(bytes, into: &increment) } catch { throw error.cause }
  }

  /// Ends the response.
  ///
  /// - Throws: `WireError` if it is incomplete.
  mutating func finish() throws -> PayloadSummary {
    do throws(WireError) {
      let summary = try decoder.finish()
      // An answer without a list of codes says nothing about them; an empty list takes those of its products.
      increment.keepsCodes = !summary.hasCodes
      return summary
    } catch { throw error.cause }
  }

  /// Checks whether the rows may be committed, as far as that is known before the commit.
  ///
  /// - Throws: `CatalogError.tooManySkipped`, `.wouldCollapse`.
  func checkRows() throws { try increment.checkRows() }

  /// Merges the rows of a complete response, with the writer that the increment was begun with.
  ///
  /// - Parameter summary: The result of ``finish()``.
  /// - Throws: `CatalogError`, `StoreError`. Nothing is changed in that case.
  consuming func commit(_ summary: PayloadSummary) throws -> ImportReport {
    let update = try increment.commit(
      cursor: summary.updateTime, defaulted: summary.defaulted.total, skipsUnchanged: skipsUnchanged)
    return ImportReport(update: update, payload: summary)
  }

  /// Merges the rows of a complete response.
  ///
  /// - Parameter summary: The result of ``finish()``.
  /// - Throws: `CatalogError`, `StoreError`. Nothing is changed in that case.
  consuming func commit(to writer: CatalogWriter, _ summary: PayloadSummary) throws -> ImportReport {
    let update = try writer.commit(
      increment, cursor: summary.updateTime, defaulted: summary.defaulted.total, skipsUnchanged: skipsUnchanged)
    return ImportReport(update: update, payload: summary)
  }
}
