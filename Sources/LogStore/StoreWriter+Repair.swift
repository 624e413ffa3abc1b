import RecordFormat
import Storage

extension StoreWriter {
  /// Verifies a store, and writes what can be saved of a damaged one into a new generation; see ``Repair``.
  static func repair(
    _ location: StoreLocation, schema: Schema, waiting milliseconds: Int,
    findingFaulty findFaulty: (Snapshot) throws -> [FaultyRow], state makeState: Repair.StateMaker
  ) throws -> Repair? {
    let file = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
    guard let file else { return nil }
    try Repair.checkVersion(of: file)
    let lock = try lock(location, milliseconds)
    let writer = StoreWriter(repairing: location, schema: schema, lock: lock)
    defer { writer.close() }
    guard let verification = try Verification.run(location) else { return nil }
    let snapshot = verification.findings.isEmpty ? try StoreReader.open(location)?.snapshot : nil
    let faulty = try snapshot.map { try findFaulty($0) } ?? []
    var repair = Repair(findings: verification.findings + faulty.map(\.finding))
    if repair.findings.isEmpty { return repair }
    // Whoever held the lock before may have put another file in its place.
    guard let damaged = try storage({ () throws(StorageError) in try location.openDamaged() }) else { return nil }
    writer.namedFile = damaged.identity
    var salvage = try Salvage(damaged, schema: schema)
    salvage.leaveOut(faulty)
    let manifest = try schema.adopt(salvage.manifest?.withoutRows ?? schema.manifest, path: file.path)
    let transaction = try writer.beginGeneration(
      sequence: salvage.sequence + 1, manifest: manifest, after: salvage.generation)
    var losses: [Finding] = []
    repair.snapshot = try writer.commit(filling: transaction, keepsPrevious: false) { transaction in
      losses = try salvage.copyRows(to: transaction)
      transaction.state = try makeState(
        salvage.state, losses.isEmpty, transaction.currentManifest.tables.map { Int(clamping: $0.liveRows) })
    } accept: { _ in
      repair.damagedPath = try writer.keepDamaged(damaged)
    }
    repair.losses = losses
    return repair
  }

  /// Gives the damaged log a second name that is free, durably; where links cannot be made, a copy.
  private func keepDamaged(_ file: any StorageFile) throws(StoreError) -> String {
    try storage { () throws(StorageError) in
      let directory = location.directory
      var number = 1
      while try directory.identity(of: location.damaged(number)) != nil { number += 1 }
      let name = location.damaged(number)
      do throws(StorageError) { try directory.link(location.log, to: name) } catch {
        guard let copy = try directory.open(name, .create) else { throw error }
        try copy.copyByReading(0..<Int.max, from: file.named)
        try copy.sync()
      }
      try directory.sync()
      return directory.path + "/" + name
    }
  }
}
