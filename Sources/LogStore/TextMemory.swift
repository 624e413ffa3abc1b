import RecordFormat

/// Texts that were met lately, by where they stand in their snapshot, and a number for each.
///
/// Most rows name the same few texts. Whoever knows them by place neither reads nor checks nor hashes them again.
struct TextMemory {
  private static let bits: UInt32 = 13
  /// A text has one place; another one that belongs there takes it. Unit 0 is no text's.
  private var entries = [(unit: UInt32, number: UInt32)](repeating: (0, 0), count: 1 << bits)

  private func place(_ unit: UnitOffset) -> Int { Int((unit.rawValue &* 0x9E37_79B1) >> (32 - Self.bits)) }

  /// The number of the text at `unit`; `nil` if it was not met lately.
  func find(_ unit: UnitOffset) -> UInt32? {
    let entry = entries[place(unit)]
    return entry.unit == unit.rawValue ? entry.number : nil
  }

  mutating func insert(_ unit: UnitOffset, _ number: UInt32) { entries[place(unit)] = (unit.rawValue, number) }
}
