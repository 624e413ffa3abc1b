import Barcodes
import Bytes
package import CatalogRows

/// The limits of a group of rows.
package enum RowGroup {
  /// The most entries of a group of a base.
  package static let entryLimit = 1024
  /// A group whose rows have this many bytes takes no further entry.
  package static let fullByteCount = 4 << 20
  /// The most bytes of a group before it is compressed: a full one, and an entry that has all that a row may have.
  package static let byteLimit = 16 << 20
  /// The most entries that a reader takes in one group, more than a writer of today makes.
  static let readEntryLimit = 1 << 16
  /// The most relations and codes that a reader takes in one group.
  static let rowLimit = 1 << 20

  /// The version with which a group begins.
  static let version: UInt8 = 1

  /// The texts of a product in the order of their columns: the key of the order first.
  static let texts: [Int] =
    [ProductText.barcode, .id, .name, .skuCode].map(\.rawValue)
    + ProductText.allCases.filter { ![.barcode, .id, .name, .skuCode].contains($0) }.map(\.rawValue)
    + [ProductRow.extraText]
  static let integerCount = 3
  static let doubleCount = 5
  static let flagCount = 4

  /// The columns of products in a reader's table: the texts, then the numbers, then the flags.
  static let integerColumn = ProductRow.textCount
  static let doubleColumn = integerColumn + integerCount
  static let flagColumn = doubleColumn + doubleCount
  static let productColumnCount = flagColumn + 1
  static let relationColumnCount = 4
  static let codeColumnCount = 5
}

/// A writer of a group: entries in columns. An entry is an id with all that the catalogue has of it: the product with
/// this id or none, the relations of its set, its codes.
package struct RowGroupWriter {
  private var ids = TextColumn()
  /// For each entry, 1 if it has a product.
  private var products: [UInt8] = []
  private var texts = [TextColumn](repeating: TextColumn(), count: ProductRow.textCount)
  private var integers = [TextColumn](repeating: TextColumn(), count: RowGroup.integerCount)
  private var doubles = [TextColumn](repeating: TextColumn(), count: RowGroup.doubleCount)
  private var flags = TextColumn()
  /// The numbers of relations and of codes of each entry.
  private var relationCounts: [UInt64] = []
  private var codeCounts: [UInt64] = []
  private var relations = [TextColumn](repeating: TextColumn(), count: RowGroup.relationColumnCount)
  private var codes = [TextColumn](repeating: TextColumn(), count: RowGroup.codeColumnCount)

  package init() {}

  /// The number of entries.
  package var entryCount: Int { ids.count }

  /// The number of bytes of all values.
  package private(set) var byteCount = 0

  /// Whether a base begins a new group.
  package var isFull: Bool { entryCount >= RowGroup.entryLimit || byteCount >= RowGroup.fullByteCount }

  /// Begins an entry.
  package mutating func entry(_ id: RawSpan) {
    ids.append(id)
    products.append(0)
    relationCounts.append(0)
    codeCounts.append(0)
    byteCount += id.byteCount + 3
  }

  /// Adds the product of the entry, whose id it has.
  package mutating func product(_ row: borrowing ProductRow) {
    products[products.count - 1] = 1
    for text in 0..<ProductRow.textCount where text != ProductText.id.rawValue {
      texts[text].append(row.texts.raw(text))
    }
    for slot in 0..<RowGroup.integerCount {
      // The default is the empty text.
      let value = row.integers[slot] &- (slot == 2 ? 1 : 0)
      integers[slot].append(word: UInt64(bitPattern: value))
    }
    for slot in 0..<RowGroup.doubleCount {
      doubles[slot].append(word: row.doubles[slot].bitPattern)
    }
    flags.append([UInt8(truncatingIfNeeded: row.flags)])
    byteCount += row.texts.bytes.count + 32
  }

  /// Adds a relation of the entry.
  package mutating func relation(_ row: borrowing RelationRow) {
    relationCounts[relationCounts.count - 1] += 1
    for (column, text) in [RelationText.subProductId, .id, .orgId].enumerated() {
      relations[column].append(row.texts.raw(text.rawValue))
    }
    relations[3].append(word: UInt64(bitPattern: row.groupNum))
    byteCount += row.texts.bytes.count + 8
  }

  /// Adds a code of the entry.
  package mutating func code(_ row: borrowing CodeRow) {
    codeCounts[codeCounts.count - 1] += 1
    for (column, text) in [CodeText.code, .id, .unit, .kind].enumerated() {
      codes[column].append(row.texts.raw(text.rawValue))
    }
    codes[4].append(row.quantity == CodeRow.one ? [] : Array(row.quantity.description.utf8))
    byteCount += row.texts.bytes.count + 8
  }

  /// Returns the group, and begins an empty one.
  package mutating func finish() -> [UInt8] {
    var writer = ByteWriter()
    writer.put(RowGroup.version)
    writer.putVariable(UInt64(ids.count))
    if products.allSatisfy({ $0 == 1 }) {
      writer.put(1 as UInt8)
    } else {
      writer.put(0 as UInt8)
      writer.put(products)
    }
    for text in RowGroup.texts {
      if text == ProductText.id.rawValue { ids.append(to: &writer) } else { texts[text].append(to: &writer) }
    }
    for column in integers { column.append(to: &writer) }
    for column in doubles { column.append(to: &writer) }
    flags.append(to: &writer)
    for (counts, columns) in [(relationCounts, relations), (codeCounts, codes)] {
      let count = counts.reduce(0, +)
      writer.putVariable(count)
      if count == 0 { continue }
      for number in counts { writer.putVariable(number) }
      for column in columns { column.append(to: &writer) }
    }
    self = RowGroupWriter()
    return writer.bytes
  }
}

