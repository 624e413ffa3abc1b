import Catalog
import CatalogWire

/// An increment while it arrives: its rows are kept in memory.
///
/// Memory: as for `Increment`, bounded by its limits.
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
      writer?.beginIncrement(threshold: options.threshold, rowGate: options.rowGate)
      ?? Increment(threshold: options.threshold, rowGate: options.rowGate)
    decoder = try ResponseDecoder(limits: options.limits, allowsBarePayload: options.allowsBarePayload)
    skipsUnchanged = options.skipsUnchanged
  }

  /// How far the decoder has come.
  var progress: WireProgress { decoder.progress }

  /// Takes the next bytes of the answer.
  ///
  /// - Throws: As `AnswerImport.consume(_:)`.
  mutating func consume(_ bytes: Span<UInt8>) throws {
    do throws(WireError) { try decoder.consume(bytes, into: &increment) } catch { throw error.cause }
  }

  /// Ends the answer.
  ///
  /// - Throws: `WireError` if it is not complete.
  mutating func finish() throws -> PayloadSummary {
    do throws(WireError) { return try decoder.finish() } catch { throw error.cause }
  }

  /// Whether the rows may be committed, as far as is known before that.
  ///
  /// - Throws: `CatalogError.tooManySkipped`, `.wouldCollapse`.
  func checkRows() throws { try increment.checkRows() }

  /// Merges the rows of an answer that is complete, with the writer that the increment was begun with.
  ///
  /// - Parameter summary: What ``finish()`` returned.
  /// - Throws: `CatalogError`, `StoreError`. Nothing changed then.
  consuming func commit(_ summary: PayloadSummary) throws -> ImportReport {
    let update = try increment.commit(
      cursor: summary.updateTime, defaulted: summary.defaulted.total, skipsUnchanged: skipsUnchanged)
    return ImportReport(update: update, payload: summary)
  }

  /// Merges the rows of an answer that is complete.
  ///
  /// - Parameter summary: What ``finish()`` returned.
  /// - Throws: `CatalogError`, `StoreError`. Nothing changed then.
  consuming func commit(to writer: CatalogWriter, _ summary: PayloadSummary) throws -> ImportReport {
    let update = try writer.commit(
      increment, cursor: summary.updateTime, defaulted: summary.defaulted.total, skipsUnchanged: skipsUnchanged)
    return ImportReport(update: update, payload: summary)
  }
}
