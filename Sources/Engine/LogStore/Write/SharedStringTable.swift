import Bytes
import RecordFormat

/// The strings that a segment already contains, so that each is written only once.
///
/// The table is bounded. Beyond its limits a string is written again for each row, which only costs space.
struct SharedStringTable {
  private static let stringLimit = 1 << 18
  private static let byteLimit = 16 << 20

  private struct Entry: BitwiseCopyable {
    var unit: UInt32
    /// The string that followed this one in the previous lookup, plus one; 0 if no string did.
    ///
    /// Rows refer to their texts in a fixed order, and a brand's name is usually followed by the same brand id. So the
    /// previous follower is compared before anything is hashed.
    var follower: UInt32
  }

  private var texts: ByteStringTable<Entry>
  /// The string that was last found or inserted, plus one; 0 before the first one.
  private var previous: UInt32 = 0

  init(seed: HashSeed) { texts = ByteStringTable(seed: seed) }

  /// Returns the unit offset of `text`; `nil` if it was not written.
  mutating func find(_ text: RawSpan) -> UInt32? {
    if previous != 0 {
      let predicted = texts[Int(previous) &- 1].follower
      if predicted != 0, texts.isText(Int(predicted) &- 1, text) {
        previous = predicted
        return texts[Int(predicted) &- 1].unit
      }
    }
    guard let number = texts.find(text) else { return nil }
    recordFollower(number)
    return texts[number].unit
  }

  /// Records that string `number` followed the previous one.
  private mutating func recordFollower(_ number: Int) {
    if previous != 0 { texts[Int(previous) - 1].follower = UInt32(number + 1) }
    previous = UInt32(number + 1)
  }

  /// Records that `text`, which was not found, was written at `unit`.
  mutating func insert(_ text: RawSpan, at unit: UInt32) {
    guard texts.count < Self.stringLimit, texts.byteCount + text.byteCount <= Self.byteLimit else { return }
    recordFollower(texts.insert(text, Entry(unit: unit, follower: 0)))
  }
}
