public import LogStore

/// What the repair of a catalogue found and did.
public struct CatalogRepair: Sendable {
  /// What verification found; empty for a clean catalogue, which was left as it is.
  public let findings: [Finding]
  /// What could not be saved; empty if nothing but history was lost.
  public let losses: [Finding]
  /// The catalogue as it is now.
  public let snapshot: CatalogSnapshot
  /// Where the damaged file is kept; `nil` for a clean catalogue, and for one whose log was gone.
  public let damagedPath: String?
  /// The older state that is current again, as no commit of the log could be read.
  public let source: RepairSource?

  /// Verifies a catalogue, and writes what can be saved of a damaged one into a new generation.
  ///
  /// Rows that break a rule of the format, such as a product with a text that is not UTF-8, are left out, and lost.
  ///
  /// If anything but history was lost the cursor is emptied: the next synchronisation is then a full update, which brings
  /// back what is missing and takes away what should not be there. Where an older state takes the place of a log in which
  /// nothing can be read, the cursor is that state's, and the next synchronisation goes on from there.
  ///
  /// - Parameters:
  ///   - location: which catalogue.
  ///   - waiting: how long to wait for a writer to finish.
  /// - Returns: what was done, durable; `nil` if nothing was ever committed.
  /// - Throws: `CatalogError.unknownState`; as `Repair.run` of LogStore. Nothing changed then.
  public static func run(_ location: StoreLocation, waiting: Duration = .zero) throws -> CatalogRepair? {
    guard var repair = try repairOnce(location, waiting: waiting) else { return nil }
    // Whether the application can read its rows is looked at in a store that is whole.
    if repair.snapshot != nil, let again = try repairOnce(location, waiting: waiting), again.snapshot != nil {
      repair = again.following(repair)
    }
    let snapshot =
      try repair.snapshot.map { try CatalogSnapshot($0) } ?? CatalogReader.open(location)?.snapshot() ?? .empty
    return CatalogRepair(
      findings: repair.findings.map(\.inCatalogueWords), losses: repair.losses.map(\.inCatalogueWords),
      snapshot: snapshot, damagedPath: repair.damagedPath, source: repair.source)
  }

  private static func repairOnce(_ location: StoreLocation, waiting: Duration) throws -> Repair? {
    try Repair.run(
      location, schema: CatalogSchema.schema, waiting: waiting,
      findingFaulty: { try CatalogSnapshot.faultyRows(in: $0) }
    ) { bytes, isComplete, rowCounts in
      guard var state = CatalogState(bytes) else {
        throw CatalogError.unknownState(path: "the newest commit that can be read")
      }
      if !isComplete { state.cursor = "" }
      state.mode = .repair
      state.counts = UpdateCounts()
      state.counts.relationsWritten = rowCounts[CatalogSchema.relations]
      return state.encoded
    }
  }
}

extension StoreLocation {
  /// The older states next to a catalogue from which a repair goes on when nothing in the catalogue can be read, the
  /// newest first.
  ///
  /// - Throws: `StoreError.io`.
  /// - Complexity: As opening the catalogue, once for each.
  public func catalogueRepairSources() throws(StoreError) -> [RepairSource] { try repairSources(CatalogSchema.schema) }
}
