import Barcodes
import Bytes
public import DocumentFormat
import TextFormat

/// The declared fields of one's own: of which type those fields of ``Product/extra`` are that are used for something.
///
///     {"carton_ean": {"role": "code", "quantity": 12, "unit": "case"}, "price": {"type": "decimal", "order": true}}
///
/// Fields that are not declared stay as they are. The declarations are a setting of a store, not part of a catalogue:
/// they say how it is read, and which indexes its next full update or compaction writes.
///
/// Invariant: every declaration is sound, and the names of its indexes fit a file.
public struct DeclaredFields: Hashable, Sendable {
  /// The greatest number of declared fields.
  public static let maximumCount = 64
  /// The greatest number of fields whose values are codes. A scan that matches nothing asks for each.
  public static let maximumCodeCount = 8
  /// The greatest length of the name of a field in bytes.
  public static let maximumNameByteCount = 100

  private var declarations: [String: FieldDeclaration] = [:]

  /// Creates a list without any field.
  public init() {}

  /// Whether no field is declared.
  public var isEmpty: Bool { declarations.isEmpty }
  /// The number of declared fields.
  public var count: Int { declarations.count }

  /// The names of the declared fields, in byte order.
  public var names: [String] { declarations.keys.sorted { $0.isBytewiseLess(than: $1) } }

  /// The declaration of a field; `nil` if it has none.
  public subscript(name: String) -> FieldDeclaration? { declarations[name] }

  /// Declares a field, in place of an earlier declaration of the same name.
  ///
  /// - Throws: ``FieldError`` for a name or a declaration that cannot be used. Nothing changed then.
  public mutating func set(_ name: String, _ declaration: FieldDeclaration) throws(FieldError) {
    try Self.check(name)
    try Self.check(name, declaration)
    var declarations = declarations
    declarations[name] = declaration
    guard declarations.count <= Self.maximumCount else {
      throw FieldError(nil, "at most \(Self.maximumCount) fields are declared")
    }
    var changed = self
    changed.declarations = declarations
    guard changed.codes.count <= Self.maximumCodeCount else {
      throw FieldError(
        name, "role", "at most \(Self.maximumCodeCount) fields are codes; a table of codes has any number of them")
    }
    guard ProductIndex.search(with: changed.searched).name.utf8.count <= ProductIndex.longestName else {
      throw FieldError(
        name, "search", "the names of all searched fields together are too long; search fewer of them")
    }
    self = changed
  }

  /// Removes the declaration of a field. Its values stay as they are.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public mutating func unset(_ name: String) -> Bool { declarations.removeValue(forKey: name) != nil }

  // MARK: Uses

  /// The names of the fields whose words a search finds, in byte order.
  public var searched: [String] { names.filter { declarations[$0]?.isSearched == true } }
  /// The names of the fields that have an index in their order, in byte order.
  public var ordered: [String] { names.filter { declarations[$0]?.isOrdered == true } }
  /// The names of the fields whose values are codes, in byte order.
  public var codes: [String] { names.filter { declarations[$0]?.isCode == true } }

  /// The indexes that they need, except for that of a search.
  var indexes: [ProductIndex] {
    ordered.map { .extra(field($0)) } + codes.map { .code(field($0)) }
  }

  /// A field as it is read, declared or not.
  func field(_ name: String) -> ExtraField { ExtraField(name, declarations[name]?.type) }

  // MARK: Checks

  private static func check(_ name: String) throws(FieldError) {
    guard (1...maximumNameByteCount).contains(name.utf8.count) else {
      throw FieldError(name, "a name has 1 to \(maximumNameByteCount) bytes")
    }
    if name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw FieldError(name, "a name has no control characters")
    }
  }

  private static func check(_ name: String, _ declaration: FieldDeclaration) throws(FieldError) {
    if declaration.isCode {
      guard declaration.type == .text else {
        throw FieldError(name, "role", "a code is a text, not of the type \(declaration.type.rawValue)")
      }
      guard declaration.quantity.coefficient > 0 else {
        throw FieldError(name, "quantity", "a code stands for more than 0 pieces, not for \(declaration.quantity)")
      }
      guard declaration.unit.utf8.count <= maximumNameByteCount else {
        throw FieldError(name, "unit", "a unit has at most \(maximumNameByteCount) bytes")
      }
    } else {
      if declaration.quantity != ExactDecimal(1) {
        throw FieldError(name, "quantity", "only codes have a quantity; add \"role\": \"code\"")
      }
      if !declaration.unit.isEmpty {
        throw FieldError(name, "unit", "only codes have a unit; add \"role\": \"code\"")
      }
    }
    if declaration.isSearched, declaration.type != .text {
      throw FieldError(
        name, "search", "only texts have words; a field of the type \(declaration.type.rawValue) has none")
    }
  }
}

