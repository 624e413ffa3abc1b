public import Barcodes

/// The type of the values of a field of one's own.
public enum FieldType: String, CaseIterable, Sendable {
  /// A text. A number stands for its digits.
  case text
  /// A decimal number of at most 300 digits, without rounding: 0, or from 10⁻³⁰⁰ to less than 10³⁰⁰ without its sign. A
  /// text may contain it.
  case decimal
  /// A whole number of at most 18 digits. A text may contain it.
  case int
  /// `true` or `false`; also as a text, and as `yes`, `no`, 1 or 0.
  case bool
  /// A text that begins with a date, `2026-01-31`, which a time may follow.
  case date
}

/// What a field of one's own is, beyond the 25 of a product: its type, and what it is used for.
public struct FieldDeclaration: Hashable, Sendable {
  /// The type of the values. A value of another type counts as missing.
  public var type = FieldType.text
  /// Whether a search finds the words of the field. Only for texts.
  public var isSearched = false
  /// Whether the catalogue has an index in the order of the field.
  public var isOrdered = false
  /// Whether the values are further codes of the product. Only for texts.
  public var isCode = false
  /// How many of the product's unit a code of this field stands for, more than 0.
  public var quantity = ExactDecimal(1)
  /// The unit of what a code of this field is on, such as `case`; may be empty.
  public var unit = ""

  /// Creates the declaration of a text that is used for nothing.
  public init() {}

  /// Creates a declaration of a type.
  public init(_ type: FieldType, isSearched: Bool = false, isOrdered: Bool = false) {
    self.type = type
    self.isSearched = isSearched
    self.isOrdered = isOrdered
  }

  /// Creates the declaration of a field whose values are codes.
  ///
  /// - Parameters:
  ///   - quantity: How many of the product's unit a code stands for; more than 0.
  ///   - unit: The unit of what the code is on.
  public static func code(quantity: ExactDecimal = ExactDecimal(1), unit: String = "") -> FieldDeclaration {
    var declaration = FieldDeclaration()
    declaration.isCode = true
    declaration.quantity = quantity
    declaration.unit = unit
    return declaration
  }
}

/// A declaration that cannot be used.
public struct FieldError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The field; `nil` if the problem is that of the declarations together.
  public var field: String?
  /// The member of the declaration, such as `type`; `nil` if it is the declaration as a whole.
  public var member: String?
  /// What is wrong, and what to write instead.
  public var problem: String

  init(_ field: String?, _ member: String, _ problem: String) {
    self.field = field
    self.member = member
    self.problem = problem
  }

  init(_ field: String?, _ problem: String) {
    self.field = field
    self.problem = problem
  }

  /// The field, the member, and what is wrong.
  public var description: String {
    let name = field.map { "the field \"\($0.shortened)\"" } ?? "the fields"
    return member.map { "\(name), \($0): \(problem)" } ?? "\(name): \(problem)"
  }
}
