import Bytes
import RecordFormat
import Sealing
import Storage

/// The data that can still be read in a damaged log, found by relying only on checksums.
///
/// The pages of the file are searched for segment headers and footers. Between them, objects are found by their own
/// checksums, which are salted with their offsets. So a damaged file header, footer or length loses only itself. Only
/// committed data is used: the bytes after the last commit may be the torn rest of another one.
struct Salvage {
  /// A committed range of the file: a segment, or the bytes between two segments if neither header nor footer can be
  /// read.
  private struct Piece {
    var start: Int
    var end: Int
    var footer: SegmentFooter?
    var hasHeader = false
  }

  private var log: LogFile
  private let size: Int
  private var window: TolerantWindow
  /// The header, if it can be read.
  private var header: FileHeader?
  /// The keys of a sealed log.
  private var sealing: LogSealing?
  /// The length, in the file, of the object that was read last.
  private var storedLength = 0
  private var storeID: StoreID?
  private var footers: [Int: SegmentFooter] = [:]
  private var headers: [Int: SegmentHeader] = [:]
  private var acknowledgedEnd = 0
  private var acknowledgedSequence: UInt64 = 0
  private var hasSlot = false
  private var hasDamagedSlot = false
  private var isFirstSlotZero = false
  private var pieces: [Piece] = []
  private var lostRanges: [Range<Int>] = []
  private var dead: Set<UInt32> = []

  /// The rows that the application cannot read.
  private var faulty: [FaultyRow] = []

  /// The newest manifest that can be read.
  private(set) var manifest: Manifest?
  /// Whether that manifest belongs to the last commit.
  private(set) var isManifestCurrent = false
  /// The highest sequence number in the file.
  private(set) var sequence: UInt64 = 0
  private(set) var generation: UInt64 = 0
  /// The rows with valid checksums, in file order, including dead ones.
  private var rows: [(unit: UnitOffset, table: Int)] = []
  private(set) var strings: [UInt32: [UInt8]] = [:]
  /// The tables of the schema and any additional ones in the file.
  private var tables: [Manifest.Table]

  /// Searches a damaged log.
  ///
  /// - Throws: `StoreError.unusable` if nothing in the file belongs to a store; `.io`.
  init(_ file: any StorageFile, schema: Schema, keys: LogKeys) throws(StoreError) {
    let none = FileHeader(storeID: StoreID(0, 0), seed: HashSeed(0, 0), created: 0, generation: 0)
    log = LogFile(file, header: none, path: file.path)
    // Bytes beyond the largest possible offset were never committed.
    size = min(try log.size(), UnitOffset.fileLimit)
    window = TolerantWindow(file, size: size)
    tables = schema.manifest.tables
    readHeaderAndSlots()
    searchPages()
    guard storeID != nil else {
      throw .unusable(path: file.path, reason: "nothing in it belongs to a store")
    }
    splitIntoPieces()
    try findKeys(keys)
    readManifest()
    if manifest == nil { tables += schema.optionalTables.map(\.manifest) }
    if let manifest {
      do { tables = try schema.adopt(manifest, path: file.path).tables } catch {
        // Tables with these names but other key spaces mean that the manifest of this kind of store is damaged.
        guard schema.names(manifest) else { throw error }
      }
    }
    for piece in pieces { scanObjects(piece) }
  }

  /// Whether the log is sealed.
  var isSealed: Bool { sealing != nil }

  /// Finds the keys of a sealed log. If its header cannot be read, the store id and the generation are those of its
  /// commits, and each algorithm is tried with the newest manifest that opens.
  private mutating func findKeys(_ keys: LogKeys) throws(StoreError) {
    if let header {
      sealing = try keys.sealing(of: header, path: log.path)
    } else if let storeID, let key = keys.current {
      for algorithm in AuthenticatedCipher.Algorithm.allCases where sealing == nil {
        for footer in footers.values where footer.storeID == storeID && sealing == nil {
          guard
            let candidate = try? LogSealing(
              storeID, generation: footer.generation, algorithm: algorithm.rawValue, key),
            let manifest = try? LogFile(
              log.file, header: Self.sealedHeader(footer), path: log.path, sealing: candidate
            ).manifest(of: footer), !manifest.isSealed
          else { continue }
          sealing = candidate
        }
      }
    }
    guard let sealing else { return }
    let header = FileHeader(storeID: storeID ?? StoreID(0, 0), seed: HashSeed(0, 0), created: 0, generation: generation)
    log = LogFile(log.file, header: Self.marked(header), path: log.path, sealing: sealing)
  }

