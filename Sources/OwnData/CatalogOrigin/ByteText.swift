/// Text that is compared and hashed byte by byte, as in the protocol: two Unicode spellings of one accented letter are
/// two ids.
struct ByteText: Hashable, Comparable, Sendable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  init(_ text: String) { bytes = Array(text.utf8) }

  var string: String { String(decoding: bytes, as: UTF8.self) }

  static func < (one: ByteText, other: ByteText) -> Bool {
    one.bytes.lexicographicallyPrecedes(other.bytes)
  }
}
