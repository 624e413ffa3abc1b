import Bytes
package import CatalogRows
package import LogStore

/// The sum of the hashes of a catalogue's rows, and how many rows there are: what a digest is made of. Rows can be added
/// to it and taken away, so the digest after a change is known without reading the rest of the catalogue.
package struct CatalogRowSum: Sendable, Equatable {
  private var sum = ContentDigest()
  private var products: UInt64 = 0
  private var relations: UInt64 = 0
  private var codes: UInt64 = 0

  /// The two words of the sum.
  package var words: (first: UInt64, second: UInt64) { (sum.first, sum.second) }

  /// Creates the sum of no rows.
  package init() {}

  /// The sum of the rows of a commit, whose two words are known.
  package init(_ words: (first: UInt64, second: UInt64), of snapshot: CatalogSnapshot) {
    sum = ContentDigest(first: words.first, second: words.second)
    products = UInt64(snapshot.productCount)
    relations = UInt64(snapshot.relationCount)
    codes = UInt64(snapshot.codeCount)
  }

  /// Whether a commit has as many rows of each kind. It has fewer if two rows of the sum have one id.
  package func hasCounts(of snapshot: CatalogSnapshot) -> Bool {
    self == CatalogRowSum(words, of: snapshot)
  }

  /// Computes the sum of the rows of a commit.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: Reads every row once.
  package init(_ snapshot: CatalogSnapshot) throws(StoreError) {
    var rows = CatalogRowSum()
    try snapshot.forEachProduct { (view) throws(StoreError) in try rows.add(view) }
    try snapshot.forEachRelation { rows.add($0) }
    try snapshot.forEachCode { rows.add($0) }
    self = rows
  }

  /// The digest of a catalogue with these rows.
  ///
  /// - Parameter cursor: The catalogue's cursor.
  package func digest(cursor: String) -> CatalogDigest {
    var closing = ByteWriter()
    closing.put(products)
    closing.put(relations)
    if codes > 0 { closing.put(codes) }
    closing.put(sum.first)
    closing.put(sum.second)
    closing.put(Array(cursor.utf8))
    var content = ContentDigest()
    content.add(closing.bytes.rawSpan)
    return CatalogDigest(content)
  }

  mutating func add(_ view: borrowing ProductView) throws(StoreError) {
    products &+= 1
    sum.add(try Self.hash(of: view))
  }

  /// Takes a product away.
  mutating func remove(_ view: borrowing ProductView) throws(StoreError) {
    products &-= 1
    sum.subtract(try Self.hash(of: view))
  }

  private static func hash(of view: borrowing ProductView) throws(StoreError) -> ContentDigest {
    var text: [UInt8] = [0]
    try view.appendContent(to: &text)
    return hash(of: text)
  }

  /// Adds a product.
  package mutating func add(_ row: borrowing ProductRow) {
    products &+= 1
    var text: [UInt8] = []
    text.reserveCapacity(row.texts.bytes.count + 256)
    text.append(0)
    row.appendContent(to: &text)
    sum.add(text.rawSpan)
  }

  mutating func add(_ relation: Relation) {
    relations &+= 1
    sum.add(Self.hash(of: relation))
  }

  /// Takes a relation away.
  mutating func remove(_ relation: Relation) {
    relations &-= 1
    sum.subtract(Self.hash(of: relation))
  }

  private static func hash(of relation: Relation) -> ContentDigest {
    var text: [UInt8] = [1]
    relation.appendContent(to: &text)
    return hash(of: text)
  }

  /// Adds a relation.
  package mutating func add(_ row: borrowing RelationRow) { add(Relation(row)) }

  mutating func add(_ code: ProductCode) {
    codes &+= 1
    sum.add(Self.hash(of: code))
  }

  /// Takes a code away.
  mutating func remove(_ code: ProductCode) {
    codes &-= 1
    sum.subtract(Self.hash(of: code))
  }

  private static func hash(of code: ProductCode) -> ContentDigest {
    var text: [UInt8] = [2]
    code.appendContent(to: &text)
    return hash(of: text)
  }

  /// Adds a code.
  package mutating func add(_ row: borrowing CodeRow) { add(ProductCode(row)) }

  private static func hash(of text: [UInt8]) -> ContentDigest {
    var hash = ContentDigest()
    hash.add(text.rawSpan)
    return hash
  }
}

extension ProductRow {
  /// The texts in the order of `ProductView.appendContent(to:)`.
  private static let digestedTexts: [ProductText] =
    [.id, .barcode, .name, .skuCode] + ProductLayout.sharedTexts + [.createTime, .updateTime]

  /// Appends all fields as `ProductView.appendContent(to:)` does.
  fileprivate borrowing func appendContent(to text: inout [UInt8]) {
    for field in Self.digestedTexts {
      text.putText(texts.raw(field.rawValue))
    }
    for field in ProductView.digestedNumbers {
      switch field.slot {
      case .integer(let slot): text.put(UInt64(bitPattern: integers[slot]))
      case .double(let slot): text.put(doubles[slot].bitPattern)
      case .flag(let slot): text.append(UInt8(flags >> UInt32(slot) & 1))
      case .text: continue
      }
    }
    if texts.byteCount(Self.extraText) > 0 { text.putText(texts.raw(Self.extraText)) }
  }
}