  private static func sealedHeader(_ footer: SegmentFooter) -> FileHeader {
    marked(FileHeader(storeID: footer.storeID, seed: HashSeed(0, 0), created: 0, generation: footer.generation))
  }

  /// Returns the same header, of a sealed file.
  private static func marked(_ header: FileHeader) -> FileHeader {
    var header = header
    header.sealing = SealingParameters(
      keyID: [UInt8](repeating: 0, count: SealingParameters.keyIDByteCount), algorithm: 0)
    return header
  }

  // MARK: Finding segments

  private mutating func readHeaderAndSlots() {
    if let header = try? FileHeader(window.read(FileHeader.byteCount, at: 0).rawSpan) {
      storeID = header.storeID
      self.header = header
      updateHighest(0, header.generation)
    }
    for offset in AcknowledgementSlot.offsets {
      let page = window.read(AcknowledgementSlot.byteCount, at: offset)
      guard let slot = try? AcknowledgementSlot(page.rawSpan), storeID == nil || slot.storeID == storeID else {
        if !page.rawSpan.isZero(from: 0) {
          hasDamagedSlot = true
        } else if offset == AcknowledgementSlot.offsets[0] {
          isFirstSlotZero = true
        }
        continue
      }
      storeID = slot.storeID
      hasSlot = true
      acknowledgedEnd = max(acknowledgedEnd, Int(clamping: slot.end))
      acknowledgedSequence = max(acknowledgedSequence, slot.sequence)
      updateHighest(slot.sequence, slot.generation)
    }
  }

  private mutating func updateHighest(_ sequence: UInt64, _ generation: UInt64) {
    // A sequence number this high cannot be real; do not continue from it.
    if sequence < 1 << 61 { self.sequence = max(self.sequence, sequence) }
    if generation < 1 << 61 { self.generation = max(self.generation, generation) }
  }

  private mutating func searchPages() {
    let page = SegmentHeader.alignment
    for start in stride(from: SegmentHeader.firstOffset, to: size, by: page) {
      let marks = SegmentMarks(window.read(page, at: start).rawSpan, at: start, of: storeID)
      if let header = marks.header {
        storeID = header.storeID
        headers[start] = header
      }
      if let footer = marks.footer, storeID == nil || footer.storeID == storeID,
        headers[Int(footer.segmentOffset)].map({ $0.length == footer.segmentLength }) ?? true
      {
        storeID = footer.storeID
        footers[Int(footer.segmentOffset)] = footer
      }
    }
  }

  /// Finds the end of the committed data and splits the data into pieces.
  private mutating func splitIntoPieces() {
    // The writer starts a segment only when the previous one is complete.
    var end = max(acknowledgedEnd, headers.keys.max() ?? 0, footers.keys.max() ?? 0)
    for (start, footer) in footers.sorted(by: { $0.key < $1.key }) where Int(footer.end) > end {
      // A torn commit does not count. Without a slot there is no evidence that a commit was not acknowledged.
      if !hasSlot || start == end && hasValidChecksums(footer) { end = Int(footer.end) }
    }
    if !isTorn(after: end) { end = size }
    end = min(end, size)
    var position = SegmentHeader.firstOffset
    while position < end {
      var piece = Piece(start: position, end: end)
      if let footer = footers[position] {
        piece.footer = footer
        piece.end = Int(footer.end)
        updateHighest(footer.sequence, footer.generation)
      } else if let header = headers[position] {
        piece.hasHeader = true
        piece.end = min(end, position + Int(header.length))
        updateHighest(header.sequence, generation)
      } else {
        piece.end = (Array(footers.keys) + Array(headers.keys)).filter { $0 > position && $0 < end }.min() ?? end
      }
      pieces.append(piece)
      position = piece.end
    }
  }

