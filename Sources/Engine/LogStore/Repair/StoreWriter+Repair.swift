import Platform
import RecordFormat
import Storage

extension StoreWriter {
  /// Verifies a store and writes what can be saved of a damaged one into a new generation; see ``Repair``.
  static func repair(
    _ location: StoreLocation, schema: Schema, lockTimeout: Duration, setsAside: Bool,
    findingFaulty findFaulty: (Snapshot) throws -> [FaultyRow], state makeState: Repair.StateMaker
  ) throws -> Repair? {
    let file = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
    if let file { try Repair.checkVersion(of: file) }
    let lock = try lock(location, lockTimeout)
    let writer = StoreWriter(repairing: location, schema: schema, lock: lock)
    defer { writer.close() }
    let previous = try Verification.findingsInPrevious(location) ?? []
    guard file != nil else {
      if try location.previousByteCount() == 0 {
        // The name may belong to something that is not a regular file.
        if previous.isEmpty { return nil }
        var repair = Repair(findings: previous)
        repair.losses = previous
        repair.damagedPath = try location.setAsidePrevious()
        return repair
      }
      return try writer.restore(Repair(findings: [location.missingLog]), makeState)
    }
    guard let verification = try Verification.run(location) else { return nil }
    var findings = verification.findings
    var faulty: [FaultyRow] = []
    if findings.isEmpty, let other = try location.otherKind(than: schema) { findings = [other] }
    if findings.isEmpty, let snapshot = try StoreReader.open(location)?.snapshot {
      faulty = try findFaulty(snapshot)
      findings = faulty.map(\.finding)
    }
    let isSound = findings.isEmpty
    var repair = Repair(findings: findings + previous)
    if repair.findings.isEmpty { return repair }
    if isSound {
      repair.damagedPath = try location.setAsidePrevious()
      repair.losses = previous
      repair.snapshot = try StoreReader.open(location)?.snapshot
      return repair
    }
    var repaired: Repair?
    do { repaired = try writer.salvage(repair, leavingOut: faulty, makeState) } catch let error as StoreError {
      switch error {
      case .unusable where setsAside, .schema where setsAside:
        repair.damagedPath = try location.setAsideLog()
        repair.losses = findings.map { Finding(path: $0.path, offset: $0.offset, what: $0.what, lost: "everything") }
        repaired = repair
      default: throw error
      }
    }
    if !previous.isEmpty { _ = try location.setAsidePrevious() }
    return repaired
  }

  /// Writes the rows that can be saved into a new generation. If no row can be saved, restores an older state.
  private func salvage(
    _ found: Repair, leavingOut faulty: [FaultyRow], _ makeState: Repair.StateMaker
  ) throws -> Repair? {
    var repair = found
    // The previous owner of the lock may have replaced the file.
    guard let damaged = try storage({ () throws(StorageError) in try location.openDamaged() }) else { return nil }
    namedFile = damaged.identity
    var salvage: Salvage
    do { salvage = try Salvage(damaged, schema: schema, keys: location.keys) } catch {
      switch error {
      // Nothing in the file belongs to a store, or to a store of this kind.
      case .unusable, .schema:
        guard let restored = try restore(repair, makeState) else { throw error }
        return restored
      default: throw error
      }
    }
    salvage.exclude(faulty)
    damagedIsSealed = salvage.isSealed
    // Without a manifest no commit of the log can be established: the rows found are at best a part of one.
    let alternative = salvage.manifest == nil ? try? location.repairSources(schema).first : nil
    let after = try location.numbersAfterPrevious()
    // Tables that contradict the tables of this kind of store are part of the damage.
    let stored = salvage.manifest.flatMap { try? schema.adopt($0.withoutRows, path: damaged.path) }
    // A salvaged row is not one of a snapshot, from which keys of ordered indexes could be derived.
    var manifest = (stored ?? schema.manifest).withoutOrderedIndexes
    if stored == nil { manifest.tables += salvage.tables(after: manifest.tables.count) }
    let transaction = try beginGeneration(
      sequence: max(salvage.sequence, after.sequence) + 1, manifest: manifest,
      after: max(salvage.generation, after.generation))
    var losses: [Finding] = []
    do {
      repair.snapshot = try commit(filling: transaction, keepsPrevious: false) { transaction in
        losses = try salvage.copyRows(to: transaction)
        let counts = Repair.Counts(transaction)
        if let older = alternative?.snapshot.manifest.tables.map({ Int(clamping: $0.liveRows) }),
          counts.rows.reduce(0, +) < older.reduce(0, +)
        {
          throw OlderStateHasMore()
        }
        transaction.state = try makeState(salvage.state, losses.isEmpty, counts)
      } accept: { _ in
        repair.damagedPath = try keepDamaged(damaged)
      }
    } catch is OlderStateHasMore {
      guard let restored = try restore(repair, makeState) else { preconditionFailure("there was an older state") }
      return restored
    }
    repair.losses = losses
    return repair
  }

  /// A log without an identifiable commit yields fewer rows than an older state has.
  private struct OlderStateHasMore: Error {}

  /// Makes the newest older state of the store current again, because nothing in its log can be read.
  ///
  /// - Returns: The repair; `nil` if there is no older state.
  private func restore(_ found: Repair, _ makeState: Repair.StateMaker) throws -> Repair? {
    guard let source = try location.repairSources(schema).first else { return nil }
    var repair = found
    let old = source.snapshot
    let highest = try location.highestNumbers()
    let manifest = try schema.manifest(replacing: old.manifest, path: old.path)
    let transaction = try beginGeneration(
      sequence: max(highest.sequence, old.sequence) + 1, manifest: manifest,
      after: max(highest.generation, old.generation), makesRoom: false)
    let damaged = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
    namedFile = damaged?.identity
    repair.snapshot = try commit(filling: transaction, keepsPrevious: false) { transaction in
      try transaction.copyRows(of: old)
      // All rows belong to one commit, and its state matches them.
      transaction.state = try makeState(old.state, true, Repair.Counts(transaction))
    } accept: { _ in
      if let damaged { repair.damagedPath = try keepDamaged(damaged) }
    }
    repair.source = source
    return repair
  }

  /// Gives the damaged log a second, unused name, durably. If links are not supported, the log is copied.
  func keepDamaged(_ file: any StorageFile) throws(StoreError) -> String {
    try storage { () throws(StorageError) in
      let directory = location.directory
      let name = try location.freeDamagedName()
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

extension StoreLocation {
  /// Throws an error for a store without a log whose previous generation is kept: the log was removed by hand. The
  /// store would otherwise look like one to which nothing was ever committed, and the first full update would replace
  /// the kept generation.
  ///
  /// - Throws: `StoreError.damaged`, `.io`.
  /// - Complexity: One system call.
  func checkLogNotRemoved() throws(StoreError) {
    if try previousByteCount() > 0 { throw .damaged(path: path, offset: 0, what: missingLog.what) }
  }

  /// The finding for a store that has a previous generation but no log.
  package var missingLog: Finding {
    Finding(
      path: path, offset: 0, what: "there is no such file, though the generation before it is kept",
      lost: "everything after that")
  }

  /// Returns the finding for a store whose log is valid but has tables other than `schema`; `nil` if it has these
  /// tables.
  func otherKind(than schema: Schema) throws(StoreError) -> Finding? {
    guard let snapshot = try StoreReader.open(self)?.snapshot else { return nil }
    do { _ = try schema.adopt(snapshot.manifest, path: path) } catch {
      return Finding(path: path, offset: 0, what: "it is another kind of store: \(error)", lost: "everything")
    }
    return nil
  }
}
