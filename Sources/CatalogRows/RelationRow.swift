/// The four texts of a relation, in the order in which a row numbers them.
public enum RelationText: Int, CaseIterable, Sendable {
  case id, orgId, productId, subProductId
}

/// One relation (a set needs a component) as a decoder hands it over and an encoder takes it.
public struct RelationRow: Sendable {
  /// Texts by ``RelationText``; all empty by default.
  public var texts = TextRow(count: RelationText.allCases.count)
  /// Pieces of the component that one set needs; 0 where the payload says nothing.
  public var groupNum: Int64 = 0

  public init() {}

  /// Puts back every default and keeps the buffers.
  @inlinable
  public mutating func reset() {
    texts.reset()
    groupNum = 0
  }

  /// The text `field` as a string.
  public subscript(_ field: RelationText) -> String { texts.string(field.rawValue) }
}
