public import Essentials

/// A type whose values can be constants in a condition. Its encoding as a document is one scalar.
///
/// An enumeration whose raw value has such a type needs only the conformance, `extension Gender: QueryValue {}`.
public protocol QueryValue {
  /// The value as ``DocumentEncoder`` encodes it.
  var documentValue: DocumentValue { get }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
  /// The document value of the raw value.
  public var documentValue: DocumentValue { rawValue.documentValue }
}

extension QueryValue where Self: FixedWidthInteger {
  /// The integer; `unsigned` if it is greater than `Int64.max`.
  public var documentValue: DocumentValue {
    Int64(exactly: self).map { .integer($0) } ?? .unsigned(UInt64(truncatingIfNeeded: self))
  }
}

extension Int: QueryValue {}
extension Int8: QueryValue {}
extension Int16: QueryValue {}
extension Int32: QueryValue {}
extension Int64: QueryValue {}
extension UInt: QueryValue {}
extension UInt8: QueryValue {}
extension UInt16: QueryValue {}
extension UInt32: QueryValue {}
extension UInt64: QueryValue {}

extension Double: QueryValue {
  /// The number as a double, even if it has no fraction. Comparisons are by value, so `2.0` equals an integer 2.
  public var documentValue: DocumentValue { .double(self) }
}

extension Float: QueryValue {
  /// The number as a double, which holds every `Float` exactly.
  public var documentValue: DocumentValue { .double(Double(self)) }
}

extension Bool: QueryValue {
  /// The Boolean, which equals no number.
  public var documentValue: DocumentValue { .bool(self) }
}

extension String: QueryValue {
  /// The text. It is compared by UTF-8 bytes, so no normalisation takes place.
  public var documentValue: DocumentValue { .text(self) }
}

extension Date: QueryValue {
  /// The date, with the precision of a double of seconds since 1970.
  public var documentValue: DocumentValue { .date(self) }
}

extension Data: QueryValue {
  /// The bytes, which equal no text.
  public var documentValue: DocumentValue { .bytes(Array(self)) }
}

extension UUID: QueryValue {
  /// The UUID as text of 36 characters in upper case, as documents store it.
  public var documentValue: DocumentValue { .text(uuidString) }
}

extension URL: QueryValue {
  /// The absolute string of the URL, as documents store it.
  public var documentValue: DocumentValue { .text(absoluteString) }
}

extension Decimal: QueryValue {
  /// The number as an integer or double if one holds it exactly; otherwise its digits as text.
  public var documentValue: DocumentValue { DocumentValue(self) }
}
