import Bytes
import RecordFormat

/// Where a compaction has put the rows that it copied. Both files have them in the same order.
struct RowMap {
  /// The number of units in which the rows of one element of `firsts` lie.
  private static let stride = 1024

  private var old: [UInt32] = []
  private var new: [UInt32] = []
  /// The position of the first row at or after each multiple of the stride.
  private var firsts: [Int] = []

  /// Adds a row, which lies after those that were added before, in both files.
  mutating func add(_ old: UInt32, _ new: UInt32) {
    while firsts.count * Self.stride <= Int(old) { firsts.append(self.old.count) }
    self.old.append(old)
    self.new.append(new)
  }

  /// Returns where a row is now; `nil` if it was not copied.
  func new(of row: UInt32) -> UInt32? {
    let part = Int(row) / Self.stride
    guard part < firsts.count else { return nil }
    let end = part + 1 < firsts.count ? firsts[part + 1] : old.count
    let index = (firsts[part]..<end).partitioningIndex { old[$0] >= row }
    return index < old.count && old[index] == row ? new[index] : nil
  }
}
