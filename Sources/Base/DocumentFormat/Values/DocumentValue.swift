public import Essentials

/// A document value without a Swift type, used by the shell and for the constants of a condition.
public enum DocumentValue: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// An integer greater than `Int64.max`. A smaller value should be ``integer(_:)``, and compares equal to it.
  case unsigned(UInt64)
  case double(Double)
  case text(String)
  case bytes([UInt8])
  /// A date, stored with the precision of a double of seconds since 1970: about a quarter of a microsecond at present.
  case date(Date)
  case array([DocumentValue])
  /// The fields, in order.
  case object([Field])

  /// A field of an object.
  public struct Field: Sendable, Equatable {
    /// The field's name, compared by UTF-8 bytes.
    public var name: String
    /// The field's value, which may be an object or an array itself.
    public var value: DocumentValue

    /// Creates a field of an object.
    public init(_ name: String, _ value: DocumentValue) {
      self.name = name
      self.value = value
    }
  }

  /// The value of the first field with this name, compared by UTF-8 bytes; `nil` if there is no such field or this is
  /// not an object.
  public subscript(name: String) -> DocumentValue? {
    guard case .object(let fields) = self else { return nil }
    return fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The type of the value.
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
  /// Whether both values are equal: numbers by value, whether integer or double (NaN equals itself), texts by their
  /// bytes, objects by their fields in any order.
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
    // Compare names by bytes, because `String.==` treats canonically equivalent strings as equal.
    var values: [[UInt8]: DocumentValue] = [:]
    for field in a { values[Array(field.name.utf8)] = field.value }
    return b.allSatisfy { field in
      values.removeValue(forKey: Array(field.name.utf8)).map { $0 == field.value } ?? false
    }
  }
}
