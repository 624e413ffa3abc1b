import CatalogRows
public import DocumentFormat

/// The fields of a product beyond the 25: a JSON object.
///
///     product.extra["price"]                        // .double(12.5), or nil
///     product.extra = try ProductExtra(json: #"{"price": 12.50, "shelf": "A7"}"#)
///
/// It is kept as text in one form: no white space, keys in byte order, numbers as they were written. So two are equal
/// if they have the same fields and their numbers the same digits. `ExtraLimits` says how large one may be.
public struct ProductExtra: Hashable, Sendable {
  /// The object in the form that products store; empty if there are no fields.
  let bytes: [UInt8]

  /// Creates an object without fields.
  public init() { bytes = [] }

  init(canonical bytes: [UInt8]) { self.bytes = bytes }

  /// Creates the fields of a JSON object.
  ///
  /// - Throws: ``Invalid`` for text that is not a JSON object, has a key twice, or exceeds `ExtraLimits`.
  public init(json: String) throws(Invalid) {
    guard var members = ExtraMembers(json: json.utf8.span) else { throw Invalid(reason: "this is not a JSON object") }
    var bytes: [UInt8] = []
    if !members.isEmpty {
      do throws(ExtraProblem) { try members.append(to: &bytes) } catch { throw Invalid(reason: error.description) }
    }
    self.bytes = bytes
  }

  /// A reason why a text cannot be the fields of a product.
  public struct Invalid: Error, Sendable, CustomStringConvertible {
    /// What is wrong.
    public var reason: String
    /// What is wrong.
    public var description: String { reason }
  }

  /// Whether there are no fields.
  public var isEmpty: Bool { bytes.isEmpty }

  /// The object as JSON on one line; `{}` if there are no fields.
  public var json: String { isEmpty ? "{}" : String(decoding: bytes, as: UTF8.self) }

  /// The object as a value. A decimal number is the nearest double; ``json`` has its digits.
  public var value: DocumentValue {
    // A number beyond the largest double is kept as it was written, and has no value.
    (try? DocumentValue(json: bytes.span)) ?? .object([])
  }

  /// The names of the fields, in byte order.
  public var names: [String] {
    guard case .object(let fields) = value else { return [] }
    return fields.map(\.name)
  }

  /// The value of a field; `nil` if there is no such field.
  ///
  /// - Complexity: Reads the whole object.
  public subscript(name: String) -> DocumentValue? { isEmpty ? nil : value[name] }
}
