import Foundation
import RecordFormat

/// A value that is being decoded, and how it was reached.
final class DecodingScope: Decoder {
  let source: DecodingSource
  let offset: Int
  private let parent: DecodingScope?
  private let key: (any CodingKey)?
  private let depth: Int

  init(_ source: DecodingSource, parent: DecodingScope?, key: (any CodingKey)?, offset: Int) {
    self.source = source
    self.parent = parent
    self.key = key
    self.offset = offset
    depth = parent.map { $0.depth + 1 } ?? 0
  }

  var userInfo: [CodingUserInfoKey: Any] { source.userInfo }

  var codingPath: [any CodingKey] {
    guard let parent else { return key.map { [$0] } ?? [] }
    return parent.codingPath + (key.map { [$0] } ?? [])
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let item = try item(at: offset, nil)
    guard case .object(let list) = item else { throw mismatch([String: Any].self, item, nil) }
    do {
      return KeyedDecodingContainer(KeyedDecoding<Key>(scope: self, fields: try FieldCursor(source, list)))
    } catch {
      throw damaged(error, nil)
    }
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let item = try item(at: offset, nil)
    guard case .array(let list) = item else { throw mismatch([Any].self, item, nil) }
    do {
      return UnkeyedDecoding(scope: self, start: list.start, elementCount: try source.count(list, isMap: false))
    } catch {
      throw damaged(error, nil)
    }
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleDecoding(scope: self) }

  /// The scope of the value at `place`.
  func inner(at place: Int, _ key: (any CodingKey)?) throws -> DecodingScope {
    guard depth <= DocumentLimits.nestingDepth else { throw damaged(.nestedTooDeeply(offset: place), key) }
    return DecodingScope(source, parent: self, key: key, offset: place)
  }

  // MARK: Values

  func item(at place: Int, _ key: (any CodingKey)?) throws -> Item {
    do {
      return try source.item(at: place)
    } catch {
      throw damaged(error, key)
    }
  }

  func isNull(at place: Int, _ key: any CodingKey) throws -> Bool {
    do {
      return try source.isNull(at: place)
    } catch {
      throw damaged(error, key)
    }
  }

  func bool(at place: Int, _ key: (any CodingKey)?) throws -> Bool {
    let item = try item(at: place, key)
    guard case .bool(let value) = item else { throw mismatch(Bool.self, item, key) }
    return value
  }

  func string(at place: Int, _ key: (any CodingKey)?) throws -> String {
    let item = try item(at: place, key)
    guard case .text(let range) = item else { throw mismatch(String.self, item, key) }
    let bytes = source.bytes
    guard let value = bytes.rawSpan.string(range) else { throw damaged(.invalidUTF8(offset: place), key) }
    return value
  }

  func double(at place: Int, _ key: (any CodingKey)?) throws -> Double {
    switch try item(at: place, key) {
    case .double(let value): value
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case let item: throw mismatch(Double.self, item, key)
    }
  }

  /// The nearest float, as Swift's other decoders give it.
  func float(at place: Int, _ key: (any CodingKey)?) throws -> Float { Float(try double(at: place, key)) }

  func integer<T: FixedWidthInteger>(at place: Int, _ key: (any CodingKey)?) throws -> T {
    let item = try item(at: place, key)
    let value: T? =
      switch item {
      case .integer(let value): T(exactly: value)
      case .unsigned(let value): T(exactly: value)
      case .double(let value): T(exactly: value)
      default: throw mismatch(T.self, item, key)
      }
    guard let value else {
      let what = "The number at byte \(place) does not fit into \(T.self)."
      throw DecodingError.dataCorrupted(.init(codingPath: path(key), debugDescription: what))
    }
    return value
  }

  /// The value at `place`: by its own `init(from:)` unless its type has a form of its own.
  func read<T: Decodable>(_ type: T.Type, at place: Int, _ key: (any CodingKey)?) throws -> T {
    if let known = try readKnown(type, at: place, key) { return known }
    return try T(from: inner(at: place, key))
  }

  private func readKnown<T: Decodable>(_ type: T.Type, at place: Int, _ key: (any CodingKey)?) throws -> T? {
    // The comparison of types costs a pointer each; the cast is only made where it succeeds.
    if T.self == String.self { return try string(at: place, key) as! T? }
    if T.self == Date.self { return try date(at: place, key) as! T? }
    if T.self == Data.self { return try data(at: place, key) as! T? }
    if T.self == UUID.self {
      return try parsed(UUID.self, at: place, key) { UUID(uuidString: $0) } as! T?
    }
    if T.self == URL.self { return try parsed(URL.self, at: place, key) { URL(string: $0) } as! T? }
    if T.self == Decimal.self { return try decimal(at: place, key) as! T? }
    if T.self == DocumentValue.self {
      let bytes = source.bytes
      let span = bytes.rawSpan
      do {
        var end = place
        return try DocumentValue(span, &end, depth: 0) as! T?
      } catch {
        throw damaged(error, key)
      }
    }
    return nil
  }

  private func date(at place: Int, _ key: (any CodingKey)?) throws -> Date {
    let item = try item(at: place, key)
    guard case .date(let value) = item else { throw mismatch(Date.self, item, key) }
    return value
  }

  private func data(at place: Int, _ key: (any CodingKey)?) throws -> Data {
    let item = try item(at: place, key)
    guard case .bytes(let range) = item else { throw mismatch(Data.self, item, key) }
    return Data(source.bytes[range])
  }

  private func decimal(at place: Int, _ key: (any CodingKey)?) throws -> Decimal {
    switch try item(at: place, key) {
    case .integer(let value): Decimal(value)
    case .unsigned(let value): Decimal(value)
    // The shortest text of a double is the decimal that was stored.
    case .double(let value): Decimal(string: value.description) ?? Decimal(value)
    case .text: try parsed(Decimal.self, at: place, key) { Decimal(string: $0) }
    case let item: throw mismatch(Decimal.self, item, key)
    }
  }

  /// A value that is stored as text.
  private func parsed<T>(
    _ type: T.Type, at place: Int, _ key: (any CodingKey)?, _ parse: (String) -> T?
  ) throws -> T {
    let text = try string(at: place, key)
    guard let value = parse(text) else {
      let what = "The text at byte \(place) is no \(type)."
      throw DecodingError.dataCorrupted(.init(codingPath: path(key), debugDescription: what))
    }
    return value
  }

  // MARK: Errors

  private func path(_ key: (any CodingKey)?) -> [any CodingKey] { codingPath + (key.map { [$0] } ?? []) }

  /// What damaged bytes are to those who decode.
  func damaged(_ error: DocumentError, _ key: (any CodingKey)?) -> DecodingError {
    .dataCorrupted(.init(codingPath: path(key), debugDescription: "\(error)", underlyingError: error))
  }

  private func mismatch<T>(_ type: T.Type, _ item: Item, _ key: (any CodingKey)?) -> DecodingError {
    let found =
      switch item {
      case .null: "null"
      case .bool: "a Boolean"
      case .integer, .unsigned, .double: "a number"
      case .text: "text"
      case .bytes: "bytes"
      case .date: "a date"
      case .array: "an array"
      case .object: "an object"
      }
    let context = DecodingError.Context(
      codingPath: path(key), debugDescription: "\(type) was expected, and the document has \(found).")
    if case .null = item { return .valueNotFound(type, context) }
    return .typeMismatch(type, context)
  }
}
