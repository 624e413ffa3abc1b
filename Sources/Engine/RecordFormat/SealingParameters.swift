/// How a log is sealed, as its header says: what is not secret of its keys.
package struct SealingParameters: Equatable, Sendable {
  package static let keyIDByteCount = 16

  /// The name of the data key.
  package var keyID: [UInt8]
  /// The number of the algorithm.
  package var algorithm: UInt8

  package init(keyID: [UInt8], algorithm: UInt8) {
    precondition(keyID.count == Self.keyIDByteCount, "a key id has 16 bytes")
    self.keyID = keyID
    self.algorithm = algorithm
  }
}

/// By how much sealed structures are longer than plain ones.
public enum SealedForm {
  /// The number of bytes of a nonce that is stored.
  @inlinable @inline(__always)
  public static var nonceByteCount: Int { 12 }
  /// The number of bytes of the tag that follows sealed bytes.
  @inlinable @inline(__always)
  public static var tagByteCount: Int { 16 }
  /// What an object of the base has more than a plain one: its tag. Its nonce is its offset.
  @inlinable @inline(__always)
  public static var baseObjectOverhead: Int { tagByteCount }
  /// What an object after the base has more than a plain one, and an ordered page anywhere: nonce and tag.
  @inlinable @inline(__always)
  public static var overhead: Int { nonceByteCount + tagByteCount }
}
