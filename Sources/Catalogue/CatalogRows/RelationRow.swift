/// The four texts of a relation, in the order of their indices in a row.
public enum RelationText: Int, CaseIterable, Sendable {
  case id, orgId, productId, subProductId
}

/// A relation row (a set needs a component), which a decoder fills and an encoder reads.
public struct RelationRow: Sendable {
  /// The texts, indexed by ``RelationText``; all empty by default.
  public var texts = TextRow(count: RelationText.allCases.count)
  /// The number of pieces of the component that one set needs; 0 if the payload does not contain it.
  public var groupNum: Int64 = 0

  /// Creates a row with the defaults of the protocol.
  public init() {}

  /// Restores every default and keeps the capacity of the buffers.
  @inlinable
  public mutating func reset() {
    texts.reset()
    groupNum = 0
  }

  /// Takes over all values of another row, and keeps the capacity of the buffers.
  public mutating func copy(_ other: borrowing RelationRow) {
    texts.copy(other.texts)
    groupNum = other.groupNum
  }

  /// Returns the text `field` as a string.
  public subscript(_ field: RelationText) -> String { texts.string(field.rawValue) }
}
