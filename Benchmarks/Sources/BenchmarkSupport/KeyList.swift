import LogStore

/// Keys as bytes, one after the other in the order of their use, each with what its answer adds to the checksum.
package struct KeyList: Sendable {
  /// Bytes from one key to the next.
  package static let stride = 24
  @usableFromInline
  package private(set) var bytes: [UInt8] = []
  @usableFromInline
  package private(set) var byteCounts: [UInt8] = []
  package private(set) var expected: [UInt64] = []

  package init() {}

  package var count: Int { byteCounts.count }

  /// Adds a key of at most 24 bytes.
  package mutating func append(_ key: [UInt8], expecting answer: UInt64) {
    precondition(key.count <= Self.stride, "a key must fit its place")
    bytes += key
    for _ in key.count..<Self.stride { bytes.append(0) }
    byteCounts.append(UInt8(key.count))
    expected.append(answer)
  }

  @inlinable @inline(__always)
  package func withKey<Result>(
    _ index: Int, _ body: (Span<UInt8>) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    // The stride, as a number that may be inlined.
    let start = index * 24
    return try body(bytes.span.extracting(start..<(start + Int(byteCounts[index]))))
  }

  /// The key as a string.
  package func text(_ index: Int) -> String {
    let start = index * Self.stride
    return String(decoding: bytes[start..<(start + Int(byteCounts[index]))], as: UTF8.self)
  }

  package func expectedSum(_ range: Range<Int>) -> UInt64 { expected[range].reduce(0, &+) }
}

/// Keys as text, for the interfaces that take strings.
package struct TextKeys: Sendable {
  package private(set) var texts: [String] = []
  package private(set) var expected: [UInt64] = []

  package init() {}

  /// The same keys, with the same answers.
  package init(_ keys: KeyList, limit: Int = .max) {
    let count = min(limit, keys.count)
    texts = (0..<count).map(keys.text)
    expected = Array(keys.expected[..<count])
  }

  package mutating func append(_ text: String, expecting answer: UInt64) {
    texts.append(text)
    expected.append(answer)
  }
}
