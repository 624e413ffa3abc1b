import Bytes
import Catalog
import CatalogRows
import LogStore
import PublicationFormat
import Zstd

/// Writes entries of a catalogue into groups.
struct GroupBuilder {
  private let snapshot: CatalogSnapshot
  private var product = ProductRow()
  private var relation = RelationRow()
  private var code = CodeRow()
  /// The number of bytes of all values so far, and of the longest text.
  private(set) var byteCount = 0
  private(set) var longestText = 0
  /// The keys of the further codes of the entries of the group that is being written.
  private(set) var codeKeys: [[UInt8]] = []

  init(_ snapshot: CatalogSnapshot) { self.snapshot = snapshot }

  /// Writes an entry.
  mutating func write(_ id: [UInt8], to group: inout RowGroupWriter) throws {
    let text = String(decoding: id, as: UTF8.self)
    let before = group.byteCount
    group.entry(id.rawSpan)
    if let row = try snapshot.productRow(id: id), try snapshot.copy(row, to: &product) {
      group.product(product)
      for index in 0..<ProductRow.textCount { longestText = max(longestText, product.texts.byteCount(index)) }
    }
    if snapshot.relationCount > 0 {
      for one in try snapshot.relations(ofSet: text) {
        one.fill(&relation)
        group.relation(relation)
      }
    }
    for one in try snapshot.codes(ofProduct: text) {
      one.fill(&code)
      group.code(code)
      codeKeys.append(CatalogSnapshot.key(ofCode: one.code))
    }
    // An empty group has no bytes.
    byteCount += group.byteCount - before
  }

  mutating func takeCodeKeys() -> [[UInt8]] {
    defer { codeKeys = [] }
    return codeKeys
  }

  /// Returns the groups of some entries, for a delta.
  static func groups(of ids: [[UInt8]], in snapshot: CatalogSnapshot) throws -> (groups: [[UInt8]], longestText: Int) {
    var builder = GroupBuilder(snapshot)
    var group = RowGroupWriter()
    var groups: [[UInt8]] = []
    for id in ids {
      if group.entryCount >= 1 << 16 || group.byteCount >= RowGroup.fullByteCount { groups.append(group.finish()) }
      try builder.write(id, to: &group)
    }
    if group.entryCount > 0 { groups.append(group.finish()) }
    return (groups, builder.longestText)
  }

  /// A base of all entries.
  struct Base {
    var bytes: [UInt8]
    var topByteCount: Int
    var byteCount: Int
    var longestText: Int
  }

  /// Writes all entries of a catalogue.
  ///
  /// Memory: all groups.
  static func base(of snapshot: CatalogSnapshot, level: Int, dictionaryByteCount: Int) throws -> Base {
    var builder = GroupBuilder(snapshot)
    var group = RowGroupWriter()
    var groups: [(key: [UInt8], heads: [Int], bytes: [UInt8])] = []
    var first: (key: [UInt8], heads: [Int])?
    var codes: [(key: [UInt8], group: Int)] = []
    var chain = BaseFile.HeadChain()
    for entry in try snapshot.entries() {
      if group.isFull, let start = first {
        codes += builder.takeCodeKeys().map { ($0, groups.count) }
        groups.append((start.key, start.heads, group.finish()))
        first = nil
      }
      let heads = chain.next(entry.code)
      if first == nil { first = (entry.code, heads) }
      try builder.write(entry.id, to: &group)
    }
    if let first {
      codes += builder.takeCodeKeys().map { ($0, groups.count) }
      groups.append((first.key, first.heads, group.finish()))
    }
    // Every sixth group tells as much about the texts as all of them.
    let samples = groups.enumerated().filter { groups.count < 64 || $0.offset.isMultiple(of: 6) }.map(\.element.bytes)
    let dictionary = try ZstdDictionary.train(on: samples, byteCount: dictionaryByteCount)
    var file = try BaseFileWriter(dictionary: dictionary, level: level)
    for group in groups { try file.add(group.bytes, .entries, key: group.key, heads: group.heads) }
    codes.sort { $0.key == $1.key ? $0.group < $1.group : $0.key.lexicographicallyPrecedes($1.key) }
    chain = BaseFile.HeadChain()
    for start in stride(from: 0, to: codes.count, by: CodeGroup.codeLimit) {
      let part = codes[start..<min(start + CodeGroup.codeLimit, codes.count)]
      let heads = part.map { chain.next($0.key) }[0]
      try file.add(CodeGroup.bytes(part.map { ($0.key, $0.group) }), .codes, key: codes[start].key, heads: heads)
    }
    let (bytes, topByteCount) = try file.finish()
    return Base(
      bytes: bytes, topByteCount: topByteCount, byteCount: builder.byteCount, longestText: builder.longestText)
  }
}
