import Bytes
import RecordFormat

extension Verification {
  /// Verifies an ordered block: its header, its trees, and that the fragment tree has the fragments of the keys.
  mutating func verifyOrdered(
    _ block: Manifest.Block, hasFragments: Bool, _ name: String
  ) throws(StoreError) {
    let offset = Int(block.offset)
    let lost = "lookups through it, until repaired"
    let bytes = try log.read(OrderedBlockHeader.byteCount, at: offset)
    let unit = UnitOffset(byteOffset: offset)
    guard let header = try? OrderedBlockHeader(bytes.rawSpan, at: unit), header.lineCount == block.bucketCount,
      header.entryCount == block.entryCount, header.levels == block.longestDisplacement
    else { return add(offset, "header of a block of \(name)", lost: lost) }
    if log.header.sealing != nil, log.sealing == nil { return try verifyPages(header, unit, name) }
    if !hasFragments, header.fragmentTree != nil {
      return add(offset, "a block of \(name) has a fragment tree", lost: "")
    }
    var fragments = OrderedKeyTable(seed: log.seed)
    var main = OrderedTreeCheck(header.mainTree)
    do {
      try main.run(block: unit, read: read(at: offset), open: openPage) { number, leaf in
        guard hasFragments else { return }
        for entry in 0..<leaf.entryCount {
          let text = KeyText.text(of: leaf.key(entry))
          KeyText.forEachFragment(of: text) { fragments.add(text.slice($0, $1), UInt32(number + 1)) }
        }
      }
      if let tree = header.fragmentTree { try verify(tree, of: fragments, unit, offset) }
    } catch let fault as OrderedTreeCheck.Fault {
      return add(offset + fault.offset, "page of \(name): \(fault.what)", lost: lost)
    } catch let error as StoreError {
      throw error
    } catch { preconditionFailure("the check throws faults and errors of the store only") }
    if header.fragmentTree == nil, !fragments.isEmpty {
      add(offset, "a block of \(name) lacks its fragment tree", lost: lost)
    }
    if main.entryCount != block.entryCount || main.rowCount != block.rowCount {
      add(
        offset,
        "\(main.entryCount) entries and \(main.rowCount) rows in a block of \(name) that says \(block.entryCount) and "
          + "\(block.rowCount)", lost: "")
    }
  }

  /// Verifies the checksums of the pages of a block whose contents cannot be read.
  private mutating func verifyPages(
    _ header: OrderedBlockHeader, _ unit: UnitOffset, _ name: String
  ) throws(StoreError) {
    for tree in [header.mainTree, header.fragmentTree].compactMap({ $0 }) {
      for number in 0..<tree.pageCount {
        let place = tree.page(number)
        let offset = unit.byteOffset + place.start
        let page = try log.read(place.byteCount, at: offset)
        if !Checksum.isValid(page.rawSpan, at: UnitOffset(byteOffset: offset)) {
          add(offset, "page of \(name): checksum", lost: "lookups through it, until repaired")
        }
      }
    }
  }

  /// Opens a page of a sealed log; `nil` in a clear one.
  private var openPage: OrderedTreeCheck.PageOpening? {
    guard let sealing = log.sealing else { return nil }
    return { sealing.opened(page: $0, at: $1) }
  }

  private func read(at start: Int) -> (Int, Int) throws -> [UInt8] {
    let log = log
    return { try log.read($1, at: start + $0) }
  }

  /// Checks that a fragment tree has exactly these fragments and leaves.
  private func verify(
    _ tree: OrderedBlockHeader.Tree, of fragments: OrderedKeyTable, _ unit: UnitOffset, _ offset: Int
  ) throws {
    var fragments = fragments
    fragments.sort()
    var check = OrderedTreeCheck(tree)
    var position = 0
    var firstRow = 0
    var key: [UInt8] = []
    var rows: [UInt32] = []
    var taken = 0
    try check.run(block: unit, read: read(at: offset), open: openPage) { number, leaf in
      for entry in 0..<leaf.entryCount {
        if taken == rows.count, position < fragments.keyCount {
          fragments.read(position, &firstRow, &key, &rows)
          position += 1
          taken = 0
        }
        let own = leaf.rows[leaf.rowRange(entry)]
        guard leaf.key(entry).hasSameBytes(as: key.rawSpan), own.elementsEqual(rows.dropFirst(taken).prefix(own.count))
        else {
          throw OrderedTreeCheck.Fault(
            offset: tree.page(number).start, what: "its entry \(entry) is not a fragment of the keys")
        }
        taken += own.count
      }
    }
    guard position == fragments.keyCount, taken == rows.count else {
      throw OrderedTreeCheck.Fault(offset: tree.start, what: "a fragment of a key is missing")
    }
  }