/// What takes the rows of a group, entry by entry.
package protocol RowGroupSink {
  /// Begins an entry, to which the rows up to the next one belong.
  mutating func entry(_ id: RawSpan) throws
  mutating func product(_ row: borrowing ProductRow) throws
  mutating func relation(_ row: borrowing RelationRow) throws
  mutating func code(_ row: borrowing CodeRow) throws
}

/// A reader of a group.
///
/// Memory: about twice the bytes of the group.
package struct RowGroupReader {
  /// The ids of the entries.
  private var ids: ColumnTable
  private let products: [UInt8]
  /// The columns of the products: their texts, where that of the id is empty, and their numbers.
  private var productColumns: ColumnTable
  /// The columns of the relations and of the codes, and how many of them each entry has; no numbers if there are none.
  private var relations = ColumnTable(rowCount: 0, columnCount: RowGroup.relationColumnCount)
  private var relationCounts: [Int] = []
  private var codes = ColumnTable(rowCount: 0, columnCount: RowGroup.codeColumnCount)
  private var codeCounts: [Int] = []

  /// The number of entries.
  package var entryCount: Int { ids.rowCount }

  /// Reads all columns of a group.
  ///
  /// - Throws: ``PublicationError/damaged(_:)``.
  package init(_ bytes: [UInt8]) throws(PublicationError) {
    var reader = ByteReader(bytes.rawSpan)
    guard bytes.count <= RowGroup.byteLimit else { throw .damaged("a group has \(bytes.count) bytes") }
    guard let version = reader.u8() else { throw .damaged("a group is empty") }
    guard version == RowGroup.version else { throw .damaged("a group has the unknown version \(version)") }
    guard let count = reader.count(upTo: RowGroup.readEntryLimit), let isComplete = reader.u8(), isComplete <= 1 else {
      throw .damaged("a group has no number of entries")
    }
    if isComplete == 1 {
      products = Array(repeating: 1, count: count)
    } else {
      guard let flags = reader.bytes(count), flags.allSatisfy({ $0 <= 1 }) else {
        throw .damaged("a group does not say which of its entries have a product")
      }
      products = flags
    }
    let productCount = products.count { $0 == 1 }
    let limit = RowGroup.byteLimit
    ids = ColumnTable(rowCount: count, columnCount: 1)
    productColumns = ColumnTable(rowCount: productCount, columnCount: RowGroup.productColumnCount)
    for text in RowGroup.texts {
      if text == ProductText.id.rawValue {
        try ids.read(0, .text, from: &reader, limit: limit)
      } else {
        try productColumns.read(text, .text, from: &reader, limit: limit)
      }
    }
    for column in RowGroup.integerColumn..<RowGroup.productColumnCount {
      try productColumns.read(column, .bytes, from: &reader, limit: limit)
    }
    (relationCounts, relations) = try Self.rows(&reader, count, textCount: 3, RowGroup.relationColumnCount)
    (codeCounts, codes) = try Self.rows(&reader, count, textCount: 5, RowGroup.codeColumnCount)
    guard reader.remaining == 0 else { throw .damaged("a group has \(reader.remaining) bytes too many") }
  }

  /// Reads the relations or codes of `count` entries: how many each has, and their columns.
  private static func rows(
    _ reader: inout ByteReader, _ count: Int, textCount: Int, _ columnCount: Int
  ) throws(PublicationError) -> ([Int], ColumnTable) {
    guard let total = reader.count(upTo: RowGroup.rowLimit) else {
      throw .damaged("a group has no number of relations or codes")
    }
    var table = ColumnTable(rowCount: total, columnCount: columnCount)
    if total == 0 { return ([], table) }
    var counts: [Int] = []
    var rest = total
    for _ in 0..<count {
      guard let number = reader.count(upTo: rest) else {
        throw .damaged("the entries of a group have more relations or codes than the group")
      }
      rest -= number
      counts.append(number)
    }
    if rest > 0 { throw .damaged("a group has relations or codes of no entry") }
    for column in 0..<columnCount {
      try table.read(column, column < textCount ? .text : .bytes, from: &reader, limit: RowGroup.byteLimit)
    }
    return (counts, table)
  }

  /// Passes all entries on, in order.
  ///
  /// - Throws: ``PublicationError/damaged(_:)`` for a value that is no number or no UTF-8; the errors of the sink.
  package func forEachEntry<Sink: RowGroupSink>(into sink: inout Sink) throws {
    var product = ProductRow()
    var relation = RelationRow()
    var code = CodeRow()
    var (productIndex, relationIndex, codeIndex) = (0, 0, 0)
    for entry in 0..<entryCount {
      try sink.entry(ids[entry, 0])
      if products[entry] == 1 {
        try fill(&product, entry, productIndex)
        productIndex += 1
        try sink.product(product)
      }
      if !relationCounts.isEmpty {
        for _ in 0..<relationCounts[entry] {
          try fill(&relation, entry, relationIndex)
          relationIndex += 1
          try sink.relation(relation)
        }
      }
      if !codeCounts.isEmpty {
        for _ in 0..<codeCounts[entry] {
          try fill(&code, entry, codeIndex)
          codeIndex += 1
          try sink.code(code)
        }
      }
    }
  }

  private func fill(_ row: inout ProductRow, _ entry: Int, _ index: Int) throws(PublicationError) {
    row.reset()
    for text in 0..<ProductRow.textCount { Self.set(&row.texts, text, productColumns[index, text]) }
    Self.set(&row.texts, ProductText.id.rawValue, ids[entry, 0])
    for slot in 0..<RowGroup.integerCount {
      let word = try productColumns.word(index, RowGroup.integerColumn + slot)
      row.integers[slot] = Int64(bitPattern: word) &+ (slot == 2 ? 1 : 0)
    }
    for slot in 0..<RowGroup.doubleCount {
      row.doubles[slot] = Double(bitPattern: try productColumns.word(index, RowGroup.doubleColumn + slot))
    }
    let bits = productColumns[index, RowGroup.flagColumn]
    guard bits.byteCount == 1, bits.u8(at: 0) >> UInt8(RowGroup.flagCount) == 0 else {
      throw .damaged("a product has unknown flags")
    }
    row.flags = UInt32(bits.u8(at: 0))
  }

  private func fill(_ row: inout RelationRow, _ entry: Int, _ index: Int) throws(PublicationError) {
    row.reset()
    Self.set(&row.texts, RelationText.productId.rawValue, ids[entry, 0])
    for (column, text) in [RelationText.subProductId, .id, .orgId].enumerated() {
      Self.set(&row.texts, text.rawValue, relations[index, column])
    }
    row.groupNum = Int64(bitPattern: try relations.word(index, 3))
  }

  private func fill(_ row: inout CodeRow, _ entry: Int, _ index: Int) throws(PublicationError) {
    row.reset()
    Self.set(&row.texts, CodeText.productId.rawValue, ids[entry, 0])
    for (column, text) in [CodeText.code, .id, .unit, .kind].enumerated() {
      Self.set(&row.texts, text.rawValue, codes[index, column])
    }
    let text = codes[index, 4]
    if text.byteCount == 0 { return }
    guard let number = ExactDecimal(utf8: text.copied().span), number.coefficient > 0 else {
      throw .damaged("a code has a quantity that is no number above 0")
    }
    row.quantity = number
  }

  /// Sets a text that was checked when its column was read.
  @inline(__always)
  private static func set(_ texts: inout TextRow, _ index: Int, _ text: RawSpan) {
    if text.byteCount > 0 { texts.set(index, text) }
  }
}

