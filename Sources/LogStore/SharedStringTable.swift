import Bytes
import RecordFormat

/// Which strings a segment holds already, so that each is written once.
///
/// Bounded: beyond the limits a string is written again for each row, which costs space and nothing else.
struct SharedStringTable {
  private static let stringLimit = 1 << 18
  private static let byteLimit = 16 << 20

  private struct Place: BitwiseCopyable {
    var unit: UInt32
    /// The string that was asked for behind this one the last time, plus one; 0 for none.
    ///
    /// Rows name their texts in one order, and a brand's name is followed by its number again and again: what followed
    /// last is compared before anything is hashed.
    var follower: UInt32
  }

  private var texts: ByteStringTable<Place>
  /// The string that was found or inserted last, plus one; 0 for none.
  private var previous: UInt32 = 0

  init(seed: HashSeed) { texts = ByteStringTable(seed: seed) }

  /// Where `text` was written; `nil` if it was not.
  mutating func find(_ text: RawSpan) -> UInt32? {
    if previous != 0 {
      let likely = texts[Int(previous) &- 1].follower
      if likely != 0, texts.isText(Int(likely) &- 1, text) {
        previous = likely
        return texts[Int(likely) &- 1].unit
      }
    }
    guard let number = texts.find(text) else { return nil }
    follow(number)
    return texts[number].unit
  }

  /// Notes that string `number` came behind the previous one.
  private mutating func follow(_ number: Int) {
    if previous != 0 { texts[Int(previous) - 1].follower = UInt32(number + 1) }
    previous = UInt32(number + 1)
  }

  /// Remembers that `text`, which was not found, stands at `unit`.
  mutating func insert(_ text: RawSpan, at unit: UInt32) {
    guard texts.count < Self.stringLimit, texts.byteCount + text.byteCount <= Self.byteLimit else { return }
    follow(texts.insert(text, Place(unit: unit, follower: 0)))
  }
}
