/// Takes decoded rows one by one, in the order of the payload.
///
/// A row is lent for the call: whoever wants to keep it copies what it needs.
public protocol RowSink {
  /// Takes one row of `appProductVOList`.
  mutating func product(_ row: borrowing ProductRow) throws
  /// Takes one row of `appProductRelVOList`.
  mutating func relation(_ row: borrowing RelationRow) throws
}
