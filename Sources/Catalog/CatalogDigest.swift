import LogStore
import RecordFormat

/// A fingerprint of what a catalogue holds: rows and cursor, not where they lie or when they came.
///
/// Two catalogues with the same content have the same digest, in whatever order and generation their rows lie. Each
/// row is hashed to 128 bits; the sum of these, the row counts and the cursor are hashed again. A sum does not depend
/// on the order, so nothing has to be sorted. It detects accidents, not forgery.
public struct CatalogDigest: Sendable, Equatable, CustomStringConvertible {
  private var first: UInt64 = 0
  private var second: UInt64 = 0

  /// - Throws: `StoreError.damaged`.
  /// - Complexity: reads every row once.
  public init(_ snapshot: CatalogSnapshot) throws(StoreError) {
    var sum = CatalogDigest()
    var text: [UInt8] = []
    var products: UInt64 = 0
    var relations: UInt64 = 0
    try snapshot.forEachProduct { (view) throws(StoreError) in
      products += 1
      text.removeAll(keepingCapacity: true)
      text.append(0)
      try view.appendContent(to: &text)
      sum.add(text)
    }
    try snapshot.forEachRelation { relation in
      relations += 1
      text.removeAll(keepingCapacity: true)
      text.append(1)
      relation.appendContent(to: &text)
      sum.add(text)
    }
    var closing = ByteWriter()
    closing.put(products)
    closing.put(relations)
    closing.put(sum.first)
    closing.put(sum.second)
    closing.put(Array(snapshot.cursor.utf8))
    self.init()
    add(closing.bytes)
  }

  private init() {}

  // Two fixed seeds: the digest has to be the same in every file.
  private static let seeds = (
    HashSeed(0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344),
    HashSeed(0xA409_3822_299F_31D0, 0x082E_FA98_EC4E_6C89)
  )

  private mutating func add(_ bytes: [UInt8]) {
    let low = KeyHash.of(bytes.rawSpan, Self.seeds.0)
    let (sum, carry) = first.addingReportingOverflow(low)
    first = sum
    second = second &+ KeyHash.of(bytes.rawSpan, Self.seeds.1) &+ (carry ? 1 : 0)
  }

  /// 32 hexadecimal digits.
  public var description: String { hex(second) + hex(first) }

  private func hex(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension ProductView {
  /// All 25 fields in one unambiguous text.
  func appendContent(to text: inout [UInt8]) throws(StoreError) {
    text.putText(id)
    text.putText(barcode)
    text.putText(name)
    text.putText(skuCode)
    for field in ProductLayout.sharedTexts { text.putText(try shared(field)) }
    for time in [createTime, updateTime] {
      let bytes = Array(time.utf8)
      text.putText(bytes.rawSpan)
    }
    for number in [categoryId, delFlag, groupNum] { text.put(UInt64(bitPattern: number)) }
    for number in [length, tall, volume, weight, wide] { text.put(number.bitPattern) }
    for flag in [isGreeProduct, isGroupedProduct, isMarketingProduct, isSaleProduct] {
      text.append(flag ? 1 : 0)
    }
  }
}

extension Relation {
  /// All 5 fields in one unambiguous text.
  func appendContent(to text: inout [UInt8]) {
    for part in [id, orgId, productId, subProductId] {
      let bytes = Array(part.utf8)
      text.putText(bytes.rawSpan)
    }
    text.put(UInt64(bitPattern: groupNum))
  }
}