extension TextRow {
  /// Returns the bytes of the text at `index`.
  @_lifetime(borrow self)
  func raw(_ index: Int) -> RawSpan { bytes.rawSpan.extracting(range(index)) }
}

/// A group of the section of codes: which groups have the products of further codes.
package enum CodeGroup {
  /// The most codes of a group.
  package static let codeLimit = 4096

  /// Returns a group of codes, by their keys.
  package static func bytes(_ codes: [(key: [UInt8], group: Int)]) -> [UInt8] {
    var keys = TextColumn()
    var groups = TextColumn()
    for code in codes {
      keys.append(code.key)
      groups.append(Array(String(code.group).utf8))
    }
    var writer = ByteWriter()
    writer.put(RowGroup.version)
    writer.putVariable(UInt64(codes.count))
    keys.append(to: &writer)
    groups.append(to: &writer)
    return writer.bytes
  }

  /// Reads a group of codes.
  ///
  /// - Throws: ``PublicationError/damaged(_:)``.
  package static func codes(_ bytes: [UInt8]) throws(PublicationError) -> [(key: [UInt8], group: Int)] {
    var reader = ByteReader(bytes.rawSpan)
    guard reader.u8() == RowGroup.version, let count = reader.count(upTo: codeLimit) else {
      throw .damaged("a group of codes has an unknown version or no number of codes")
    }
    var table = ColumnTable(rowCount: count, columnCount: 2)
    for column in 0..<2 { try table.read(column, .bytes, from: &reader, limit: RowGroup.byteLimit) }
    guard reader.remaining == 0 else { throw .damaged("a group of codes has bytes too many") }
    var codes: [(key: [UInt8], group: Int)] = []
    for row in 0..<count {
      guard let group = Int(String(decoding: table[row, 1].copied(), as: UTF8.self)), group >= 0 else {
        throw .damaged("a code is in no group")
      }
      codes.append((table[row, 0].copied(), group))
    }
    return codes
  }
}
