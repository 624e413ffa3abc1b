/// A single-value encoding container.
struct SingleEncoding: SingleValueEncodingContainer {
  let scope: EncodingScope

  var codingPath: [any CodingKey] { scope.codingPath }

  func encodeNil() throws {
    try scope.single { scope.buffer.bytes.append(Initial.null) }
  }

  func encode<T: Encodable>(_ value: T) throws {
    try scope.single { try scope.write(value, key: nil) }
  }

  func encode(_ value: Bool) throws {
    try scope.single { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: String) throws {
    try scope.single { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: Double) throws {
    try scope.single { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: Float) throws {
    try scope.single { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: Int) throws {
    try scope.single { scope.buffer.bytes.appendItem(Int64(value)) }
  }

  func encode(_ value: Int8) throws {
    try scope.single { scope.buffer.bytes.appendItem(Int64(value)) }
  }

  func encode(_ value: Int16) throws {
    try scope.single { scope.buffer.bytes.appendItem(Int64(value)) }
  }

  func encode(_ value: Int32) throws {
    try scope.single { scope.buffer.bytes.appendItem(Int64(value)) }
  }

  func encode(_ value: Int64) throws {
    try scope.single { scope.buffer.bytes.appendItem(value) }
  }

  func encode(_ value: UInt) throws {
    try scope.single { scope.buffer.bytes.appendHead(Major.unsigned, UInt64(value)) }
  }

  func encode(_ value: UInt8) throws {
    try scope.single { scope.buffer.bytes.appendHead(Major.unsigned, UInt64(value)) }
  }

  func encode(_ value: UInt16) throws {
    try scope.single { scope.buffer.bytes.appendHead(Major.unsigned, UInt64(value)) }
  }

  func encode(_ value: UInt32) throws {
    try scope.single { scope.buffer.bytes.appendHead(Major.unsigned, UInt64(value)) }
  }

  func encode(_ value: UInt64) throws {
    try scope.single { scope.buffer.bytes.appendHead(Major.unsigned, value) }
  }
}
