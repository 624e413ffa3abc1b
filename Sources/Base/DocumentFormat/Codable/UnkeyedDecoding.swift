/// An unkeyed decoding container: the elements of an array, in order.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
  let scope: DecodingScope
  /// The number of elements in the array.
  let elementCount: Int
  private var offset: Int
  private(set) var currentIndex = 0

  init(scope: DecodingScope, start: Int, elementCount: Int) {
    self.scope = scope
    self.elementCount = elementCount
    offset = start
  }

  var codingPath: [any CodingKey] { scope.codingPath }
  var count: Int? { elementCount }
  var isAtEnd: Bool { currentIndex >= elementCount }

  /// Decodes the next element with `body` and advances past it. Does not advance if `body` throws.
  @inline(__always)
  private mutating func next<T>(_ body: (Int, UnnamedKey) throws -> T) throws -> T {
    let key = UnnamedKey(index: currentIndex)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        T.self, .init(codingPath: codingPath + [key], debugDescription: "The array has no more elements."))
    }
    let value = try body(offset, key)
    do {
      offset = try scope.source.skip(offset)
    } catch {
      throw scope.damaged(error, key)
    }
    currentIndex += 1
    return value
  }

  /// Decodes the next element with `read` and advances past it.
  @inline(__always)
  private mutating func nextValue<T>(_ read: (DecodingSource, Int) throws(DecodingFault) -> T) throws -> T {
    let scope = scope
    return try next { try scope.value(at: $0, $1, read) }
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, try scope.isNull(at: offset, UnnamedKey(index: currentIndex)) else { return false }
    return try next { _, _ in true }
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let scope = scope
    return try next { try scope.read(type, at: $0, $1) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    let scope = scope
    return try next { try scope.inner(at: $0, $1).container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let scope = scope
    return try next { try scope.inner(at: $0, $1).unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder {
    let scope = scope
    return try next { try scope.inner(at: $0, $1) }
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try nextValue { (source, offset) throws(DecodingFault) in try source.bool(at: offset) }
  }

  mutating func decode(_ type: String.Type) throws -> String {
    try nextValue { (source, offset) throws(DecodingFault) in try source.string(at: offset) }
  }

  mutating func decode(_ type: Double.Type) throws -> Double {
    try nextValue { (source, offset) throws(DecodingFault) in try source.double(at: offset) }
  }

  mutating func decode(_ type: Float.Type) throws -> Float {
    try nextValue { (source, offset) throws(DecodingFault) in try source.float(at: offset) }
  }

  mutating func decode(_ type: Int.Type) throws -> Int {
    try nextValue { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try nextValue { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try nextValue { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try nextValue { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try nextValue { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try nextValue { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try nextValue { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try nextValue { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try nextValue { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }

  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try nextValue { (source, offset) throws(DecodingFault) in try source.integer(at: offset) }
  }
}
