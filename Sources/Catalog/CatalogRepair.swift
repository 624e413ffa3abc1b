public import LogStore

/// What the repair of a catalogue found and did.
public struct CatalogRepair: Sendable {
  /// What verification found; empty for a clean catalogue, which was left as it is.
  public let findings: [Finding]
  /// What could not be saved; empty if nothing but history was lost.
  public let losses: [Finding]
  /// The catalogue as it is now.
  public let snapshot: CatalogSnapshot
  /// Where the damaged file is kept; `nil` for a clean catalogue.
  public let damagedPath: String?

  /// Verifies a catalogue, and writes what can be saved of a damaged one into a new generation.
  ///
  /// If anything but history was lost the cursor is emptied: the next synchronisation is then a full update, which brings
  /// back what is missing and takes away what should not be there.
  ///
  /// - Parameters:
  ///   - location: which catalogue.
  ///   - milliseconds: how long to wait for a writer to finish.
  /// - Returns: what was done, durable; `nil` if nothing was ever committed.
  /// - Throws: `CatalogError.unknownState`; as `Repair.run` of LogStore. Nothing changed then.
  public static func run(_ location: StoreLocation, waiting milliseconds: Int = 0) throws -> CatalogRepair? {
    let repair = try Repair.run(location, schema: CatalogSchema.schema, waiting: milliseconds) {
      bytes, isComplete, rowCounts in
      guard var state = CatalogState(bytes) else {
        throw CatalogError.unknownState(path: "the newest commit that can be read")
      }
      if !isComplete { state.cursor = "" }
      state.mode = .repair
      state.counts = UpdateCounts()
      state.counts.relationsWritten = rowCounts[CatalogSchema.relations]
      return state.encoded
    }
    guard let repair else { return nil }
    let snapshot =
      try repair.snapshot.map { try CatalogSnapshot($0) } ?? CatalogReader.open(location)?.snapshot() ?? .empty
    return CatalogRepair(
      findings: repair.findings.map(\.inCatalogueWords), losses: repair.losses.map(\.inCatalogueWords),
      snapshot: snapshot, damagedPath: repair.damagedPath)
  }
}
