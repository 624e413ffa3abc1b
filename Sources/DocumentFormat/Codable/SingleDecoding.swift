/// A single-value decoding container.
struct SingleDecoding: SingleValueDecodingContainer {
  let scope: DecodingScope

  var codingPath: [any CodingKey] { scope.codingPath }

  func decodeNil() -> Bool { (try? scope.source.isNull(at: scope.offset)) ?? false }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try scope.read(type, at: scope.offset, nil) }

  func decode(_ type: Bool.Type) throws -> Bool {
    try scope.bool(at: scope.offset, nil)
  }

  func decode(_ type: String.Type) throws -> String {
    try scope.string(at: scope.offset, nil)
  }

  func decode(_ type: Double.Type) throws -> Double {
    try scope.double(at: scope.offset, nil)
  }

  func decode(_ type: Float.Type) throws -> Float {
    try scope.float(at: scope.offset, nil)
  }

  func decode(_ type: Int.Type) throws -> Int {
    try scope.integer(at: scope.offset, nil)
  }

  func decode(_ type: Int8.Type) throws -> Int8 {
    try scope.integer(at: scope.offset, nil)
  }

  func decode(_ type: Int16.Type) throws -> Int16 {
    try scope.integer(at: scope.offset, nil)
  }

  func decode(_ type: Int32.Type) throws -> Int32 {
    try scope.integer(at: scope.offset, nil)
  }

  func decode(_ type: Int64.Type) throws -> Int64 {
    try scope.integer(at: scope.offset, nil)
  }

  func decode(_ type: UInt.Type) throws -> UInt {
    try scope.integer(at: scope.offset, nil)
  }

  func decode(_ type: UInt8.Type) throws -> UInt8 {
    try scope.integer(at: scope.offset, nil)
  }

  func decode(_ type: UInt16.Type) throws -> UInt16 {
    try scope.integer(at: scope.offset, nil)
  }

  func decode(_ type: UInt32.Type) throws -> UInt32 {
    try scope.integer(at: scope.offset, nil)
  }

  func decode(_ type: UInt64.Type) throws -> UInt64 {
    try scope.integer(at: scope.offset, nil)
  }
}
