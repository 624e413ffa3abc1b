import Bytes
import Essentials

/// A decoder for one value. It has three words, so that `any Decoder` needs no allocation.
struct DecodingScope: Decoder {
  let source: DecodingSource
  let offset: Int
  private let depth: Int

  /// Creates a decoder for the whole document.
  init(_ source: DecodingSource) { self.init(source, offset: 0, depth: 0) }

  private init(_ source: DecodingSource, offset: Int, depth: Int) {
    self.source = source
    self.offset = offset
    self.depth = depth
  }

  var userInfo: [CodingUserInfoKey: Any] { source.userInfo }

  /// The names and indexes that lead to the value. They are read from the document, because they are rarely needed.
  var codingPath: [any CodingKey] { source.path(to: offset) }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let item = try item(at: offset, nil)
    guard case .object(let list) = item else { throw mismatch([String: Any].self, item, nil) }
    do {
      return KeyedDecodingContainer(KeyedDecoding<Key>(fields: try FieldCursor(self, list)))
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

  /// A decoder for the value at `offset`.
  ///
  /// - Parameter key: The value's key in this one. As below, it is made only for an error.
  @inline(__always)
  func inner(at offset: Int, _ key: @autoclosure () -> (any CodingKey)?) throws -> DecodingScope {
    guard depth <= DocumentLimits.nestingDepth else { throw damaged(.nestedTooDeeply(offset: offset), key()) }
    return DecodingScope(source, offset: offset, depth: depth + 1)
  }

  // MARK: Values

  @inline(__always)
  func item(at offset: Int, _ key: @autoclosure () -> (any CodingKey)?) throws -> Item {
    do { return try source.item(at: offset) } catch { throw damaged(error, key()) }
  }

  @inline(__always)
  func isNull(at offset: Int, _ key: @autoclosure () -> (any CodingKey)?) throws -> Bool {
    do { return try source.isNull(at: offset) } catch { throw damaged(error, key()) }
  }

  /// Reads the value at `offset`.
  @inline(__always)
  func value<T>(
    at offset: Int, _ key: @autoclosure () -> (any CodingKey)?,
    _ read: (DecodingSource, Int) throws(DecodingFault) -> T
  ) throws -> T {
    do { return try read(source, offset) } catch { throw failure(error, key()) }
  }

  /// Decodes the value at `offset`: natively if the format has its own representation of the type, otherwise with
  /// `init(from:)`.
  @inline(__always)
  func read<T: Decodable>(_ type: T.Type, at offset: Int, _ key: @autoclosure () -> (any CodingKey)?) throws -> T {
    // Comparing types costs one pointer comparison each. The cast is made only if it succeeds, and never to an
    // optional, because the runtime would have to look up the optional's type.
    do throws(DecodingFault) {
      if T.self == String.self { return try source.string(at: offset) as! T }
      if T.self == Date.self { return try source.date(at: offset) as! T }
      if T.self == Data.self { return try source.data(at: offset) as! T }
      if T.self == UUID.self { return try source.parsed(at: offset) { UUID(uuidString: $0) } as! T }
      if T.self == URL.self { return try source.parsed(at: offset) { URL(string: $0) } as! T }
      if T.self == Decimal.self { return try source.decimal(at: offset) as! T }
      if T.self == DocumentValue.self { return try source.value(at: offset) as! T }
    } catch { throw failure(error, key()) }
    return try T(from: inner(at: offset, key()))
  }

  // MARK: Errors

  private func path(_ key: (any CodingKey)?) -> [any CodingKey] { codingPath + (key.map { [$0] } ?? []) }

  /// Converts an error in the bytes to a `DecodingError`.
  func damaged(_ error: DocumentError, _ key: (any CodingKey)?) -> DecodingError {
    .dataCorrupted(.init(codingPath: path(key), debugDescription: "\(error)", underlyingError: error))
  }

  /// Converts a fault of a value to a `DecodingError`.
  func failure(_ fault: DecodingFault, _ key: (any CodingKey)?) -> DecodingError {
    switch fault {
    case .damaged(let error): damaged(error, key)
    case .mismatch(let type, let item): mismatch(type, item, key)
    case .noFit(let type, let offset):
      .dataCorrupted(
        .init(codingPath: path(key), debugDescription: "The number at byte \(offset) does not fit into \(type)."))
    case .noParse(let type, let offset):
      .dataCorrupted(.init(codingPath: path(key), debugDescription: "The text at byte \(offset) is no \(type)."))
    }
  }

  private func mismatch(_ type: any Any.Type, _ item: Item, _ key: (any CodingKey)?) -> DecodingError {
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

/// The name of a field, in a coding path that is read from a document.
struct FieldKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { return nil }
}
