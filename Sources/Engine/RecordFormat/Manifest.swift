import Bytes

/// The manifest of a commit: its blocks, its counters, and the application's state.
package struct Manifest: Equatable, Sendable {
  /// The version of a manifest without key lists.
  package static let version: UInt32 = 1
  /// The version of a manifest with a key space of lists. A program that would interpret lists as keys must not read
  /// it.
  package static let versionWithLists: UInt32 = 2
  /// The version of a manifest with an ordered index. A program that would write rows without entering them into the
  /// index must not write after it.
  package static let versionWithOrderedIndexes: UInt32 = 3
  /// The version of a manifest whose names and state are sealed.
  package static let sealedVersion: UInt32 = 4
  /// The maximum number of ordered indexes of a table. The number has 8 bits.
  package static let orderedIndexLimit = Int(UInt8.max)
  /// The maximum number of blocks of one key space, and of dead blocks. The number has 16 bits.
  package static let blockLimit = Int(UInt16.max)
  /// The key length from which on all lengths share one bit.
  package static let longestListedKey = 255

  /// The offset and size of a block.
  package struct Block: Equatable, Sendable {
    /// The offset of the block's header.
    package var offset: UInt64
    /// The number of buckets; the lines of an ordered block, which are as long.
    package var bucketCount: UInt32
    /// The number of entries in its buckets. A posting list is one entry.
    package var entryCount: UInt32
    /// The number of rows in the block, including each row of its posting lists: the cost of merging the block.
    package var rowCount: UInt32
    package var longestDisplacement: UInt16

    package init(
      offset: UInt64, bucketCount: UInt32, entryCount: UInt32, rowCount: UInt32, longestDisplacement: UInt16
    ) {
      self.offset = offset
      self.bucketCount = bucketCount
      self.entryCount = entryCount
      self.rowCount = rowCount
      self.longestDisplacement = longestDisplacement
    }

    /// The size of header and buckets in bytes; of header and trees for an ordered block.
    package var byteCount: Int { BlockHeader.byteCount + Int(bucketCount) * Bucket.byteCount }
  }

  package struct KeySpace: Equatable, Sendable {
    package var name: String
    package var isUnique: Bool
    package var skipsEmptyKeys: Bool
    /// Whether a record has any number of keys, stored as a ``KeyList``.
    package var isList: Bool
    /// The key lengths that occur, or have occurred since the base was written.
    package var lengths: KeyLengths
    /// The index blocks, newest first.
    package var blocks: [Block] = []

    package init(name: String, isUnique: Bool, skipsEmptyKeys: Bool, isList: Bool = false) {
      self.name = name
      self.isUnique = isUnique
      self.skipsEmptyKeys = skipsEmptyKeys
      self.isList = isList
      lengths = KeyLengths()
    }
  }

  package struct OrderedIndex: Equatable, Sendable {
    package var name: String
    /// Whether its blocks find keys by fragments of their text.
    package var hasFragments: Bool
    /// The ordered blocks, newest first.
    package var blocks: [Block] = []

    package init(name: String, hasFragments: Bool) {
      self.name = name
      self.hasFragments = hasFragments
    }

    /// The size of all blocks in bytes.
    package var byteCount: Int { blocks.reduce(0) { $0 + $1.byteCount } }

    /// The same index without rows.
    package var withoutRows: OrderedIndex { OrderedIndex(name: name, hasFragments: hasFragments) }
  }

  package struct Table: Equatable, Sendable {
    package var name: String
    package var liveRows: UInt64 = 0
    /// The size of the live records in bytes, including padding.
    package var liveBytes: UInt64 = 0
    package var keySpaces: [KeySpace]
    package var orderedIndexes: [OrderedIndex] = []

    package init(name: String, keySpaces: [KeySpace], orderedIndexes: [OrderedIndex] = []) {
      self.name = name
      self.keySpaces = keySpaces
      self.orderedIndexes = orderedIndexes
    }
  }

  package var tables: [Table]
  /// The dead blocks, newest first.
  package var deadBlocks: [Block] = []
  package var deadRows: UInt64 = 0
  package var deadBytes: UInt64 = 0
  package var tailRows: UInt64 = 0
  package var state: [UInt8] = []
  /// Whether the names are empty and ``state`` has them, and the state, in sealed form.
  package private(set) var isSealed = false

  package init(tables: [Table]) { self.tables = tables }

  /// A manifest with the same tables and state, but without rows.
  package var withoutRows: Manifest {
    var empty = Manifest(
      tables: tables.map { table in
        Table(
          name: table.name,
          keySpaces: table.keySpaces.map {
            KeySpace(
              name: $0.name, isUnique: $0.isUnique, skipsEmptyKeys: $0.skipsEmptyKeys, isList: $0.isList)
          }, orderedIndexes: table.orderedIndexes.map(\.withoutRows))
      })
    empty.state = state
    return empty
  }

  /// The same manifest without ordered indexes.
  package var withoutOrderedIndexes: Manifest {
    var result = self
    for table in result.tables.indices { result.tables[table].orderedIndexes = [] }
    return result
  }

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writeCounts(to: &writer, version: leastVersion)
    writer.put(UInt32(state.count))
    writer.put(state)
    return writer.bytes
  }

  /// Encodes a manifest whose names and state are sealed.
  ///
  /// - Parameter seal: A closure that seals bytes, the second ones, together with others that stay in clear.
  package func encoded(sealing seal: (_ clear: [UInt8], _ secret: [UInt8]) -> [UInt8]) -> [UInt8] {
    var secret = ByteWriter()
    forEachName { secret.putName($0) }
    secret.put(state)
    var unnamed = self
    unnamed.changeNames { _ in "" }
    var writer = ByteWriter()
    unnamed.writeCounts(to: &writer, version: Self.sealedVersion)
    let sealed = seal(writer.bytes, secret.bytes)
    writer.put(UInt32(sealed.count))
    writer.put(sealed)
    return writer.bytes
  }

  /// Opens the names and the state of a manifest that has them in sealed form.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of which this manifest was decoded.
  ///   - open: A closure that opens bytes, the second ones, together with others that stay in clear; `nil` if they are
  ///     not genuine.
  /// - Returns: Whether they are genuine, and names and a state.
  package mutating func unseal(
    _ bytes: RawSpan, _ open: (_ clear: [UInt8], _ sealed: [UInt8]) -> [UInt8]?
  ) -> Bool {
    // Before the sealed bytes, which are the last, stands their number.
    let clear = bytes.slice(0, bytes.byteCount - 4 - state.count).copied()
    guard let secret = open(clear, state) else { return false }
    var reader = ByteReader(secret.rawSpan)
    var isComplete = true
    changeNames { _ in
      guard isComplete, let name = reader.name() else {
        isComplete = false
        return ""
      }
      return name
    }
    guard isComplete, let rest = reader.bytes(reader.remaining) else { return false }
    state = rest
    isSealed = false
    return true
  }

  /// Calls `body` with each name: of each table, then of its key spaces and its ordered indexes.
  private func forEachName(_ body: (String) -> Void) {
    for table in tables {
      body(table.name)
      for space in table.keySpaces { body(space.name) }
      for index in table.orderedIndexes { body(index.name) }
    }
  }

  /// Replaces each name by what `body` returns for it, in the same order.
  private mutating func changeNames(_ body: (String) -> String) {
    for table in tables.indices {
      tables[table].name = body(tables[table].name)
      for space in tables[table].keySpaces.indices {
        tables[table].keySpaces[space].name = body(tables[table].keySpaces[space].name)
      }
      for index in tables[table].orderedIndexes.indices {
        tables[table].orderedIndexes[index].name = body(tables[table].orderedIndexes[index].name)
      }
    }
  }

  /// Writes everything before the state.
  private func writeCounts(to writer: inout ByteWriter, version: UInt32) {
    writer.put(version)
    writer.put(UInt32(tables.count))
    for table in tables {
      writer.put(UInt8(table.keySpaces.count))
      writer.putName(table.name)
      writer.put(table.liveRows)
      writer.put(table.liveBytes)
      for space in table.keySpaces {
        writer.put(UInt8((space.isUnique ? 1 : 0) | (space.skipsEmptyKeys ? 2 : 0) | (space.isList ? 4 : 0)))
        writer.putName(space.name)
        for word in space.lengths.words { writer.put(word) }
        writer.putBlocks(space.blocks)
      }
      if version < Self.versionWithOrderedIndexes { continue }
      writer.put(UInt8(table.orderedIndexes.count))
      for index in table.orderedIndexes {
        writer.put(UInt8(index.hasFragments ? 1 : 0))
        writer.putName(index.name)
        writer.putBlocks(index.blocks)
      }
    }
    writer.putBlocks(deadBlocks)
    writer.put(deadRows)
    writer.put(deadBytes)
    writer.put(tailRows)
  }

  /// Decodes a manifest whose checksum is valid.
  package init(_ span: RawSpan) throws(FormatFault) {
    var reader = ByteReader(span)
    guard let version = reader.u32(), (Self.version...Self.sealedVersion).contains(version)
    else {
      throw .field("manifest version", span.byteCount < 4 ? 0 : UInt64(span.u32(at: 0)))
    }
    guard let tableCount = reader.u32(), tableCount <= UInt32(ObjectKind.tableLimit) else {
      throw .field("table count", UInt64(span.byteCount))
    }
    tables = []
    for _ in 0..<tableCount {
      guard let table = Self.table(&reader, version) else { throw .field("table description", UInt64(reader.offset)) }
      tables.append(table)
    }
    guard let dead = reader.blocks(), let deadRows = reader.u64(), let deadBytes = reader.u64(),
      let tailRows = reader.u64(), let stateCount = reader.u32(), let state = reader.bytes(Int(stateCount))
    else { throw .field("manifest end", UInt64(reader.offset)) }
    deadBlocks = dead
    self.deadRows = deadRows
    self.deadBytes = deadBytes
    self.tailRows = tailRows
    self.state = state
    isSealed = version == Self.sealedVersion
    guard isSealed || version == leastVersion else {
      throw .field("manifest version", UInt64(version))
    }
    guard reader.remaining == 0 else { throw .field("manifest length", UInt64(span.byteCount)) }
    var clearNames = 0
    if isSealed { forEachName { clearNames += $0.utf8.count } }
    guard clearNames == 0 else { throw .field("name in clear in a sealed manifest", UInt64(clearNames)) }
  }

  /// The lowest version that can express the tables, which is the one that is written.
  private var leastVersion: UInt32 {
    if tables.contains(where: { !$0.orderedIndexes.isEmpty }) { return Self.versionWithOrderedIndexes }
    return tables.contains { $0.keySpaces.contains(where: \.isList) } ? Self.versionWithLists : Self.version
  }

  /// The largest of the counters of rows and bytes. None of them can exceed the size of the file.
  package var largestCounter: UInt64 {
    tables.reduce(max(deadRows, deadBytes, tailRows)) { max($0, $1.liveRows, $1.liveBytes) }
  }

  private static func table(_ reader: inout ByteReader, _ version: UInt32) -> Table? {
    guard let spaceCount = reader.u8(), let name = reader.name(), let rows = reader.u64(),
      let bytes = reader.u64()
    else { return nil }
    var table = Table(name: name, keySpaces: [])
    table.liveRows = rows
    table.liveBytes = bytes
    for _ in 0..<spaceCount {
      // A key space that is unique or skips empty keys has no lists; all other bits are reserved.
      guard let flags = reader.u8(), flags <= 4, let name = reader.name() else { return nil }
      var space = KeySpace(
        name: name, isUnique: flags & 1 != 0, skipsEmptyKeys: flags & 2 != 0, isList: flags & 4 != 0)
      for index in 0..<4 {
        guard let word = reader.u64() else { return nil }
        space.lengths.words[index] = word
      }
      guard let blocks = reader.blocks() else { return nil }
      space.blocks = blocks
      table.keySpaces.append(space)
    }
    if version < versionWithOrderedIndexes { return table }
    guard let indexCount = reader.u8() else { return nil }
    for _ in 0..<indexCount {
      guard let flags = reader.u8(), flags <= 1, let name = reader.name(), let blocks = reader.blocks() else {
        return nil
      }
      var index = OrderedIndex(name: name, hasFragments: flags & 1 != 0)
      index.blocks = blocks
      table.orderedIndexes.append(index)
    }
    return table
  }
}

extension ByteWriter {
  fileprivate mutating func putName(_ name: String) {
    let bytes = Array(name.utf8)
    precondition(bytes.count <= 255, "a table's or key space's name has at most 255 bytes")
    put(UInt8(bytes.count))
    put(bytes)
  }

  fileprivate mutating func putBlocks(_ blocks: [Manifest.Block]) {
    put(UInt16(blocks.count))
    for block in blocks {
      put(block.offset)
      put(block.bucketCount)
      put(block.entryCount)
      put(block.rowCount)
      put(block.longestDisplacement)
    }
  }
}

extension ByteReader {
  fileprivate mutating func name() -> String? {
    guard let count = u8() else { return nil }
    return text(Int(count))
  }

  fileprivate mutating func blocks() -> [Manifest.Block]? {
    guard let count = u16() else { return nil }
    var blocks: [Manifest.Block] = []
    for _ in 0..<count {
      guard let offset = u64(), let buckets = u32(), let entries = u32(), let rows = u32(),
        let longest = u16()
      else {
        return nil
      }
      blocks.append(
        Manifest.Block(
          offset: offset, bucketCount: buckets, entryCount: entries, rowCount: rows,
          longestDisplacement: longest))
    }
    return blocks
  }
}
