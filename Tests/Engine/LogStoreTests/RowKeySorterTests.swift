import RandomTestSupport
import RecordFormat
import Testing

@testable import LogStore

@Suite struct RowKeySorterTests {
  /// Keys of which none is a prefix of another one: the last byte of each is 0, and no other byte is.
  private static func key(_ random: inout SeededGenerator) -> [UInt8] {
    let count = Int.random(in: 0..<12, using: &random)
    return (0..<count).map { _ in UInt8.random(in: 1..<4, using: &random) } + [0]
  }

  @Test(arguments: [1, 2, 10, 499, 500, 501, 5000, .max])
  func `the first rows in the order of their keys are kept, whatever their number`(wanted: Int) {
    var random = SeededGenerator(for: "the first rows in the order of their keys, \(wanted)")
    var rows: [(key: [UInt8], row: RowID)] = []
    var sorter = RowKeySorter(wanted: wanted)
    for number in UInt32(0)..<4000 {
      let key = Self.key(&random)
      let row = RowID(UnitOffset(rawValue: number))
      rows.append((key, row))
      let start = sorter.keys.count
      sorter.keys += key
      sorter.add(row, keyAt: start)
    }
    // Rows with equal keys keep the order of the file.
    let sorted = rows.sorted { a, b in
      a.key == b.key ? a.row < b.row : a.key.lexicographicallyPrecedes(b.key)
    }
    let found = sorter.rows()
    #expect(found == sorted.prefix(wanted).map(\.row))
    // Memory depends on the number that is wanted, not on the number of rows.
    if wanted < 500 { #expect(sorter.keys.count < 2100 * 13) }
  }

  @Test func `no rows give no rows`() {
    var sorter = RowKeySorter(wanted: 3)
    let rows = sorter.rows()
    #expect(rows.isEmpty)
  }
}
