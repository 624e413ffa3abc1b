import Bytes
import RecordFormat
import Storage

/// What a repair found and did.
public struct Repair: Sendable {
  /// What verification found; empty for a clean store, which was left as it is.
  public internal(set) var findings: [Finding]
  /// What could not be saved: empty if nothing but history was lost.
  public internal(set) var losses: [Finding] = []
  /// The new commit; `nil` for a clean store.
  public internal(set) var snapshot: Snapshot?
  /// Where the damaged file is kept; `nil` for a clean store.
  public internal(set) var damagedPath: String?
  /// The older state that is current again, as no commit of the log could be read; `nil` if rows of the log were saved.
  public internal(set) var source: RepairSource?

  /// What the application stores beside the rows that were saved.
  ///
  /// - Parameters:
  ///   - state: that of the newest commit whose manifest can be read; empty if there is none.
  ///   - isComplete: whether it is the last commit's, and every row of it was saved.
  ///   - rowCounts: rows saved, by table.
  public typealias StateMaker = (_ state: [UInt8], _ isComplete: Bool, _ rowCounts: [Int]) throws -> [UInt8]

  /// Verifies a store under the writer's lock, and where it is damaged writes what can be saved into a new generation.
  ///
  /// A row is saved if its checksum and those of its shared strings hold, it was committed, and nothing says that it is
  /// dead: by the newest manifest that can be read and by all tombstones that can. The damaged file stays beside the new
  /// one under another name. The new commit's number is one more than the highest that anything in the file has.
  ///
  /// Where nothing in the log belongs to a store of this kind, the newest older state next to it becomes current again:
  /// the previous generation, or the shared base; see ``source``. So it does where no manifest can be read, as in a log
  /// that was cut off inside its base, and the older state has more rows than can be saved. A previous generation that is
  /// itself damaged is renamed.
  ///
  /// - Parameters:
  ///   - location: which store.
  ///   - schema: its tables, for what is left of a store that no longer says them.
  ///   - waiting: how long to wait for a writer to finish.
  ///   - setsAside: whether a log of which nothing can be saved is renamed, which leaves a store without a commit.
  ///   - makeState: makes the application's state of the new generation.
  /// - Returns: what was done, durable; `nil` if nothing was ever committed to the store.
  /// - Throws: `StoreError.locked`; `.unusable` for a file that a newer program wrote, or in which nothing belongs to a
  ///   store; `.io`; what `makeState` throws. Nothing changed then.
  /// - Complexity: reads the file three times, keeps a word for each row and all shared strings; needs room for another
  ///   copy of what is live.
  public static func run(
    _ location: StoreLocation, schema: Schema, waiting: Duration = .zero, setsAside: Bool = false,
    state makeState: StateMaker = { state, _, _ in state }
  ) throws -> Repair? {
    try run(
      location, schema: schema, waiting: waiting, setsAside: setsAside, findingFaulty: { _ in [] },
      state: makeState)
  }

  /// The same for an application that checks its rows. If verification finds nothing, rows that are faulty are left out of
  /// the new generation, and are losses.
  ///
  /// - Parameter findFaulty: finds the rows that the application cannot read, in a store that verification finds clean.
  package static func run(
    _ location: StoreLocation, schema: Schema, waiting: Duration, setsAside: Bool = false,
    findingFaulty findFaulty: (Snapshot) throws -> [FaultyRow], state makeState: StateMaker
  ) throws -> Repair? {
    try StoreWriter.repair(
      location, schema: schema, waiting: waiting, setsAside: setsAside, findingFaulty: findFaulty,
      state: makeState)
  }

  /// This repair as the second one of two, with what the first one found and lost.
  package func following(_ first: Repair) -> Repair {
    var both = Repair(findings: first.findings + findings)
    both.losses = first.losses + losses
    both.snapshot = snapshot
    both.damagedPath = first.damagedPath
    both.source = first.source
    return both
  }

  /// - Throws: `StoreError.unusable` for a file whose header says, under a checksum that holds, that this program cannot
  ///   read it: that is no damage.
  static func checkVersion(of file: any StorageFile) throws(StoreError) {
    let bytes: [UInt8]
    do throws(StorageError) { bytes = try file.read(FileHeader.byteCount, at: 0) } catch {
      // A header that cannot be read says nothing.
      if error.isUnreadable { return }
      throw .io(error)
    }
    let header: FileHeader
    do { header = try FileHeader(bytes.rawSpan) } catch {
      switch error {
      case .majorVersion, .features: throw .unusable(path: file.path, reason: "\(error)")
      default: return
      }
    }
    guard header.isWritable else {
      throw .unusable(path: file.path, reason: "a newer program wrote it; this one may only read it")
    }
  }
}
