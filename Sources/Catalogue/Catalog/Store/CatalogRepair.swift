public import LogStore

/// The result of repairing a catalogue.
public struct CatalogRepair: Sendable {
  /// The problems that verification found; empty for an undamaged catalogue, which is left unchanged.
  public let findings: [Finding]
  /// The data that could not be saved; empty if at most history was lost.
  public let losses: [Finding]
  /// The catalogue after the repair.
  public let snapshot: CatalogSnapshot
  /// The path to which the damaged file was moved; `nil` for an undamaged catalogue and for one whose log was missing.
  public let damagedPath: String?
  /// The older state that the repair restored because no commit of the log could be read.
  public let source: RepairSource?

  /// Verifies a catalogue and, if it is damaged, writes everything that can be saved into a new generation.
  ///
  /// Rows that break a rule of the format, for example a product with a text that is not UTF-8, are left out and lost.
  ///
  /// If anything but history was lost, the cursor is emptied. The next synchronisation is then a full update, which
  /// restores missing rows and removes wrong ones. If no commit of the log can be read and an older state replaces it,
  /// the cursor is the one of that state, and the next synchronisation continues from there.
  ///
  /// - Parameters:
  ///   - location: The location of the catalogue.
  ///   - lockTimeout: The time to wait for another writer to finish.
  ///   - indexes: The indexes that the repaired catalogue has in addition to those by id and barcode. It lacks them if
  ///     there is no room for another copy.
  /// - Returns: The result of the repair, which is durable; `nil` if nothing was ever committed.
  /// - Throws: `CatalogError.unknownState`; the errors of `Repair.run` of LogStore. Nothing was changed in this case.
  public static func run(
    _ location: StoreLocation, lockTimeout: Duration = .zero, indexes: CatalogIndexes = .standard
  ) throws -> CatalogRepair? {
    let schema = CatalogSchema.schema(with: indexes)
    guard var repair = try repairOnce(location, schema, lockTimeout: lockTimeout) else { return nil }
    // A second pass checks the rows against the catalogue's own rules. It needs an undamaged store.
    if repair.snapshot != nil, let again = try repairOnce(location, schema, lockTimeout: lockTimeout),
      again.snapshot != nil
    {
      repair = again.following(repair)
    }
    let snapshot =
      try repair.snapshot.map { try withIndexes(indexes, CatalogSnapshot($0), location, lockTimeout) }
      ?? CatalogReader.open(location)?.snapshot() ?? .empty
    return CatalogRepair(
      findings: repair.findings.map(\.inCatalogueWords), losses: repair.losses.map(\.inCatalogueWords),
      snapshot: snapshot, damagedPath: repair.damagedPath, source: repair.source)
  }

  /// Returns the repaired catalogue with the ordered indexes, which a repair of rows leaves out. They are written by a
  /// compaction; if that fails, the catalogue is as the repair left it.
  private static func withIndexes(
    _ indexes: CatalogIndexes, _ repaired: CatalogSnapshot, _ location: StoreLocation, _ lockTimeout: Duration
  ) throws -> CatalogSnapshot {
    let wanted = indexes.names
    let present = repaired.store?.orderedIndexes(of: CatalogSchema.products) ?? []
    if wanted.allSatisfy(present.contains) { return repaired }
    guard let writer = try? CatalogWriter(location, lockTimeout: lockTimeout, indexes: indexes) else { return repaired }
    defer { writer.close() }
    return (try? writer.compact()) ?? repaired
  }

  private static func repairOnce(
    _ location: StoreLocation, _ schema: Schema, lockTimeout: Duration
  ) throws -> Repair? {
    try Repair.run(
      location, schema: schema, lockTimeout: lockTimeout,
      findingFaulty: { try CatalogSnapshot.faultyRows(in: $0) }
    ) { bytes, isComplete, counts in
      guard var state = CatalogState(bytes) else {
        throw CatalogError.unknownState(path: "the newest commit that can be read")
      }
      if !isComplete { state.cursor = "" }
      state.mode = .repair
      state.publication = state.publication?.withoutSum
      state.counts = UpdateCounts()
      state.counts.relationsWritten = counts.rows[CatalogSchema.relations]
      let codes = CatalogSchema.codesByCode
      state.codeCount = codes.table < counts.keys.count ? counts.keys[codes.table][codes.index] : 0
      return state.encoded
    }
  }
}

extension StoreLocation {
  /// Returns the older states next to a catalogue that a repair can restore when nothing in the catalogue can be read,
  /// newest first.
  ///
  /// - Throws: `StoreError.io`.
  /// - Complexity: As opening the catalogue, once for each state.
  package func catalogueRepairSources() throws(StoreError) -> [RepairSource] { try repairSources(CatalogSchema.schema) }
}