  /// Returns whether the bytes after the commit that ends at `end` can only be the torn rest of a commit that was never
  /// acknowledged. The criteria are those of ``LogFile/findLoss(after:)``.
  private func isTorn(after end: Int) -> Bool {
    guard hasSlot, !isFirstSlotZero, !hasDamagedSlot || end != acknowledgedEnd else { return false }
    let last = footers.values.first { Int($0.end) == end }?.sequence ?? 0
    return last <= acknowledgedSequence || last - acknowledgedSequence == 1
  }

  private func hasValidChecksums(_ footer: SegmentFooter) -> Bool {
    let start = Int(footer.segmentOffset) + SegmentHeader.byteCount
    guard headers[Int(footer.segmentOffset)] != nil else { return false }
    let body = footer.bodyWasSynced ? footer.bodyChecksum : try? log.checksum(of: start, to: Int(footer.manifestOffset))
    let manifest = try? log.checksum(of: Int(footer.manifestOffset), to: Int(footer.offset))
    return body == footer.bodyChecksum && manifest == footer.manifestChecksum
  }

  private mutating func readManifest() {
    for (index, piece) in pieces.enumerated().reversed() {
      guard let footer = piece.footer, let manifest = try? log.manifest(of: footer) else { continue }
      self.manifest = manifest
      isManifestCurrent = index == pieces.count - 1 && acknowledgedEnd <= size
      for block in manifest.deadBlocks { readDead(block) }
      return
    }
  }

  private mutating func readDead(_ block: Manifest.Block) {
    guard let indexBlock = try? IndexBlock(block, end: size, log: log) else { return }
    for bucket in 0..<Int(indexBlock.bucketCount) {
      let offset = indexBlock.buckets + bucket * Bucket.byteCount
      let line = window.read(Bucket.byteCount, at: offset)
      guard line.count == Bucket.byteCount, Checksum.isValid(line.rawSpan, at: UnitOffset(byteOffset: offset))
      else { continue }
      for entry in 0..<min(Bucket.count(line.rawSpan.u32(at: 4)), Bucket.deadCapacity) {
        dead.insert(line.rawSpan.u32(at: Bucket.deadOffsets + 4 * entry))
      }
    }
  }

  // MARK: Finding objects

  private mutating func scanObjects(_ piece: Piece) {
    var offset = piece.start + SegmentHeader.byteCount
    // The blocks of a segment follow its objects. Without a footer, the first block shows where they begin.
    let isExact = piece.footer != nil
    let end = min(piece.footer.map { Int($0.objectEnd) } ?? piece.end, size)
    while offset < end {
      if let object = object(at: offset, end: end) {
        take(object, UnitOffset(byteOffset: offset))
        offset += ObjectHeader.padded(storedLength)
        continue
      }
      var next = offset
      var block: Int?
      while next < end {
        if !isExact, next % Bucket.byteCount == 0 { block = blockByteCount(at: next) }
        if block != nil || next > offset && object(at: next, end: end) != nil { break }
        next += UnitOffset.byteCount
      }
      if !window.read(next - offset, at: offset).allSatisfy({ $0 == 0 }) || next - offset >= Bucket.byteCount {
        lostRanges.append(offset..<next)
      }
      offset = next
      if let block {
        if piece.hasHeader { return }
        offset += block
      }
    }
  }

  /// Returns the size of the block that begins at `offset`; `nil` if none does.
  private mutating func blockByteCount(at offset: Int) -> Int? {
    let bytes = window.read(BlockHeader.byteCount, at: offset)
    let unit = UnitOffset(byteOffset: offset)
    if let header = try? BlockHeader(bytes.rawSpan, at: unit) {
      return BlockHeader.byteCount + Int(header.bucketCount) * Bucket.byteCount
    }
    guard let header = try? OrderedBlockHeader(bytes.rawSpan, at: unit) else { return nil }
    return OrderedBlockHeader.byteCount + Int(header.lineCount) * Bucket.byteCount
  }

