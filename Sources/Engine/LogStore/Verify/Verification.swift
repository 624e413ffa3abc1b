import Bytes
import Platform
import RecordFormat
import Storage

/// A problem found by verification: its offset, a description, and the data that it affects.
public struct Finding: Sendable, CustomStringConvertible {
  /// The path of the damaged file.
  public let path: String
  /// The start of the damaged structure in bytes.
  public let offset: Int
  /// A description of the problem.
  public let what: String
  /// The data that cannot be read because of the problem; empty if nothing is lost.
  public let lost: String

  /// Creates a finding of an application about rows that are valid for the engine.
  package init(path: String, offset: Int, what: String, lost: String) {
    self.path = path
    self.offset = offset
    self.what = what
    self.lost = lost
  }

  /// The path, offset and problem, and what is lost, which may be nothing.
  public var description: String {
    "\(path): offset \(offset): \(what); lost: \(lost.isEmpty ? "nothing" : lost)"
  }
}

/// The result of reading everything in a log and checking it against its checksums, its own counters and the rules of
/// FORMAT.md. Nothing is changed.
///
/// Structures are read with read calls, so a read error of the disk is an error here. Only the final lookups, which
/// check that each row is found, use a mapping. A finding does not end the verification, which continues as long as
/// structures can be told apart.
public struct Verification: Sendable {
  /// The problems found, in file order; those of a shared base come first.
  public internal(set) var findings: [Finding] = []
  /// The number of commits with a valid segment.
  public private(set) var commitCount = 0
  /// The size of the file.
  public private(set) var byteCount = 0

  let log: LogFile
  /// The names of the last commit's tables.
  var names = RowNames([])
  /// The rows according to the objects read so far.
  var ledger = RowLedger()
  /// Whether all objects so far were read, so that the ledger is exact.
  var isLedgerExact = true

  /// Verifies a store; returns `nil` if nothing was ever committed to it.
  ///
  /// - Throws: `StoreError.io` if the directory or the file cannot be opened.
  /// - Complexity: Reads every byte twice: once for the segment's checksum, and once for the checksums of its
  ///   structures. Looks up each live row by each of its keys. Memory for 8 bytes for each row, and about 16 for each
  ///   shared string and dead row.
  public static func run(_ location: StoreLocation) throws(StoreError) -> Verification? {
    try run(location, keys: location.keys)
  }

  /// Verifies what can be verified without a key: frames, checksums and counters, but not what sealed objects contain.
  /// Of a clear store, that is everything.
  ///
  /// - Throws, complexity: As ``run(_:)``; less if the store is sealed.
  package static func runStructure(_ location: StoreLocation) throws(StoreError) -> Verification? {
    var location = location
    location.keys = .structureOnly
    return try run(location, keys: .structureOnly)
  }

  private static func run(_ location: StoreLocation, keys: LogKeys) throws(StoreError) -> Verification? {
    let file = try storage { () throws(StorageError) in try location.directory.open(location.log, .read) }
    guard let file else { return nil }
    let log: LogFile
    do {
      guard let opened = try LogFile.open(file, at: location, .read) else { return nil }
      log = opened
    } catch {
      guard let finding = Finding(error) else { throw error }
      return Verification(failedWith: finding, in: file)
    }
    var verification = Verification(log)
    try verification.verify()
    return verification
  }

  /// Verifies a store that must have the tables of `schema`.
  ///
  /// - Returns: The problems found; empty for a store without problems, and for one without a commit.
  /// - Throws, complexity: As ``run(_:)``.
  package static func findings(in location: StoreLocation, of schema: Schema) throws(StoreError) -> [Finding] {
    guard let verification = try run(location) else { return [] }
    if !verification.findings.isEmpty { return verification.findings }
    return try location.otherKind(than: schema).map { [$0] } ?? []
  }

  /// Verifies the generation that the last full update replaced; returns `nil` if no such generation is kept.
  ///
  /// - Throws, complexity: As ``run(_:)``.
  package static func runPrevious(_ location: StoreLocation) throws(StoreError) -> Verification? {
    let file = try storage { () throws(StorageError) in try location.directory.open(location.previous, .read) }
    guard let file else { return nil }
    let named = try storage { () throws(StorageError) in try location.directory.identity(of: location.log) }
    // A crash during a full update leaves a second name of the log.
    if named == file.identity { return nil }
    var verification: Verification
    do {
      var log = try LogFile(file, keys: location.keys)
      if let base = log.header.base { log = try log.joined(with: base, at: location) }
      verification = Verification(log)
    } catch {
      guard let finding = Finding(error, lost: "the way back from the last full update") else { throw error }
      return Verification(failedWith: finding, in: file)
    }
    try verification.verify(isReplaced: true)
    return verification
  }

  private init(_ log: LogFile) { self.log = log }

  private init(failedWith finding: Finding, in file: any StorageFile) {
    let unknown = StoreID(0, 0)
    let header = FileHeader(storeID: unknown, seed: HashSeed(0, 0), created: 0, generation: 0)
    log = LogFile(file, header: header, path: file.path)
    findings = [finding]
  }

