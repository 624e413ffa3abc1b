/// A keyed decoding container: the fields of an object.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  // One reference, because the standard library copies the container for each field.
  let fields: FieldCursor

  private var scope: DecodingScope { fields.scope }

  var codingPath: [any CodingKey] { scope.codingPath }

  /// The keys that `Key` defines, in the document's order.
  var allKeys: [Key] { ((try? fields.names()) ?? []).compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { (try? fields.find(key.stringValue)) != nil }

  /// The offset of the value of `key`.
  @inline(__always)
  private func offset(of key: some CodingKey) throws -> Int {
    do {
      if let offset = try fields.find(key.stringValue) { return offset }
    } catch {
      throw scope.damaged(error, key)
    }
    throw DecodingError.keyNotFound(
      key, .init(codingPath: codingPath, debugDescription: "The document has no field '\(key.stringValue)'."))
  }

  /// The offset of the value of `key`; `nil` if it is missing or null.
  @inline(__always)
  private func present(_ key: Key) throws -> Int? {
    do {
      guard let offset = try fields.find(key.stringValue) else { return nil }
      return try scope.source.isNull(at: offset) ? nil : offset
    } catch {
      throw scope.damaged(error, key)
    }
  }

  /// Decodes the value of `key`. The key is boxed as `any CodingKey` only for an error.
  @inline(__always)
  private func value<T>(of key: Key, _ read: (DecodingSource, Int) throws(DecodingFault) -> T) throws -> T {
    try scope.value(at: offset(of: key), key, read)
  }

  /// Decodes the value of `key`; returns `nil` if it is missing or null.
  @inline(__always)
  private func presentValue<T>(
    of key: Key, _ read: (DecodingSource, Int) throws(DecodingFault) -> T
  ) throws -> T? {
    guard let offset = try present(key) else { return nil }
    return try scope.value(at: offset, key, read)
  }

  func decodeNil(forKey key: Key) throws -> Bool { try scope.isNull(at: offset(of: key), key) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try scope.read(type, at: offset(of: key), key)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    guard let offset = try present(key) else { return nil }
    return try scope.read(type, at: offset, key)
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try presentValue(of: key) { (source, offset) throws(DecodingFault) in try source.string(at: offset) }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try presentValue(of: key) { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try presentValue(of: key) { (source, offset) throws(DecodingFault) in try source.bool(at: offset) }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try presentValue(of: key) { (source, offset) throws(DecodingFault) in try source.double(at: offset) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try scope.inner(at: offset(of: key), key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try scope.inner(at: offset(of: key), key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try scope.inner(at: offset(of: UnnamedKey.super), UnnamedKey.super) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try scope.inner(at: offset(of: key), key) }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.bool(at: offset) }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.string(at: offset) }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.double(at: offset) }
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.float(at: offset) }
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try value(of: key) { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }
}
