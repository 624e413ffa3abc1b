/// A receiver of decoded rows, one at a time, in payload order.
///
/// A row is lent for the call. Copy what you want to keep.
public protocol RowSink {
  /// Receives a row of `appProductVOList`.
  mutating func product(_ row: borrowing ProductRow) throws
  /// Receives a row of `appProductRelVOList`.
  mutating func relation(_ row: borrowing RelationRow) throws
  /// Receives a row of `appProductCodeVOList`.
  mutating func code(_ row: borrowing CodeRow) throws
}