  /// Verifies the log.
  ///
  /// - Parameter isReplaced: Whether a newer generation has taken the name of the file. Its slots may then have been
  ///   torn while that was recorded in them, and they are no longer needed.
  private mutating func verify(isReplaced: Bool = false) throws(StoreError) {
    byteCount = try log.size()
    let recovery: Recovery
    do { recovery = try log.recover() } catch {
      guard let finding = Finding(error, lost: "this commit and all after it") else { throw error }
      findings.append(finding)
      return
    }
    if !isReplaced { for offset in recovery.corruptSlots { add(offset, "acknowledgement slot", lost: "") } }
    guard let last = recovery.footer else {
      add(SegmentHeader.firstOffset, "no commit", lost: "everything")
      return
    }
    if let manifest = try? log.manifest(of: last) { names = RowNames(manifest.tables) }
    let footers = try footers(upTo: last)
    verify(recovery.slots, footers)
    for footer in footers {
      let before = findings.count
      do { try verify(footer) } catch {
        guard let finding = Finding(error, lost: "the data of commit \(footer.sequence)") else { throw error }
        findings.append(finding)
        isLedgerExact = false
      }
      if findings.count == before { commitCount += 1 }
    }
    if findings.isEmpty { try verifyTables(of: footers) }
    // The remaining checks assume valid structures.
    if findings.isEmpty, log.header.sealing == nil || log.sealing != nil { try verifyIndexes(of: last) }
    findings.sort { ($0.path, $0.offset) < ($1.path, $1.offset) }
  }

  mutating func add(_ offset: Int, _ what: String, lost: String) {
    let location = log.location(of: offset)
    findings.append(Finding(path: location.path, offset: location.offset, what: what, lost: lost))
  }

  /// Returns the footers of all commits up to `last`, oldest first; if a footer is missing, those of the later commits.
  private mutating func footers(upTo last: SegmentFooter) throws(StoreError) -> [SegmentFooter] {
    var footers = [last]
    while let next = footers.last, next.previousFooterOffset != 0 {
      do { footers.append(try log.footer(before: next)) } catch {
        guard let finding = Finding(error, lost: "the history up to it") else { throw error }
        findings.append(finding)
        break
      }
    }
    let first = footers[footers.count - 1]
    if first.previousFooterOffset != 0 {
      isLedgerExact = false
    } else if first.segmentOffset != UInt64(SegmentHeader.firstOffset) {
      add(Int(first.segmentOffset), "the first commit begins here", lost: "the data before it")
      isLedgerExact = false
    }
    return footers.reversed()
  }

  /// Compares the tables of each commit with the tables of the last one. Tables are added to a store but never changed.
  private mutating func verifyTables(of footers: [SegmentFooter]) throws(StoreError) {
    guard let last = footers.last else { return }
    let tables = try log.manifest(of: last).tables
    for footer in footers.dropLast() {
      let earlier = try log.manifest(of: footer).tables
      if earlier.count > tables.count || !zip(earlier, tables).allSatisfy({ $0.hasSameShape(as: $1) }) {
        add(
          Int(clamping: footer.manifestOffset),
          "manifest of commit \(footer.sequence): its tables are not those of commit \(last.sequence)",
          lost: "the way back to commit \(footer.sequence)")
      }
    }
  }

  /// Compares the contents of each valid slot with the commit that it names.
  private mutating func verify(_ slots: [AcknowledgementSlot?], _ footers: [SegmentFooter]) {
    for (slot, offset) in zip(slots, AcknowledgementSlot.offsets) {
      guard let slot, let first = footers.first, slot.sequence >= first.sequence else { continue }
      let isRight = footers.contains {
        $0.sequence == slot.sequence && $0.chain == slot.chain && $0.offset == slot.footerOffset && $0.end == slot.end
      }
      if !isRight { add(offset, "acknowledgement slot: it names no commit of this file", lost: "") }
    }
  }
}

extension Manifest.Table {
  /// Returns whether the other table has the same name, and key spaces with the same names and flags.
  fileprivate func hasSameShape(as other: Manifest.Table) -> Bool {
    name == other.name && keySpaces.count == other.keySpaces.count
      && zip(keySpaces, other.keySpaces).allSatisfy { a, b in
        a.name == b.name && a.isUnique == b.isUnique && a.skipsEmptyKeys == b.skipsEmptyKeys && a.isList == b.isList
      }
  }
}

extension Finding {
  /// Creates a finding from an error about a file; `nil` if the error is not damage.
  package init?(_ error: StoreError, lost: String = "everything") {
    switch error {
    case .damaged(let path, let offset, let what):
      self.init(path: path, offset: offset, what: what, lost: lost)
    case .unreadable(let path, let offset):
      self.init(path: path, offset: offset, what: "the device cannot read it", lost: lost)
    case .unusable(let path, let reason):
      self.init(path: path, offset: 0, what: reason, lost: lost)
    default: return nil
    }
  }
}
