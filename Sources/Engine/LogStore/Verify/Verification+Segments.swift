import Bytes
import RecordFormat

extension Verification {
  /// Verifies one segment: its header, the checksum of its body, each object, each block, the counters in its manifest,
  /// and that the bytes between these are zero.
  mutating func verify(_ footer: SegmentFooter) throws(StoreError) {
    let start = Int(footer.segmentOffset)
    let bytes = try log.read(SegmentHeader.byteCount, at: start)
    let header = try? SegmentHeader(bytes.rawSpan)
    let sequence = footer.sequence
    if header?.sequence != sequence || header?.offset != footer.segmentOffset
      || header?.length != footer.segmentLength || header?.previousChain != footer.previousChain
      || header?.storeID != footer.storeID
    {
      add(start, "header of commit \(sequence)", lost: "")
    }
    let body = try log.checksum(of: start + SegmentHeader.byteCount, to: Int(footer.manifestOffset))
    let checksum = try log.checksum(of: Int(footer.manifestOffset), to: Int(footer.offset))
    var manifest: Manifest?
    if checksum != footer.manifestChecksum {
      add(Int(footer.manifestOffset), "manifest of commit \(sequence)", lost: "commit \(sequence) as a whole")
    } else {
      do { manifest = try log.manifest(of: footer) } catch {
        guard let finding = Finding(error, lost: "commit \(sequence) as a whole") else { throw error }
        findings.append(finding)
      }
    }
    let before = findings.count
    try verifyObjects(footer, manifest)
    if let manifest { try verifyBlocks(footer, manifest) }
    if body != footer.bodyChecksum, findings.count == before {
      add(start, "body of commit \(sequence), in a block or padding", lost: "")
    }
    // Without a key, lists of dead rows cannot be read.
    guard let manifest, isLedgerExact, log.header.sealing == nil || log.sealing != nil else { return }
    for difference in ledger.differences(from: manifest) {
      add(Int(footer.manifestOffset), "\(difference), at commit \(sequence)", lost: "")
    }
  }

  private mutating func verifyObjects(_ footer: SegmentFooter, _ manifest: Manifest?) throws(StoreError) {
    var offset = Int(footer.segmentOffset) + SegmentHeader.byteCount
    let end = Int(footer.objectEnd)
    var window = LogWindow(log, upTo: end)
    while offset < end {
      let head = try window.read(ObjectHeader.byteCount, at: offset)
      let word = head.rawSpan.u32(at: 4)
      let length = ObjectHeader.length(word)
      guard length >= ObjectHeader.byteCount, length <= end - offset else {
        add(offset, "object of length \(length)", lost: "all rows from here to offset \(end)")
        isLedgerExact = false
        return
      }
      let object = try window.read(length, at: offset)
      let unit = UnitOffset(byteOffset: offset)
      if !Checksum.isValid(object.rawSpan, at: unit) {
        add(offset, "object: checksum", lost: nameOfDamaged(object.rawSpan, ObjectHeader.kind(word)))
        isLedgerExact = false
      } else if let (fault, plain) = fault(of: object, word, unit, footer, manifest) {
        add(offset, fault, lost: nameOfDamaged(plain.rawSpan, ObjectHeader.kind(word)))
      } else if try !window.isZero(offset + length..<offset + ObjectHeader.padded(length)) {
        add(offset + length, "the bytes after an object are not zero", lost: "")
      }
      offset += ObjectHeader.padded(length)
    }
  }

