import Bytes
public import CatalogRows
import LogStore

/// One relation: the set `productId` needs `groupNum` pieces of the component `subProductId`.
public struct Relation: Hashable, Sendable {
  /// The number of pieces of the component that one set needs; 0 if the server sent none.
  public var groupNum: Int64 = 0
  /// The relation's id at the server; may be empty. It is stored but not used for lookups.
  public var id = ""
  /// The id of the organisation that the row belongs to; may be empty.
  public var orgId = ""
  /// The id of the set. The catalogue may lack this product.
  public var productId = ""
  /// The id of the component. The catalogue may lack this product; the set cannot be completed then.
  public var subProductId = ""

  /// Creates a relation with the protocol's defaults: empty texts, and 0 pieces.
  public init() {}

  /// Copies every field of a decoded row.
  public init(_ row: borrowing RelationRow) {
    groupNum = row.groupNum
    id = row[.id]
    orgId = row[.orgId]
    productId = row[.productId]
    subProductId = row[.subProductId]
  }

  /// Copies every field of a record of the relation table and checks the record.
  ///
  /// - Throws: `StoreError.damaged` if the record breaks a rule of the format or its shared string fails its check.
  init(_ record: borrowing RecordView) throws(StoreError) {
    let view = RelationView(copy record)
    try view.checkShape()
    groupNum = view.groupNum
    id = try view.checked(view.id, "id")
    orgId = try view.checked(record.shared(0), "orgId")
    productId = try view.checked(view.productId, "productId")
    subProductId = try view.checked(view.subProductId, "subProductId")
  }

  /// Copies every field into a row, which JSON and store writers accept.
  public func fill(_ row: inout RelationRow) {
    row.reset()
    row.texts.set(RelationText.id.rawValue, id)
    row.texts.set(RelationText.orgId.rawValue, orgId)
    row.texts.set(RelationText.productId.rawValue, productId)
    row.texts.set(RelationText.subProductId.rawValue, subProductId)
    row.groupNum = groupNum
  }

  /// Returns whether `a` comes before `b` in the order of `dump`: by set, component and id, in byte order.
  public static func precedes(_ a: Relation, _ b: Relation) -> Bool {
    if !a.productId.isBytewiseEqual(to: b.productId) { return a.productId.isBytewiseLess(than: b.productId) }
    if !a.subProductId.isBytewiseEqual(to: b.subProductId) {
      return a.subProductId.isBytewiseLess(than: b.subProductId)
    }
    return a.id.isBytewiseLess(than: b.id)
  }
}

/// An encoder of relation rows as records. The keys are set and component, the only shared string is orgId, and the
/// body is groupNum in eight bytes followed by the id.
struct RelationEncoder {
  private var draft = RecordDraft()

  /// Puts `row` into the transaction.
  mutating func put(_ row: borrowing RelationRow, into transaction: Transaction) throws(StoreError) {
    let orgId = row.texts.raw(RelationText.orgId.rawValue)
    encode(row, orgId.byteCount > 0 ? try transaction.share(orgId) : nil)
    try transaction.put(CatalogSchema.relations, draft)
  }

  /// Checks whether `row` fits the limits of the format, without writing anything.
  ///
  /// - Throws: `StoreError.tooLarge`.
  mutating func checkSize(of row: borrowing RelationRow) throws(StoreError) {
    // Few rows have more bytes than the lowest limit, which is that of the keys; only these are encoded once more.
    if row.texts.bytes.count <= Schema.maximumKeyLength { return }
    try Transaction.checkSize(shared: row.texts.raw(RelationText.orgId.rawValue))
    encode(row, .empty)
    try Transaction.checkSize(draft, "a row of relations")
  }

  private mutating func encode(_ row: borrowing RelationRow, _ orgId: SharedString?) {
    draft.reset()
    draft.addKey(row.texts.raw(RelationText.productId.rawValue))
    draft.addKey(row.texts.raw(RelationText.subProductId.rawValue))
    if let orgId { draft.addShared(orgId) }
    draft.body.put(UInt64(bitPattern: row.groupNum))
    draft.body.append(row.texts.raw(RelationText.id.rawValue))
  }
}

extension String {
  /// Returns whether this string precedes `other` in the order of UTF-8 bytes, which is also the order of code points.
  /// The standard library orders strings by their normal forms.
  package func isBytewiseLess(than other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }

  /// Returns whether both strings have the same UTF-8 bytes, as the store compares them. Strings that are equal in
  /// Swift may have different bytes: é, or e and an accent.
  func isBytewiseEqual(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
