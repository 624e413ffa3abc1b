import Bytes
import Essentials

/// A constant to compare with: any value except arrays and objects, with text as UTF-8 bytes.
enum Scalar: Sendable {
  case null
  case bool(Bool)
  case number(Number)
  case date(Date)
  case text([UInt8])
  case bytes([UInt8])

  /// Creates a scalar; `nil` for arrays and objects.
  init?(_ value: DocumentValue) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .number(.integer(value))
    case .unsigned(let value): self = .number(Number(value))
    case .double(let value): self = .number(.double(value))
    case .text(let value): self = .text(Array(value.utf8))
    case .bytes(let value): self = .bytes(value)
    case .date(let value): self = .date(value)
    case .array, .object: return nil
    }
  }

  /// Compares two scalars. Returns a negative number, zero or a positive number if this one is less than, equal to or
  /// greater than `other`; `nil` if they are of different kinds.
  func order(_ other: Scalar) -> Int? {
    switch (self, other) {
    case (.null, .null): 0
    case (.bool(let a), .bool(let b)): a == b ? 0 : b ? -1 : 1
    case (.number(let a), .number(let b)): a.order(b)
    case (.date(let a), .date(let b)): a.order(b)
    case (.text(let a), .text(let b)), (.bytes(let a), .bytes(let b)): a.rawSpan.order(b.rawSpan)
    default: nil
    }
  }
}

/// An integer or a double, compared by value.
enum Number: Sendable {
  case integer(Int64)
  /// An integer greater than `Int64.max`.
  case unsigned(UInt64)
  case double(Double)

  @inline(__always)
  init(_ value: UInt64) { self = value <= UInt64(Int64.max) ? .integer(Int64(value)) : .unsigned(value) }

  /// Compares by value, exactly even if a double cannot represent the integer. NaN equals itself and precedes all other
  /// numbers.
  func order(_ other: Number) -> Int {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): a < b ? -1 : a == b ? 0 : 1
    case (.unsigned(let a), .unsigned(let b)): a < b ? -1 : a == b ? 0 : 1
    case (.integer, .unsigned): -1
    case (.unsigned, .integer): 1
    case (.double(let a), .double(let b)): a < b ? -1 : a == b ? 0 : a > b ? 1 : a.isNaN ? (b.isNaN ? 0 : -1) : 1
    case (.integer(let a), .double(let b)): Self.order(Int128(a), b)
    case (.unsigned(let a), .double(let b)): Self.order(Int128(a), b)
    case (.double(let a), .integer(let b)): -Self.order(Int128(b), a)
    case (.double(let a), .unsigned(let b)): -Self.order(Int128(b), a)
    }
  }

  /// Compares an integer of at most 64 bits with a double.
  private static func order(_ a: Int128, _ b: Double) -> Int {
    if b.isNaN { return 1 }
    if b >= 0x1p64 { return -1 }
    if b < -0x1p63 { return 1 }
    let floor = Int128(b.rounded(.down))
    if a != floor { return a < floor ? -1 : 1 }
    return Double(floor) < b ? -1 : 0
  }

  /// The same number in the first case that can represent it, so that equal numbers have equal cases.
  var canonical: Number {
    guard case .double(let value) = self else { return self }
    if let integer = Int64(exactly: value) { return .integer(integer) }
    if let integer = UInt64(exactly: value) { return .unsigned(integer) }
    return self
  }
}

extension Date {
  /// Compares like ``Number/order(_:)``: a NaN date equals itself and precedes all others.
  @inline(__always)
  func order(_ other: Date) -> Int {
    Number.double(timeIntervalSinceReferenceDate).order(.double(other.timeIntervalSinceReferenceDate))
  }
}

extension RawSpan {
  /// Compares an item of these bytes with `scalar`, like ``Scalar/order(_:)``.
  func order(_ item: Item, _ scalar: Scalar) -> Int? {
    switch (item, scalar) {
    case (.null, .null): 0
    case (.bool(let a), .bool(let b)): a == b ? 0 : b ? -1 : 1
    case (.integer(let a), .number(let b)): Number.integer(a).order(b)
    case (.unsigned(let a), .number(let b)): Number.unsigned(a).order(b)
    case (.double(let a), .number(let b)): Number.double(a).order(b)
    case (.date(let a), .date(let b)): a.order(b)
    case (.text(let a), .text(let b)), (.bytes(let a), .bytes(let b)): extracting(a).order(b.rawSpan)
    default: nil
    }
  }
}