  /// Returns the bytes of the object at `offset` if its checksum is valid and its lengths are consistent.
  private mutating func object(at offset: Int, end: Int) -> [UInt8]? {
    let head = window.read(ObjectHeader.byteCount, at: offset)
    guard head.count == ObjectHeader.byteCount else { return nil }
    let word = head.rawSpan.u32(at: 4)
    let length = ObjectHeader.length(word)
    let kind = ObjectHeader.kind(word)
    guard length >= ObjectHeader.byteCount, length <= end - offset,
      kind.table.map({ $0 < tables.count }) ?? (kind.rawValue <= ObjectKind.tombstones.rawValue)
    else { return nil }
    var bytes = window.read(length, at: offset)
    guard bytes.count == length else { return nil }
    if let sealing {
      // Without the first segment it is not known where the base ends, so both forms are tried.
      let unit = UnitOffset(byteOffset: offset)
      guard Checksum.isValid(bytes.rawSpan, at: unit),
        let plain = sealing.opened(bytes, at: unit, inBase: true) ?? sealing.opened(bytes, at: unit, inBase: false)
      else { return nil }
      storedLength = length
      bytes = plain
    }
    // Cheap checks first: in a damaged area every unit is tried.
    if let table = kind.table {
      guard let layout = RecordLayout(bytes.rawSpan), layout.keyCount == tables[table].keySpaces.count else {
        return nil
      }
    } else if kind == .tombstones, Tombstones(bytes.rawSpan) == nil {
      return nil
    } else if kind == .postingList, PostingList(bytes.rawSpan) == nil {
      return nil
    }
    if sealing != nil { return bytes }
    storedLength = length
    return Checksum.isValid(bytes.rawSpan, at: UnitOffset(byteOffset: offset)) ? bytes : nil
  }

  private mutating func take(_ object: [UInt8], _ unit: UnitOffset) {
    let kind = ObjectHeader.kind(object.rawSpan.u32(at: 4))
    if let table = kind.table {
      rows.append((unit, table))
    } else if kind == .sharedString {
      strings[unit.rawValue] = Array(object[ObjectHeader.byteCount...])
    } else if kind == .tombstones, let tombstones = Tombstones(object.rawSpan) {
      for index in 0..<tombstones.count { dead.insert(tombstones.offset(index).rawValue) }
    }
  }

  // MARK: Results

  /// Marks rows that the application cannot read as lost.
  mutating func exclude(_ rows: [FaultyRow]) {
    faulty += rows
    for row in rows { dead.insert(row.id.unit.rawValue) }
  }

  /// The tables that rows were found of, after the first `count` tables.
  func tables(after count: Int) -> [Manifest.Table] {
    Array(tables[min(count, tables.count)..<max(count, (rows.map(\.table).max() ?? -1) + 1)])
  }

  /// Puts every valid live row into `transaction`. Returns a finding for each loss.
  mutating func copyRows(to transaction: Transaction) throws(StoreError) -> [Finding] {
    var findings = faulty.map(\.finding)
    if acknowledgedEnd > size {
      add(size, "the file ends here", "the last \(acknowledgedEnd - size) bytes of the log", &findings)
    }
    if !isManifestCurrent {
      add(
        pieces.last?.start ?? size, "the last commit's manifest", "the application's state, its cursor too", &findings)
    }
    for range in lostRanges { describe(range, &findings) }
    var draft = RecordDraft()
    var hasCutKeys = false
    for row in rows where !dead.contains(row.unit.rawValue) {
      guard let object = object(at: row.unit.byteOffset, end: size), let layout = RecordLayout(object.rawSpan) else {
        add(row.unit.byteOffset, "a row that changes while it is read", "this row", &findings)
        continue
      }
      draft.reset()
      for (index, space) in tables[row.table].keySpaces.prefix(layout.keyCount).enumerated() {
        let key = object.rawSpan.extracting(layout.keyRange(index, in: object.rawSpan))
        let count = space.isList ? KeyList.validByteCount(key) : key.byteCount
        if count < key.byteCount {
          hasCutKeys = true
          add(
            row.unit.byteOffset, "an invalid list of keys", "keys of a row of \(tables[row.table].name)", &findings)
        }
        // A key that occurs twice counts once.
        if space.isList { draft.addKeys(KeyList.distinct(key)) } else { draft.addKey(key) }
      }
      var isComplete = true
      for index in 0..<layout.sharedCount {
        guard let unit = layout.shared(index, in: object.rawSpan) else {
          draft.addShared(.empty)
          continue
        }
        if let text = strings[unit.rawValue] {
          draft.addShared(try transaction.share(text.rawSpan))
        } else {
          isComplete = false
          break
        }
      }
      guard isComplete else {
        add(
          row.unit.byteOffset, "a text that the row shares with others",
          RowNames(tables).name(object.rawSpan, row.table), &findings)
        continue
      }
      draft.body.append(object.rawSpan.extracting(layout.bodyStart...))
      try transaction.put(row.table, draft)
    }
    if isComplete(transaction.currentManifest), !hasCutKeys { return [] }
    if findings.isEmpty {
      add(
        pieces.first?.start ?? 0, "rows, live or dead, without a valid checksum", "an unknown number of rows",
        &findings)
    }
    findings.sort { ($0.path, $0.offset) < ($1.path, $1.offset) }
    return findings
  }

