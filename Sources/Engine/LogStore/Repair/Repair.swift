import Bytes
import Platform
import RecordFormat
import Storage

/// The result of repairing a store.
public struct Repair: Sendable {
  /// The problems that verification found; empty for an undamaged store, which is left unchanged.
  public internal(set) var findings: [Finding]
  /// The data that could not be saved; empty if at most history was lost.
  public internal(set) var losses: [Finding] = []
  /// The new commit; `nil` for an undamaged store.
  public internal(set) var snapshot: Snapshot?
  /// The path to which the damaged file was moved; `nil` for an undamaged store.
  public internal(set) var damagedPath: String?
  /// The older state that the repair restored because no commit of the log could be read; `nil` if rows of the log were
  /// saved.
  public internal(set) var source: RepairSource?

  /// A closure that returns the application's state to store with the saved rows.
  ///
  /// - Parameters:
  ///   - state: The state of the newest commit whose manifest can be read; empty if there is no such commit.
  ///   - isComplete: Whether that commit is the last one and all of its rows were saved.
  ///   - counts: The numbers of saved rows and keys.
  public typealias StateMaker = (_ state: [UInt8], _ isComplete: Bool, _ counts: Counts) throws -> [UInt8]

  /// Verifies a store under the writer's lock and, if it is damaged, writes everything that can be saved into a new
  /// generation.
  ///
  /// A row is saved if its checksum and the checksums of its shared strings are valid, it was committed, and nothing
  /// marks it as dead: neither the newest readable manifest nor any readable tombstone. The damaged file is kept next
  /// to the new one under another name. The sequence number of the new commit is one more than the highest in the file.
  ///
  /// If nothing in the log belongs to a store of this kind, the newest older state next to it becomes current again:
  /// the previous generation or the shared base; see ``source``. The same happens if no manifest can be read, as in a
  /// log that was truncated inside its base, and the older state has more rows than can be saved. A previous generation
  /// that is itself damaged is renamed.
  ///
  /// - Parameters:
  ///   - location: The location of the store.
  ///   - schema: The tables of the store, used if the file no longer contains them.
  ///   - lockTimeout: The time to wait for another writer to finish.
  ///   - setsAside: Whether to rename a log from which nothing can be saved, which leaves a store without a commit.
  ///   - makeState: A closure that returns the application's state for the new generation.
  /// - Returns: The result of the repair, which is durable; `nil` if nothing was ever committed to the store.
  /// - Throws: `StoreError.locked`; `.newer` for a file that a newer version of this package wrote; `.unusable` for one
  ///   that contains nothing of a store; `.io`; any error that `makeState` throws. Nothing was changed in these cases.
  /// - Complexity: Reads the file three times and keeps one word for each row and all shared strings in memory; needs
  ///   disk space for another copy of the live data.
  public static func run(
    _ location: StoreLocation, schema: Schema, lockTimeout: Duration = .zero, setsAside: Bool = false,
    state makeState: StateMaker = { state, _, _ in state }
  ) throws -> Repair? {
    try run(
      location, schema: schema, lockTimeout: lockTimeout, setsAside: setsAside, findingFaulty: { _ in [] },
      state: makeState)
  }

  /// Repairs the store of an application that checks its rows. If verification finds no problem, faulty rows are left
  /// out of the new generation and reported as losses.
  ///
  /// - Parameter findFaulty: A closure that returns the rows that the application cannot read, in a store without
  ///   damage.
  package static func run(
    _ location: StoreLocation, schema: Schema, lockTimeout: Duration, setsAside: Bool = false,
    findingFaulty findFaulty: (Snapshot) throws -> [FaultyRow], state makeState: StateMaker
  ) throws -> Repair? {
    try StoreWriter.repair(
      location, schema: schema, lockTimeout: lockTimeout, setsAside: setsAside, findingFaulty: findFaulty,
      state: makeState)
  }

  /// Returns this repair as the second of two, including the findings and losses of the first.
  package func following(_ first: Repair) -> Repair {
    var both = Repair(findings: first.findings + findings)
    both.losses = first.losses + losses
    both.snapshot = snapshot
    both.damagedPath = first.damagedPath
    both.source = first.source
    return both
  }

  /// Checks that this program can read the version of `file`.
  ///
  /// - Throws: `StoreError.newer` if the header, with a valid checksum, states a version that this program cannot read or
  ///   write. That is not damage.
  static func checkVersion(of file: any StorageFile) throws(StoreError) {
    let bytes: [UInt8]
    do throws(StorageError) { bytes = try file.read(FileHeader.byteCount, at: 0) } catch {
      // A header that cannot be read states no version.
      if error.isUnreadable { return }
      throw .io(error)
    }
    let header: FileHeader
    do { header = try FileHeader(bytes.rawSpan) } catch {
      if error.isNewer { throw .newer(path: file.path, reason: "\(error)") }
      return
    }
    guard header.isWritable else {
      throw .newer(path: file.path, reason: "this program may read it, but not write it")
    }
  }
}

extension Repair {
  /// What a repair has written: the numbers of rows and of their keys.
  public struct Counts: Sendable {
    /// The number of rows of each table.
    public let rows: [Int]
    /// The number of keys of each key space of each table. In a key space of lists a row has any number of them.
    public let keys: [[Int]]

    init(_ transaction: Transaction) {
      rows = transaction.currentManifest.tables.map { Int(clamping: $0.liveRows) }
      keys = transaction.appender.newRows.map { $0.keys.map(\.entries.count) }
    }
  }
}
