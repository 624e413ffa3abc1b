import Bytes

/// The random name of one log file, repeated in each of its segments so that strange ones are found out.
public struct StoreID: Hashable, Sendable {
  package let words: (UInt64, UInt64)

  package init(_ first: UInt64, _ second: UInt64) { words = (first, second) }

  /// Reads the 16 bytes at `offset`.
  init(_ span: RawSpan, at offset: Int) { words = (span.u64(at: offset), span.u64(at: offset + 8)) }

  public static func == (a: StoreID, b: StoreID) -> Bool { a.words == b.words }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
  }
}