  /// The state in the newest readable manifest.
  var state: [UInt8] { manifest?.state ?? [] }

  /// Returns whether `repaired` has exactly the rows of the last commit.
  ///
  /// Rows known to be dead are dead. So if as many dead rows were found as that commit had, all of them were found and
  /// the remaining rows were live. If as many rows remain as were live, none is missing.
  func isComplete(_ repaired: Manifest) -> Bool {
    guard isManifestCurrent, let manifest, UInt64(dead.count) == manifest.deadRows else { return false }
    return manifest.tables.indices.allSatisfy { table in
      table < repaired.tables.count && manifest.tables[table].liveRows == repaired.tables[table].liveRows
    }
  }

  private func add(_ offset: Int, _ what: String, _ lost: String, _ findings: inout [Finding]) {
    let location = log.location(of: offset)
    findings.append(Finding(path: location.path, offset: location.offset, what: what, lost: lost))
  }

  /// Reports what was lost in a range of bytes that is no valid object, as far as the bytes still show it.
  private mutating func describe(_ range: Range<Int>, _ findings: inout [Finding]) {
    let bytes = window.read(min(range.count, ObjectHeader.maximumLength), at: range.lowerBound)
    guard bytes.count >= ObjectHeader.byteCount else { return }
    let word = bytes.rawSpan.u32(at: 4)
    let kind = ObjectHeader.kind(word)
    let isOneObject = ObjectHeader.padded(ObjectHeader.length(word)) == range.count
    if isOneObject, dead.contains(UnitOffset(byteOffset: range.lowerBound).rawValue) { return }
    let count = "\(range.count) bytes"
    guard isOneObject else { return add(range.lowerBound, "\(count) that are no objects", count, &findings) }
    switch kind {
    case .postingList: return
    case .tombstones: add(range.lowerBound, "a list of deleted rows", "deleted rows may reappear", &findings)
    case .sharedString:
      add(range.lowerBound, "a text that rows share", "the rows that refer to it, each reported", &findings)
    default:
      guard let table = kind.table, table < tables.count else {
        return add(range.lowerBound, "\(count) that are no objects", count, &findings)
      }
      let names = RowNames(tables)
      let name = isSealed ? names.nameOfRow(table) : names.name(bytes.rawSpan, table)
      add(range.lowerBound, "object: checksum", name, &findings)
    }
  }
}

/// A sequential reader of a file that reads ahead in large chunks. Pages that the device cannot read are returned as
/// zeros.
private struct TolerantWindow {
  private static let byteCount = 4 << 20
  private static let page = 4096

  private let file: any StorageFile
  private let size: Int
  private var window = FileWindow()

  init(_ file: any StorageFile, size: Int) {
    self.file = file
    self.size = size
  }

  /// Returns the `count` bytes at `offset`; fewer at the end of the file.
  mutating func read(_ count: Int, at offset: Int) -> [UInt8] {
    let count = min(count, size - offset)
    if count <= 0 { return [] }
    if let bytes = window.bytes(count, at: offset) { return bytes }
    window = FileWindow(load(min(max(count, Self.byteCount), size - offset), at: offset), at: offset)
    return window.bytes(count, at: offset) ?? []
  }

  private func load(_ count: Int, at offset: Int) -> [UInt8] {
    if let bytes = try? file.read(count, at: offset), bytes.count == count { return bytes }
    var result: [UInt8] = []
    while result.count < count {
      let position = offset + result.count
      let piece = min(Self.page - position % Self.page, count - result.count)
      let read = (try? file.read(piece, at: position)) ?? []
      result += read
      result += [UInt8](repeating: 0, count: piece - read.count)
    }
    return result
  }
}
