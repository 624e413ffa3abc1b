import Bytes
import Foundation

/// A constant to compare with: any value but arrays and objects, its text as bytes.
enum Scalar: Sendable {
  case null
  case bool(Bool)
  case number(Number)
  case date(Date)
  case text([UInt8])
  case bytes([UInt8])

  /// Nil for arrays and objects.
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

  /// Below, equal to or above zero as this stands before, with or behind `other`; nil if they are of different kinds.
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
  /// Above `Int64.max`.
  case unsigned(UInt64)
  case double(Double)

  @inline(__always)
  init(_ value: UInt64) { self = value <= UInt64(Int64.max) ? .integer(Int64(value)) : .unsigned(value) }

  /// The order of the values, exact where a double cannot hold the integer. NaN equals itself and precedes all others.
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

  /// The order of an integer of at most 64 bits and a double.
  private static func order(_ a: Int128, _ b: Double) -> Int {
    if b.isNaN { return 1 }
    if b >= 0x1p64 { return -1 }
    if b < -0x1p63 { return 1 }
    let floor = Int128(b.rounded(.down))
    if a != floor { return a < floor ? -1 : 1 }
    return Double(floor) < b ? -1 : 0
  }

  /// The same number in the first of the cases that can hold it, so that equal numbers are in equal cases.
  var canonical: Number {
    guard case .double(let value) = self else { return self }
    if let integer = Int64(exactly: value) { return .integer(integer) }
    if let integer = UInt64(exactly: value) { return .unsigned(integer) }
    return self
  }
}

extension Date {
  /// As ``Number/order(_:)``: a date that is not a number equals itself and precedes all others.
  @inline(__always)
  func order(_ other: Date) -> Int {
    Number.double(timeIntervalSinceReferenceDate).order(.double(other.timeIntervalSinceReferenceDate))
  }
}

extension RawSpan {
  /// As ``Scalar/order(_:)`` between the value at `offset`, null where it is missing, and `scalar`.
  func order(at offset: Int?, _ scalar: Scalar) throws(DocumentError) -> Int? {
    guard let offset else { return if case .null = scalar { 0 } else { nil } }
    switch (try item(at: offset), scalar) {
    case (.null, .null): return 0
    case (.bool(let a), .bool(let b)): return a == b ? 0 : b ? -1 : 1
    case (.integer(let a), .number(let b)): return Number.integer(a).order(b)
    case (.unsigned(let a), .number(let b)): return Number.unsigned(a).order(b)
    case (.double(let a), .number(let b)): return Number.double(a).order(b)
    case (.date(let a), .date(let b)): return a.order(b)
    case (.text(let a), .text(let b)), (.bytes(let a), .bytes(let b)): return extracting(a).order(b.rawSpan)
    default: return nil
    }
  }
}
