import Foundation

/// A type whose values can be constants in a condition. Its encoding as a document is one scalar.
///
/// An enumeration whose raw value has such a type needs only the conformance, `extension Gender: QueryValue {}`.
public protocol QueryValue {
  /// The value as ``DocumentEncoder`` encodes it.
  var documentValue: DocumentValue { get }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
  public var documentValue: DocumentValue { rawValue.documentValue }
}

extension QueryValue where Self: FixedWidthInteger {
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
  public var documentValue: DocumentValue { .double(self) }
}

extension Float: QueryValue {
  public var documentValue: DocumentValue { .double(Double(self)) }
}

extension Bool: QueryValue {
  public var documentValue: DocumentValue { .bool(self) }
}

extension String: QueryValue {
  public var documentValue: DocumentValue { .text(self) }
}

extension Date: QueryValue {
  public var documentValue: DocumentValue { .date(self) }
}

extension Data: QueryValue {
  public var documentValue: DocumentValue { .bytes(Array(self)) }
}

extension UUID: QueryValue {
  public var documentValue: DocumentValue { .text(uuidString) }
}

extension URL: QueryValue {
  public var documentValue: DocumentValue { .text(absoluteString) }
}

extension Decimal: QueryValue {
  public var documentValue: DocumentValue { DocumentValue(self) }
}
