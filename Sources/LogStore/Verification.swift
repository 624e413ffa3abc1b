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

/// Reads everything in a log and compares it with its checksums and with itself. Changes nothing.
///
/// Everything is read with read calls, never through a mapping: what the disk cannot deliver is an error here.
/// A finding does not end the verification; it reads on as far as structures can still be told apart.
public struct Verification: Sendable {
  /// In the order of the file; those of a shared base first.
  public private(set) var findings: [Finding] = []
  /// Commits whose segment passed.
  public private(set) var commitCount = 0
  public private(set) var byteCount = 0

  private let log: LogFile

  /// Verifies a store; `nil` if nothing was ever committed to it.
  ///
  /// - Throws: `StoreError.io` if the directory or the file cannot be opened.
  /// - Complexity: reads every byte twice: once for the segment's checksum, once for those of its structures.
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
    try verification.verify()
    return verification
  }

  private init(_ log: LogFile) { self.log = log }

  private init(failedWith finding: Finding, in file: any StorageFile) {
    let unknown = StoreID(0, 0)
    let header = FileHeader(storeID: unknown, seed: HashSeed(0, 0), created: 0, generation: 0)
    log = LogFile(file, header: header, path: file.path)
    findings = [finding]
  }

  private mutating func verify() throws(StoreError) {
    byteCount = try log.size()
    let recovery: Recovery
    do { recovery = try log.recover() } catch {
      guard let finding = Finding(error, lost: "this commit and all after it") else { throw error }
      findings.append(finding)
      return
    }
    for offset in recovery.rottenSlots { add(offset, "acknowledgement slot", lost: "") }
    guard let last = recovery.footer else {
      add(SegmentHeader.firstOffset, "no commit", lost: "everything")
      return
    }
    var next: SegmentFooter? = last
    while let footer = next {
      let before = findings.count
      do {
        try verify(footer)
        next = try previous(of: footer)
      } catch {
        guard let finding = Finding(error, lost: "what stands there of commit \(footer.sequence)") else { throw error }
        findings.append(finding)
        next = try? previous(of: footer)
      }
      if findings.count == before { commitCount += 1 }
    }
    try verifyIndexes(of: last)
    findings.sort { ($0.path, $0.offset) < ($1.path, $1.offset) }
  }

  private mutating func add(_ offset: Int, _ what: String, lost: String) {
    let place = log.place(of: offset)
    findings.append(Finding(path: place.path, offset: place.offset, what: what, lost: lost))
  }

  /// The footer before `footer`; a finding and `nil` if it is not there.
  private mutating func previous(of footer: SegmentFooter) throws(StoreError) -> SegmentFooter? {
    if footer.previousFooterOffset == 0 { return nil }
    let offset = Int(clamping: footer.previousFooterOffset)
    let bytes = offset < Int(footer.offset) ? try log.read(SegmentFooter.byteCount, at: offset) : []
    guard let previous = try? SegmentFooter(bytes.rawSpan), previous.storeID == footer.storeID,
      previous.chain == footer.previousChain, previous.offset == UInt64(offset),
      previous.sequence < footer.sequence
    else {
      add(offset, "footer of commit \(footer.sequence - 1)", lost: "the history up to it")
      return nil
    }
    return previous
  }

  /// Verifies one segment: its header, its body as a whole, and each object.
  private mutating func verify(_ footer: SegmentFooter) throws(StoreError) {
    let start = Int(footer.segmentOffset)
    let bytes = try log.read(SegmentHeader.byteCount, at: start)
    let header = try? SegmentHeader(bytes.rawSpan)
    let sequence = footer.sequence
    if header?.sequence != sequence || header?.offset != footer.segmentOffset
      || header?.length != footer.segmentLength || header?.previousChain != footer.previousChain
    {
      add(start, "header of commit \(sequence)", lost: "")
    }
    let body = try log.checksum(of: start + SegmentHeader.byteCount, to: Int(footer.manifestOffset))
    let manifest = try log.checksum(of: Int(footer.manifestOffset), to: Int(footer.offset))
    if manifest != footer.manifestChecksum {
      add(Int(footer.manifestOffset), "manifest of commit \(sequence)", lost: "commit \(sequence) as a whole")
    } else {
      do { _ = try log.manifest(of: footer) } catch {
        guard let finding = Finding(error, lost: "commit \(sequence) as a whole") else { throw error }
        findings.append(finding)
      }
    }
    let before = findings.count
    try verifyObjects(footer)
    if body != footer.bodyChecksum, findings.count == before {
      add(start, "body of commit \(sequence), in a block or padding", lost: "")
    }
  }

  private mutating func verifyObjects(_ footer: SegmentFooter) throws(StoreError) {
    var offset = Int(footer.segmentOffset) + SegmentHeader.byteCount
    let end = Int(footer.objectEnd)
    var window = Window(log)
    while offset < end {
      let unit = UnitOffset(byteOffset: offset)
      let head = try window.read(ObjectHeader.byteCount, at: offset)
      let word = head.rawSpan.u32(at: 4)
      let length = ObjectHeader.length(word)
      guard length >= ObjectHeader.byteCount, length <= end - offset else {
        add(offset, "object of length \(length)", lost: "all rows from here to offset \(end)")
        return
      }
      let object = try window.read(length, at: offset)
      if !Checksum.isWhole(object.rawSpan, at: unit) {
        add(offset, "object: checksum", lost: Self.name(of: ObjectHeader.kind(word)))
      } else if ObjectHeader.kind(word).table != nil, RecordLayout(object.rawSpan) == nil {
        add(offset, "record: lengths", lost: "this row")
      }
      offset += ObjectHeader.padded(length)
    }
  }

  private static func name(of kind: ObjectKind) -> String {
    switch kind {
    case .sharedString: "a text that rows share"
    case .postingList: "the way to the rows of one key"
    case .tombstones: "a note of deleted rows (their absence is kept elsewhere)"
    default: kind.table.map { "a row of table \($0)" } ?? "an object of unknown kind"
    }
  }

  /// Verifies the blocks of the last commit, and that each live row is found by its keys.
  private mutating func verifyIndexes(of footer: SegmentFooter) throws(StoreError) {
    do {
      let mapping = try log.mapping(reaching: Int(footer.end), reusing: nil)
      let snapshot = try Snapshot(log, mapping, footer)
      for (table, described) in snapshot.manifest.tables.enumerated() {
        for space in described.keySpaces.indices {
          let blocks = snapshot.blocks(of: KeySpaceID(table: table, index: space))
          for block in snapshot.blocks[blocks.all] { try verify(block, .index, space) }
        }
      }
      for block in snapshot.deadBlocks { try verify(block, .dead, 0) }
      if findings.isEmpty { try verifyRows(of: snapshot) }
    } catch {
      guard let finding = Finding(error, lost: "lookups through it") else { throw error }
      findings.append(finding)
    }
  }

  private mutating func verify(
    _ block: IndexBlock, _ kind: BlockHeader.Kind, _ space: Int
  ) throws(StoreError) {
    let unit = UnitOffset(byteOffset: block.offset)
    let bytes = try log.read(BlockHeader.byteCount, at: block.offset)
    let header = try? BlockHeader(bytes.rawSpan, at: unit)
    if header?.kind != kind || header?.bucketCount != block.bucketCount || Int(header?.keySpace ?? 0) != space {
      add(block.offset, "header of a block", lost: "")
    }
    var window = Window(log)
    let capacity = kind == .index ? Bucket.indexCapacity : Bucket.deadCapacity
    var entries = 0
    for bucket in 0..<Int(block.bucketCount) {
      let offset = block.buckets + bucket * Bucket.byteCount
      let line = try window.read(Bucket.byteCount, at: offset)
      if !Checksum.isWhole(line.rawSpan, at: UnitOffset(byteOffset: offset)) {
        add(offset, "bucket: checksum", lost: "the way to up to \(capacity) rows, until repaired")
      }
      entries += Bucket.count(line.rawSpan.u32(at: 4))
    }
    if entries != block.entryCount {
      add(block.offset, "\(entries) entries in a block that says \(block.entryCount)", lost: "")
    }
  }

  /// Counts the live rows, looks each one up by each of its keys, and reads the strings that it shares.
  private mutating func verifyRows(of snapshot: Snapshot) throws(StoreError) {
    for (table, described) in snapshot.manifest.tables.enumerated() {
      var rows: UInt64 = 0
      var popular = [[[UInt8]: Set<UnitOffset>]](repeating: [:], count: described.keySpaces.count)
      var lost: [(offset: Int, name: String)] = []
      var textless: [Int] = []
      try snapshot.scan(table) { (record) throws(StoreError) in
        rows += 1
        do throws(StoreError) {
          for index in 0..<record.sharedCount { _ = try record.shared(index) }
        } catch {
          guard Finding(error) != nil else { throw error }
          textless.append(record.offset.byteOffset)
        }
        for (index, space) in described.keySpaces.enumerated() {
          let key = record.key(index)
          if space.skipsEmptyKeys, key.byteCount == 0 { continue }
          let own = record.offset
          let id = KeySpaceID(table: table, index: index)
          if space.isList {
            if !KeyList.isWhole(key) { lost.append((own.byteOffset, space.name)) }
            var list = KeyList(key)
            while let key = list.next() {
              if try !find(own, id, key, in: snapshot, &popular[index]) { lost.append((own.byteOffset, space.name)) }
            }
          } else if try !find(own, id, key, in: snapshot, &popular[index]) {
            lost.append((own.byteOffset, space.name))
          }
        }
      }
      for row in lost.prefix(100) {
        add(row.offset, "a row of \(described.name) is not found by its \(row.name)", lost: "lookups of it")
      }
      for row in textless.prefix(100) {
        add(row, "a row of \(described.name) names a text that is not there", lost: "this row's texts")
      }
      if rows != described.liveRows {
        add(
          Int(snapshot.footer.manifestOffset),
          "\(rows) live rows of \(described.name) where the manifest counts \(described.liveRows)", lost: "")
      }
    }
  }

  /// Whether `own` is among the rows with `key`.
  ///
  /// The rows of a key that has many are noted in `popular`: to go through all of them for each of them would take
  /// the square of their number.
  private func find(
    _ own: UnitOffset, _ space: KeySpaceID, _ key: RawSpan, in snapshot: Snapshot,
    _ popular: inout [[UInt8]: Set<UnitOffset>]
  ) throws(StoreError) -> Bool {
    if !popular.isEmpty, let rows = popular[key.copied()] { return rows.contains(own) }
    var isFound = false
    var seen = 0
    try snapshot.forEachRecord(space, key) { (found) throws(StoreError) in
      seen += 1
      isFound = found.offset == own
      return !isFound && seen <= 64
    }
    if seen <= 64 { return isFound }
    var rows: Set<UnitOffset> = []
    try snapshot.forEachRecord(space, key) { (found) throws(StoreError) in
      rows.insert(found.offset)
      return true
    }
    popular[key.copied()] = rows
    return rows.contains(own)
  }
}

extension Finding {
  /// What an error says about a file; `nil` for one that is no damage.
  init?(_ error: StoreError, lost: String = "everything") {
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

/// A piece of a file in memory, moved along as it is read.
private struct Window {
  private static let byteCount = 4 << 20

  private let log: LogFile
  private var start = 0
  private var bytes: [UInt8] = []

  init(_ log: LogFile) { self.log = log }

  /// - Throws: `StoreError.damaged` if the file ends before `count` bytes.
  mutating func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    if offset < start || offset + count > start + bytes.count {
      bytes = try log.read(max(count, Self.byteCount), at: offset)
      start = offset
    }
    guard offset + count <= start + bytes.count else {
      throw log.damage(start + bytes.count, "the file ends inside a commit")
    }
    return bytes.rawSpan.slice(offset - start, count).copied()
  }
}
