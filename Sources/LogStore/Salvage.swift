import Bytes
import RecordFormat
import Storage

/// What can still be read in a damaged log, found without trusting anything but checksums.
///
/// The pages of the file are searched for segment headers and footers; between them objects are found by their own
/// checksums, which are salted with where they stand. So a damaged file header, footer or length costs nothing but itself.
/// Only what was committed is taken: what lies behind the last commit may be the torn rest of another one.
struct Salvage {
  /// One committed piece of the file: a segment, or what lies between two where neither header nor footer can be read.
  private struct Piece {
    var start: Int
    var end: Int
    var footer: SegmentFooter?
    var hasHeader = false
  }

  private let log: LogFile
  private let size: Int
  private var window: TolerantWindow
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

  /// Rows that the application cannot read.
  private var faulty: [FaultyRow] = []

  /// The newest manifest that can be read.
  private(set) var manifest: Manifest?
  /// Whether that manifest is the last commit's.
  private(set) var isManifestCurrent = false
  /// The highest numbers that anything in the file has.
  private(set) var sequence: UInt64 = 0
  private(set) var generation: UInt64 = 0
  /// Rows whose checksums hold, in the order of the file; dead ones among them.
  private var rows: [(unit: UnitOffset, table: Int)] = []
  private(set) var strings: [UInt32: [UInt8]] = [:]
  /// Of the schema, and what the file has beyond it.
  private var tables: [Manifest.Table]

  /// - Throws: `StoreError.unusable` if nothing in the file belongs to a store; `.io`.
  init(_ file: any StorageFile, schema: Schema) throws(StoreError) {
    let none = FileHeader(storeID: StoreID(0, 0), seed: HashSeed(0, 0), created: 0, generation: 0)
    log = LogFile(file, header: none, path: file.path)
    // Nothing that an offset does not reach was ever committed.
    size = min(try log.size(), UnitOffset.fileLimit)
    window = TolerantWindow(file, size: size)
    tables = schema.manifest.tables
    readHeaderAndSlots()
    searchPages()
    guard storeID != nil else {
      throw .unusable(path: file.path, reason: "nothing in it belongs to a store")
    }
    arrangePieces()
    readManifest()
    if let manifest {
      do { tables = try schema.adopt(manifest, path: file.path).tables } catch {
        // Tables with these names and other key spaces are a damaged manifest of this kind of store.
        guard schema.names(manifest) else { throw error }
      }
    }
    for piece in pieces { walk(piece) }
  }

  // MARK: Finding segments

  private mutating func readHeaderAndSlots() {
    if let header = try? FileHeader(window.read(FileHeader.byteCount, at: 0).rawSpan) {
      storeID = header.storeID
      note(0, header.generation)
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
      note(slot.sequence, slot.generation)
    }
  }

  private mutating func note(_ sequence: UInt64, _ generation: UInt64) {
    // Numbers that no writer reaches are none to count on from.
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

  /// Tells what was committed, and cuts it into pieces.
  private mutating func arrangePieces() {
    // Who began a segment had found the one before it whole.
    var end = max(acknowledgedEnd, headers.keys.max() ?? 0, footers.keys.max() ?? 0)
    for (start, footer) in footers.sorted(by: { $0.key < $1.key }) where Int(footer.end) > end {
      // A torn commit is none. Without a slot nobody can say that a commit was not acknowledged.
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
        note(footer.sequence, footer.generation)
      } else if let header = headers[position] {
        piece.hasHeader = true
        piece.end = min(end, position + Int(header.length))
        note(header.sequence, generation)
      } else {
        piece.end = (Array(footers.keys) + Array(headers.keys)).filter { $0 > position && $0 < end }.min() ?? end
      }
      pieces.append(piece)
      position = piece.end
    }
  }

