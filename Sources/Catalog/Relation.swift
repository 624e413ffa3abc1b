import Bytes
import CatalogRows
import LogStore

/// One relation: the set `productId` needs `groupNum` pieces of the component `subProductId`.
public struct Relation: Hashable, Sendable {
  public var groupNum: Int64 = 0
  public var id = ""
  public var orgId = ""
  public var productId = ""
  public var subProductId = ""

  public init() {}

  /// Copies every field of a decoded row.
  public init(_ row: borrowing RelationRow) {
    groupNum = row.groupNum
    id = row[.id]
    orgId = row[.orgId]
    productId = row[.productId]
    subProductId = row[.subProductId]
  }

  /// Copies every field of a record of the table of relations, and checks the record on the way.
  ///
  /// - Throws: `StoreError.damaged` if the record breaks a rule of the format; if its shared string does not pass its check.
  init(_ record: borrowing RecordView) throws(StoreError) {
    let view = RelationView(copy record)
    try view.checkShape()
    groupNum = view.groupNum
    id = try view.checked(view.id, "id")
    orgId = try view.checked(record.shared(0), "orgId")
    productId = try view.checked(view.productId, "productId")
    subProductId = try view.checked(view.subProductId, "subProductId")
  }

  /// Writes every field into a row that a writer of JSON or of a store takes.
  public func fill(_ row: inout RelationRow) {
    row.reset()
    row.texts.set(RelationText.id.rawValue, id)
    row.texts.set(RelationText.orgId.rawValue, orgId)
    row.texts.set(RelationText.productId.rawValue, productId)
    row.texts.set(RelationText.subProductId.rawValue, subProductId)
    row.groupNum = groupNum
  }

  /// The order of `dump`: by set, component, id, bytewise.
  public static func precedes(_ a: Relation, _ b: Relation) -> Bool {
    if !a.productId.isBytewiseEqual(to: b.productId) { return a.productId.isBytewiseLess(than: b.productId) }
    if !a.subProductId.isBytewiseEqual(to: b.subProductId) {
      return a.subProductId.isBytewiseLess(than: b.subProductId)
    }
    return a.id.isBytewiseLess(than: b.id)
  }
}

/// Turns relation rows into records: keys are set and component, the one shared string is orgId, the body is groupNum
/// in eight bytes and the id.
struct RelationEncoder {
  private var draft = RecordDraft()

  /// Puts `row` into the transaction.
  mutating func put(_ row: borrowing RelationRow, into transaction: Transaction) throws(StoreError) {
    let orgId = row.texts.raw(RelationText.orgId.rawValue)
    encode(row, orgId.byteCount > 0 ? try transaction.share(orgId) : nil)
    try transaction.put(CatalogSchema.relations, draft)
  }

  /// Whether the format has room for `row`, without writing anything.
  ///
  /// - Throws: `StoreError.tooLarge`.
  mutating func checkSize(of row: borrowing RelationRow) throws(StoreError) {
    // Few rows come near: their keys end at 64 KiB.
    if row.texts.bytes.count < 1 << 14 { return }
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
  /// Order by UTF-8 bytes, which is that of code points. The standard order of strings is that of normal forms.
  package func isBytewiseLess(than other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }

  /// Equality of UTF-8 bytes, as the store has it. Equal strings may be written with other bytes: é, e and an accent.
  func isBytewiseEqual(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
