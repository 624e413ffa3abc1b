/// An unkeyed encoding container: the elements of an array.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
  let scope: EncodingScope

  var codingPath: [any CodingKey] { scope.codingPath }

  var count: Int { scope.count }

  func encodeNil() throws {
    try scope.element { scope.buffer.bytes.append(Initial.null) }
  }

  func encode<T: Encodable>(_ value: T) throws {
    let key = UnnamedKey(index: scope.count)
    try scope.element { try scope.write(value, key: key) }
  }

  func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
    scope.deferredScope(UnnamedKey(index: count)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    scope.deferredScope(UnnamedKey(index: count)).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { scope.deferredScope(UnnamedKey(index: count)) }

  func encode(_ value: Bool) throws {
    try scope.element { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: String) throws {
    try scope.element { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: Double) throws {
    try scope.element { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: Float) throws {
    try scope.element { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: Int) throws {
    try scope.element { scope.buffer.bytes.appendItem(Int64(value)) }
  }

  func encode(_ value: Int8) throws {
    try scope.element { scope.buffer.bytes.appendItem(Int64(value)) }
  }

  func encode(_ value: Int16) throws {
    try scope.element { scope.buffer.bytes.appendItem(Int64(value)) }
  }

  func encode(_ value: Int32) throws {
    try scope.element { scope.buffer.bytes.appendItem(Int64(value)) }
  }

  func encode(_ value: Int64) throws {
    try scope.element { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: UInt) throws {
    try scope.element { scope.buffer.bytes.appendHead(Major.unsigned, UInt64(value)) }
  }

  func encode(_ value: UInt8) throws {
    try scope.element { scope.buffer.bytes.appendHead(Major.unsigned, UInt64(value)) }
  }

  func encode(_ value: UInt16) throws {
    try scope.element { scope.buffer.bytes.appendHead(Major.unsigned, UInt64(value)) }
  }

  func encode(_ value: UInt32) throws {
    try scope.element { scope.buffer.bytes.appendHead(Major.unsigned, UInt64(value)) }
  }

  func encode(_ value: UInt64) throws {
    try scope.element { scope.buffer.bytes.appendHead(Major.unsigned, value) }
  }
}
