import Bytes
import RecordFormat
import Storage

/// Something that verification found: where, what it is, and what it costs.
public struct Finding: Sendable, CustomStringConvertible {
  public let path: String
  /// Where the damaged structure begins, in bytes.
  public let offset: Int
  /// What is wrong.
  public let what: String
  /// What cannot be read because of it; empty if nothing is lost.
  public let lost: String

  /// A finding of an application, about rows that the engine has nothing against.
  package init(path: String, offset: Int, what: String, lost: String) {
    self.path = path
    self.offset = offset
    self.what = what
    self.lost = lost
  }

  public var description: String {
    "\(path): offset \(offset): \(what)" + (lost.isEmpty ? "" : "; lost: \(lost)")
  }
}

/// Reads everything in a log, and compares it with its checksums, with itself and with what FORMAT.md requires. Changes
/// nothing.
///
/// Structures are read with read calls: what the disk cannot deliver is an error here. Only lookups, with which it tries at
/// last whether each row is found, go through a mapping.
/// A finding does not end the verification; it reads on as far as structures can still be told apart.
public struct Verification: Sendable {
  /// In the order of the file; those of a shared base first.
  public internal(set) var findings: [Finding] = []
  /// Commits whose segment passed.
  public private(set) var commitCount = 0
  public private(set) var byteCount = 0

  let log: LogFile
  /// The names of the last commit's tables.
  var names = RowNames([])
  /// What the objects that were read so far say of rows.
  var ledger = RowLedger()
  /// Whether all objects before were read, so that the ledger is exact.
  var isLedgerExact = true

  /// Verifies a store; `nil` if nothing was ever committed to it.
  ///
  /// - Throws: `StoreError.io` if the directory or the file cannot be opened.
  /// - Complexity: reads every byte twice: once for the segment's checksum, once for those of its structures. Looks each live
  ///   row up by each of its keys. Memory for 8 bytes for each row, and some 16 for each shared string and dead row.
  public static func run(_ location: StoreLocation) throws(StoreError) -> Verification? {
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
  /// - Returns: what is wrong; empty if nothing is, or nothing was ever committed.
  /// - Throws, complexity: As ``run(_:)``.
  package static func findings(in location: StoreLocation, of schema: Schema) throws(StoreError) -> [Finding] {
    guard let verification = try run(location) else { return [] }
    if !verification.findings.isEmpty { return verification.findings }
    return try location.otherKind(than: schema).map { [$0] } ?? []
  }

  /// Verifies the generation that was kept when the last full update replaced it; `nil` if none is kept.
  ///
  /// - Throws, complexity: As ``run(_:)``.
  public static func runPrevious(_ location: StoreLocation) throws(StoreError) -> Verification? {
    let file = try storage { () throws(StorageError) in try location.directory.open(location.previous, .read) }
    guard let file else { return nil }
    let named = try storage { () throws(StorageError) in try location.directory.identity(of: location.log) }
    // A crash in a full update leaves a second name of the log.
    if named == file.identity { return nil }
    var verification: Verification
    do {
      var log = try LogFile(file)
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

  /// - Parameter isReplaced: Whether a newer generation has taken the name of the file: its slots may have been torn while
  ///   that was noted in them, and nobody needs them any more.
  private mutating func verify(isReplaced: Bool = false) throws(StoreError) {
    byteCount = try log.size()
    let recovery: Recovery
    do { recovery = try log.recover() } catch {
      guard let finding = Finding(error, lost: "this commit and all after it") else { throw error }
      findings.append(finding)
      return
    }
    if !isReplaced { for offset in recovery.rottenSlots { add(offset, "acknowledgement slot", lost: "") } }
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
        guard let finding = Finding(error, lost: "what stands there of commit \(footer.sequence)") else { throw error }
        findings.append(finding)
        isLedgerExact = false
      }
      if findings.count == before { commitCount += 1 }
    }
    if findings.isEmpty { try verifyTables(of: footers) }
    // What follows takes the structures for whole.
    if findings.isEmpty { try verifyIndexes(of: last) }
    findings.sort { ($0.path, $0.offset) < ($1.path, $1.offset) }
  }

  mutating func add(_ offset: Int, _ what: String, lost: String) {
    let place = log.place(of: offset)
    findings.append(Finding(path: place.path, offset: place.offset, what: what, lost: lost))
  }

  /// The footers of all commits up to `last`, oldest first; of the later ones where one is missing.
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
      add(Int(first.segmentOffset), "the first commit begins here", lost: "what stands before it")
      isLedgerExact = false
    }
    return footers.reversed()
  }

  /// Compares the tables of each commit with those of the last one: tables are added to a store, and never changed.
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

  /// Compares what each valid slot says with the commit that it names.
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
  /// Whether the other table has the same name and key spaces of the same names and flags.
  fileprivate func hasSameShape(as other: Manifest.Table) -> Bool {
    name == other.name && keySpaces.count == other.keySpaces.count
      && zip(keySpaces, other.keySpaces).allSatisfy { a, b in
        a.name == b.name && a.isUnique == b.isUnique && a.skipsEmptyKeys == b.skipsEmptyKeys && a.isList == b.isList
      }
  }
}

extension Finding {
  /// What an error says about a file; `nil` for one that is no damage.
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