// MARK: - JSON

extension DeclaredFields {
  /// Reads declarations from an object of objects, as the setting `fields` has them.
  ///
  /// - Throws: ``FieldError`` with the field and the member.
  public init(_ value: DocumentValue) throws(FieldError) {
    guard case .object(let fields) = value else {
      throw FieldError(nil, "write an object such as {\"price\": {\"type\": \"decimal\", \"order\": true}}")
    }
    for field in fields {
      if declarations[field.name] != nil { throw FieldError(field.name, "the name is there twice") }
      try set(field.name, try FieldDeclaration(field.value, of: field.name))
    }
  }

  /// Reads declarations from JSON, as ``init(_:)`` does.
  ///
  /// - Throws: ``FieldError``, also for text that is no JSON.
  public init(json: [UInt8]) throws(FieldError) {
    let value: DocumentValue
    do { value = try DocumentValue(json: json.span) } catch {
      throw FieldError(nil, "this is no JSON (\(error)); write an object such as {\"price\": {\"type\": \"decimal\"}}")
    }
    try self.init(value)
  }

  /// The declarations as an object of objects, in the order of names.
  public var value: DocumentValue {
    .object(names.map { DocumentValue.Field($0, declarations[$0]?.value ?? .null) })
  }
}

extension FieldDeclaration {
  /// The members of a declaration in JSON.
  private static let members = ["type", "role", "quantity", "unit", "search", "order"]

  /// Reads a declaration from an object.
  ///
  /// - Parameters:
  ///   - value: The object.
  ///   - name: The field, for errors.
  /// - Throws: ``FieldError``.
  public init(_ value: DocumentValue, of name: String) throws(FieldError) {
    guard case .object(let members) = value else {
      throw FieldError(name, "write an object such as {\"type\": \"decimal\", \"order\": true}")
    }
    for member in members {
      switch member.name {
      case "type":
        let names = FieldType.allCases.map(\.rawValue)
        guard case .text(let text) = member.value, let type = FieldType(rawValue: text) else {
          throw FieldError(name, "type", "write \(names.joined(separator: ", "))")
        }
        self.type = type
      case "role":
        guard case .text("code") = member.value else {
          throw FieldError(name, "role", "the only role is \"code\"")
        }
        isCode = true
      case "quantity":
        guard let quantity = Self.number(member.value) else {
          throw FieldError(name, "quantity", "write a number such as 12")
        }
        self.quantity = quantity
      case "unit":
        guard case .text(let text) = member.value else {
          throw FieldError(name, "unit", "write a text such as \"case\"")
        }
        unit = text
      case "search": isSearched = try Self.flag(member.value, name, "search")
      case "order": isOrdered = try Self.flag(member.value, name, "order")
      default:
        let guess = NearestName.of(member.name, among: Self.members).map { "is \($0) meant?" }
        throw FieldError(
          name,
          "\"\(member.name.shortened)\" is unknown; "
            + (guess ?? "a declaration has \(Self.members.joined(separator: ", "))"))
      }
    }
  }

  /// The declaration as an object, without members that have their defaults. The type is always there.
  public var value: DocumentValue {
    var members = [DocumentValue.Field("type", .text(type.rawValue))]
    if isCode {
      members.append(DocumentValue.Field("role", .text("code")))
      members.append(DocumentValue.Field("quantity", (try? DocumentValue(json: quantity.description)) ?? .integer(1)))
      if !unit.isEmpty { members.append(DocumentValue.Field("unit", .text(unit))) }
    }
    if isSearched { members.append(DocumentValue.Field("search", .bool(true))) }
    if isOrdered { members.append(DocumentValue.Field("order", .bool(true))) }
    return .object(members)
  }

  private static func number(_ value: DocumentValue) -> ExactDecimal? {
    switch value {
    case .integer(let number): ExactDecimal(String(number))
    // The shortest digits that read back as the same double are those that were written.
    case .double(let number): ExactDecimal(number.description)
    case .text(let text): ExactDecimal(text)
    default: nil
    }
  }

  private static func flag(
    _ value: DocumentValue, _ name: String, _ member: String
  ) throws(FieldError) -> Bool {
    guard case .bool(let isSet) = value else { throw FieldError(name, member, "write true or false") }
    return isSet
  }
}
