import Bytes

/// The random identifier of a log file. It is repeated in each segment so that segments of other files are detected.
public struct StoreID: Hashable, Sendable {
  package let words: (UInt64, UInt64)

  package init(_ first: UInt64, _ second: UInt64) { words = (first, second) }

  /// Reads the 16 bytes at `offset`.
  init(_ span: RawSpan, at offset: Int) { words = (span.u64(at: offset), span.u64(at: offset + 8)) }

  /// Whether both identifiers have the same 128 bits.
  public static func == (a: StoreID, b: StoreID) -> Bool { a.words == b.words }

  /// Hashes all 128 bits of the identifier.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
  }
}