  /// Whether what follows the commit that ends at `end` can only be the torn rest of one that was never acknowledged: as
  /// ``LogFile/findLoss(after:)`` has it.
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
    guard let place = try? IndexBlock(block, end: size, log: log) else { return }
    for bucket in 0..<Int(place.bucketCount) {
      let offset = place.buckets + bucket * Bucket.byteCount
      let line = window.read(Bucket.byteCount, at: offset)
      guard line.count == Bucket.byteCount, Checksum.isValid(line.rawSpan, at: UnitOffset(byteOffset: offset))
      else { continue }
      for entry in 0..<min(Bucket.count(line.rawSpan.u32(at: 4)), Bucket.deadCapacity) {
        dead.insert(line.rawSpan.u32(at: Bucket.deadOffsets + 4 * entry))
      }
    }
  }

  // MARK: Finding objects

  private mutating func walk(_ piece: Piece) {
    var offset = piece.start + SegmentHeader.byteCount
    // Behind the objects of a segment come its blocks; where no footer says where, the first block does.
    let isExact = piece.footer != nil
    let end = min(piece.footer.map { Int($0.objectEnd) } ?? piece.end, size)
    while offset < end {
      if let object = object(at: offset, end: end) {
        take(object, UnitOffset(byteOffset: offset))
        offset += ObjectHeader.padded(object.count)
        continue
      }
      var next = offset
      var block: BlockHeader?
      while next < end {
        if !isExact, next % Bucket.byteCount == 0 { block = blockHeader(at: next) }
        if block != nil || next > offset && object(at: next, end: end) != nil { break }
        next += UnitOffset.byteCount
      }
      if !window.read(next - offset, at: offset).allSatisfy({ $0 == 0 }) || next - offset >= Bucket.byteCount {
        lostRanges.append(offset..<next)
      }
      offset = next
      if let block {
        if piece.hasHeader { return }
        offset += BlockHeader.byteCount + Int(block.bucketCount) * Bucket.byteCount
      }
    }
  }

  private mutating func blockHeader(at offset: Int) -> BlockHeader? {
    let bytes = window.read(BlockHeader.byteCount, at: offset)
    return try? BlockHeader(bytes.rawSpan, at: UnitOffset(byteOffset: offset))
  }

  /// The bytes of the object at `offset` if its checksum holds and its lengths agree.
  private mutating func object(at offset: Int, end: Int) -> [UInt8]? {
    let head = window.read(ObjectHeader.byteCount, at: offset)
    guard head.count == ObjectHeader.byteCount else { return nil }
    let word = head.rawSpan.u32(at: 4)
    let length = ObjectHeader.length(word)
    let kind = ObjectHeader.kind(word)
    guard length >= ObjectHeader.byteCount, length <= end - offset,
      kind.table.map({ $0 < tables.count }) ?? (kind.rawValue <= ObjectKind.tombstones.rawValue)
    else { return nil }
    let bytes = window.read(length, at: offset)
    guard bytes.count == length else { return nil }
    // What is quick to see first: where nothing is an object, every unit is asked.
    if let table = kind.table {
      guard let layout = RecordLayout(bytes.rawSpan), layout.keyCount == tables[table].keySpaces.count else {
        return nil
      }
    } else if kind == .tombstones, Tombstones(bytes.rawSpan) == nil {
      return nil
    } else if kind == .postingList, PostingList(bytes.rawSpan) == nil {
      return nil
    }
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

  // MARK: What was found

  /// Takes rows that the application cannot read for lost.
  mutating func leaveOut(_ rows: [FaultyRow]) {
    faulty += rows
    for row in rows { dead.insert(row.id.unit.rawValue) }
  }

  /// Puts every live row that is whole into `transaction`; a finding for each thing that is lost, if anything is.
  mutating func copyRows(to transaction: Transaction) throws(StoreError) -> [Finding] {
    var findings = faulty.map(\.finding)
    if acknowledgedEnd > size {
      add(size, "the file ends here", "what stood in the \(acknowledgedEnd - size) bytes behind", &findings)
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
        // A key that stands there twice is one.
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
        pieces.first?.start ?? 0, "rows, live or dead, that no checksum vouches for", "how many cannot be told",
        &findings)
    }
    findings.sort { ($0.path, $0.offset) < ($1.path, $1.offset) }
    return findings
  }

  /// The state that the newest readable manifest holds.
  var state: [UInt8] { manifest?.state ?? [] }

  /// Whether `repaired` has every row that the last commit had, and no other.
  ///
  /// What is known to be dead is dead, so as many dead rows as that commit had are all of them; what is left lived then, and
  /// as many rows as lived are all of them.
  func isComplete(_ repaired: Manifest) -> Bool {
    guard isManifestCurrent, let manifest, UInt64(dead.count) == manifest.deadRows else { return false }
    return manifest.tables.indices.allSatisfy { table in
      table < repaired.tables.count && manifest.tables[table].liveRows == repaired.tables[table].liveRows
    }
  }

  private func add(_ offset: Int, _ what: String, _ lost: String, _ findings: inout [Finding]) {
    let place = log.place(of: offset)
    findings.append(Finding(path: place.path, offset: place.offset, what: what, lost: lost))
  }

  /// Tells what stood in bytes that are no object any more, as far as they still say it.
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
    case .tombstones: add(range.lowerBound, "a note of deleted rows", "rows may be back that were deleted", &findings)
    case .sharedString: add(range.lowerBound, "a text that rows share", "rows that name it, each told", &findings)
    default:
      guard let table = kind.table, table < tables.count else {
        return add(range.lowerBound, "\(count) that are no objects", count, &findings)
      }
      add(range.lowerBound, "object: checksum", RowNames(tables).name(bytes.rawSpan, table), &findings)
    }
  }
}

/// Reads a file in large pieces, forward. Pages that the device cannot deliver read as zeros.
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

  /// The `count` bytes at `offset`; fewer at the end of the file.
  mutating func read(_ count: Int, at offset: Int) -> [UInt8] {
    let count = min(count, size - offset)
    if count <= 0 { return [] }
    if let bytes = window.bytes(count, at: offset) { return bytes }
    window = FileWindow(load(min(max(count, Self.byteCount), size - offset), at: offset), at: offset)
    return window.bytes(count, at: offset) ?? []
  }

  private func load(_ count: Int, at offset: Int) -> [UInt8] {
    if let whole = try? file.read(count, at: offset), whole.count == count { return whole }
    var result: [UInt8] = []
    while result.count < count {
      let place = offset + result.count
      let piece = min(Self.page - place % Self.page, count - result.count)
      let read = (try? file.read(piece, at: place)) ?? []
      result += read
      result += [UInt8](repeating: 0, count: piece - read.count)
    }
    return result
  }
}