  /// Verifies that the entries of the ordered indexes of the last commit lead to rows of their tables, in blocks whose
  /// rows lie one after another.
  mutating func verifyOrderedRows(of snapshot: Snapshot) throws(StoreError) {
    for (table, described) in snapshot.manifest.tables.enumerated() {
      for (number, index) in described.orderedIndexes.enumerated() {
        let name = "the ordered index \(index.name) of \(described.name)"
        var highest: UInt32 = 0
        for block in try snapshot.orderedBlocks(OrderedIndexID(table: table, index: number)).reversed() {
          var run = OrderedRun(snapshot, block)
          let before = highest
          var fault: String?
          while fault == nil, try run.next() {
            for row in run.rows {
              let unit = UnitOffset(rawValue: row)
              let scope = ScratchScope(snapshot)
              defer { scope.end() }
              highest = max(highest, row)
              if row <= before {
                fault = "has a row that is not after those of the block before it, at offset \(unit.byteOffset)"
              } else if try ObjectHeader.kind(snapshot.object(unit).u32(at: 4)).table != table {
                fault = "names what is no row of its table, at offset \(unit.byteOffset)"
              }
            }
          }
          if let fault { add(block.offset, "a block of \(name) \(fault)", lost: "lookups through it") }
        }
      }
    }
  }
}

extension Snapshot {
  /// Derives the keys of every live row again and compares them with those in the ordered indexes.
  ///
  /// - Parameter schema: The schema that knows how to derive them. Indexes that it does not have are not compared.
  /// - Returns: A finding for each index whose keys are not those of the rows.
  /// - Throws: `StoreError.damaged` at the first object or page that fails its check.
  /// - Complexity: Reads every row once for each index; memory for each distinct key, and 8 bytes for each pair of a
  ///   key and a row.
  package func orderedFindings(_ schema: Schema) throws(StoreError) -> [Finding] {
    var findings: [Finding] = []
    for (table, described) in manifest.tables.enumerated() {
      for (number, index) in described.orderedIndexes.enumerated() {
        guard let addKeys = schema.keyFunction(table, index) else { continue }
        var keys = OrderedKeyTable(seed: seed)
        try scan(table) { (record) throws(StoreError) in
          let row = record.unit.rawValue
          try addKeys(record) { keys.add(OrderedKeys.truncated($0), row) }
        }
        keys.sort()
        guard let fault = try difference(of: keys, OrderedIndexID(table: table, index: number)) else { continue }
        findings.append(
          Finding(
            path: path, offset: Int(clamping: index.blocks.first?.offset ?? UInt64(end)),
            what: "the ordered index \(index.name) of \(described.name) \(fault)", lost: "lookups through it"))
      }
    }
    return findings
  }

  /// Returns the first difference between sorted keys and an ordered index; `nil` if there is none.
  private func difference(of keys: OrderedKeyTable, _ id: OrderedIndexID) throws(StoreError) -> String? {
    var cursor = try cursor(id)
    var firstRow = 0
    var key: [UInt8] = []
    var rows: [UInt32] = []
    for position in 0..<keys.keyCount {
      keys.read(position, &firstRow, &key, &rows)
      for row in rows {
        let offset = UnitOffset(rawValue: row).byteOffset
        guard try cursor.next(), cursor.row.rawValue == row, cursor.key.hasSameBytes(as: key.rawSpan) else {
          return "lacks a key of the row at offset \(offset), or has one that no row has before it"
        }
      }
    }
    return try cursor.next() ? "has a key that its row at offset \(cursor.row.byteOffset) does not have" : nil
  }
}
