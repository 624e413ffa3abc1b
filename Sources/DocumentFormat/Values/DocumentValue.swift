import Foundation

/// A value of a document without a Swift type: what the shell reads and writes, and the constants of a condition.
public enum DocumentValue: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// An integer above `Int64.max`; smaller ones are ``integer(_:)``, and are equal to it if they stand here.
  case unsigned(UInt64)
  case double(Double)
  case text(String)
  case bytes([UInt8])
  /// A moment; stored with the precision of a double of seconds since 1970, about a quarter of a microsecond today.
  case date(Date)
  case array([DocumentValue])
  /// Fields in their order.
  case object([Field])

  /// A field of an object.
  public struct Field: Sendable, Equatable {
    public var name: String
    public var value: DocumentValue

    public init(_ name: String, _ value: DocumentValue) {
      self.name = name
      self.value = value
    }
  }

  /// The value of the first field called `name`, by bytes of UTF-8; nil if there is none or this is no object.
  public subscript(name: String) -> DocumentValue? {
    guard case .object(let fields) = self else { return nil }
    return fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// What the value is.
  public var kind: DocumentKind {
    switch self {
    case .null: .null
    case .bool: .bool
    case .integer, .unsigned, .double: .number
    case .date: .date
    case .text: .text
    case .bytes: .bytes
    case .array: .array
    case .object: .object
    }
  }
}

extension DocumentValue: Equatable {
  /// Whether both mean the same: numbers by value whatever their form (NaN equals itself), texts by their bytes,
  /// objects by their fields in any order.
  public static func == (a: DocumentValue, b: DocumentValue) -> Bool {
    switch (a, b) {
    case (.array(let a), .array(let b)): return a == b
    case (.object(let a), .object(let b)): return haveSameFields(a, b)
    default:
      guard let a = Scalar(a), let b = Scalar(b) else { return false }
      return a.order(b) == 0
    }
  }

  private static func haveSameFields(_ a: [Field], _ b: [Field]) -> Bool {
    guard a.count == b.count else { return false }
    // Keys by bytes: the equality of strings also equates different bytes.
    var values: [[UInt8]: DocumentValue] = [:]
    for field in a { values[Array(field.name.utf8)] = field.value }
    return b.allSatisfy { field in
      values.removeValue(forKey: Array(field.name.utf8)).map { $0 == field.value } ?? false
    }
  }
}