  /// Returns what is wrong with an object whose checksum is valid, and its plain form as far as it can be opened; `nil`
  /// if nothing is wrong. What is sealed is not looked into without a key.
  private mutating func fault(
    of object: [UInt8], _ word: UInt32, _ unit: UnitOffset, _ footer: SegmentFooter, _ manifest: Manifest?
  ) -> (String, [UInt8])? {
    guard log.header.sealing != nil else {
      return verify(object.rawSpan, word, unit, footer, manifest).map { ($0, object) }
    }
    let inBase = footer.previousFooterOffset == 0
    guard object.count >= ObjectHeader.byteCount + LogSealing.overhead(inBase: inBase) else {
      return ("object: length \(object.count)", [])
    }
    guard let sealing = log.sealing else {
      let kind = ObjectHeader.kind(word)
      if kind.table == nil, kind.rawValue > ObjectKind.tombstones.rawValue {
        return ("object: kind \(kind.rawValue) is reserved", [])
      }
      return nil
    }
    guard let plain = sealing.opened(object, at: unit, inBase: inBase) else {
      isLedgerExact = false
      return ("object: it is not what was sealed here", [])
    }
    return verify(plain.rawSpan, word, unit, footer, manifest).map { ($0, plain) }
  }

  /// Returns what a damaged object was. Of a sealed one, only its kind is known.
  private func nameOfDamaged(_ object: RawSpan, _ kind: ObjectKind) -> String {
    if log.header.sealing != nil, let table = kind.table { return names.nameOfRow(table) }
    return name(object, kind)
  }

  private func name(_ object: RawSpan, _ kind: ObjectKind) -> String {
    switch kind {
    case .sharedString: "a text that rows share"
    case .postingList: names.name(ofPostings: object)
    case .tombstones: "a list of deleted rows (which is also stored elsewhere)"
    default: kind.table.map { names.name(object, $0) } ?? "an object of unknown kind"
    }
  }

  /// Adds a valid object to the ledger. Returns a description of what is wrong with the object; `nil` if nothing is.
  ///
  /// - Parameter word: The header word in the file, with the length that the object has there.
  private mutating func verify(
    _ object: RawSpan, _ word: UInt32, _ unit: UnitOffset, _ footer: SegmentFooter, _ manifest: Manifest?
  ) -> String? {
    let kind = ObjectHeader.kind(word)
    switch kind {
    case .sharedString:
      ledger.add(string: unit)
      return nil
    case .postingList:
      guard let list = PostingList(object) else { return "posting list: lengths" }
      return list.fault
    case .tombstones:
      guard let tombstones = Tombstones(object) else {
        isLedgerExact = false
        return "tombstones: lengths"
      }
      if let fault = tombstones.fault { return fault }
      for index in 0..<tombstones.count {
        if let fault = ledger.markDead(tombstones.offset(index)), isLedgerExact {
          return "tombstones: number \(index) \(fault)"
        }
      }
      return nil
    default:
      guard let table = kind.table else { return "object: kind \(kind.rawValue) is reserved" }
      ledger.add(row: unit, word: word, isInBase: footer.previousFooterOffset == 0)
      guard let manifest else { return nil }
      guard table < manifest.tables.count else { return "record: there is no table \(table)" }
      return verify(record: object, unit, of: manifest.tables[table])
    }
  }

  /// Returns a description of what is wrong with a record; `nil` if nothing is.
  private func verify(record: RawSpan, _ unit: UnitOffset, of table: Manifest.Table) -> String? {
    guard let layout = RecordLayout(record) else { return "record: lengths" }
    guard layout.keyCount == table.keySpaces.count else {
      return "record: \(layout.keyCount) keys where \(table.name) has \(table.keySpaces.count) key spaces"
    }
    guard layout.hasOrderedKeys(record) else { return "record: the ends of its keys" }
    guard layout.hasZeroPadding(record) else { return "record: reserved bytes are not zero" }
    for index in 0..<layout.sharedCount {
      guard let text = layout.shared(index, in: record) else { continue }
      if isLedgerExact, !ledger.hasString(text) { return "record: it names a text that is not there" }
    }
    for (index, space) in table.keySpaces.enumerated() where space.isList {
      let keys = record.extracting(layout.keyRange(index, in: record))
      guard KeyList.isValid(keys) else { return "record: what it has as its \(space.name) is no list of keys" }
      if KeyList.hasRepeatedKeys(keys) { return "record: a key stands in its \(space.name) more than once" }
    }
    return nil
  }
}
