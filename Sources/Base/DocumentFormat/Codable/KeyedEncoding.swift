/// A keyed encoding container: the fields of an object.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let scope: EncodingScope

  var codingPath: [any CodingKey] { scope.codingPath }

  func encodeNil(forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.append(Initial.null) }
  }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try scope.entry(key) { try scope.write(value, key: key) }
  }

  // The protocol's default implementation makes the runtime look up the optional's type.
  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    scope.deferredScope(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    scope.deferredScope(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { scope.deferredScope(UnnamedKey.super) }

  func superEncoder(forKey key: Key) -> any Encoder { scope.deferredScope(key) }

  func encode(_ value: Bool, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: String, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: Double, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: Float, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: Int, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendItem(Int64(value)) }
  }

  func encode(_ value: Int8, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendItem(Int64(value)) }
  }

  func encode(_ value: Int16, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendItem(Int64(value)) }
  }

  func encode(_ value: Int32, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendItem(Int64(value)) }
  }

  func encode(_ value: Int64, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: UInt, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendHead(Major.unsigned, UInt64(value)) }
  }

  func encode(_ value: UInt8, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendHead(Major.unsigned, UInt64(value)) }
  }

  func encode(_ value: UInt16, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendHead(Major.unsigned, UInt64(value)) }
  }

  func encode(_ value: UInt32, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendHead(Major.unsigned, UInt64(value)) }
  }

  func encode(_ value: UInt64, forKey key: Key) throws {
    try scope.entry(key) { scope.buffer.bytes.appendHead(Major.unsigned, value) }
  }
}
