import RandomTestSupport
import Testing

@testable import ScanInputs

@Suite struct DoubleScanFilterTests {
  /// What each reading, a code and its milliseconds, is a repeat of: the number of the first one.
  private func firsts(window: Int, _ readings: [(String, Int)]) -> [String?] {
    var filter = DoubleScanFilter(window: .milliseconds(window))
    return readings.enumerated().map { number, reading in
      filter.first(reading.0, id: "\(number)", at: .milliseconds(reading.1))
    }
  }

  @Test func `the first reading is none`() {
    #expect(firsts(window: 500, [("1", 0), ("2", 0)]) == [nil, nil])
  }

  @Test func `less than the window is a repeat and the window itself is none`() {
    #expect(firsts(window: 500, [("1", 100), ("1", 599), ("1", 1099)]) == [nil, "0", nil])
  }

  @Test func `a scanner that is held on a label stays silent`() {
    let held = (0...100).map { ("1", $0 * 400) }
    #expect(firsts(window: 500, held + [("1", 40_500)]) == [nil] + Array(repeating: "0", count: 100) + [nil])
  }

  @Test func `another code between them changes nothing`() {
    let found = firsts(window: 500, [("1", 0), ("2", 490), ("1", 499), ("2", 501), ("1", 998)])
    #expect(found == [nil, nil, "0", "1", "0"])
  }

  @Test func `a window of zero finds none`() {
    #expect(firsts(window: 0, [("1", 0), ("1", 0)]) == [nil, nil])
  }

  @Test func `a clock that goes back ends nothing`() {
    #expect(firsts(window: 500, [("1", 10_000), ("1", 9_000), ("1", 10_499)]) == [nil, "0", "0"])
  }

  @Test func `codes are bytes`() {
    #expect(firsts(window: 500, [("\u{E9}", 0), ("e\u{301}", 0), ("\u{E9}", 0)]) == [nil, nil, "0"])
  }

  @Test func `without an id it says the same`() {
    var filter = DoubleScanFilter(window: .milliseconds(500))
    let answers = [("1", 0), ("2", 100), ("1", 200), ("1", 900)].map { filter.isRepeat($0.0, at: .milliseconds($0.1)) }
    #expect(answers == [false, false, true, false])
  }

  @Test func `as many codes as promised are remembered, and not all`() {
    var filter = DoubleScanFilter(window: .seconds(1))
    let repeats = (0..<100_000).filter { filter.isRepeat("\($0)", at: .microseconds($0)) }
    #expect(repeats.isEmpty)
    let end = Duration.microseconds(100_000)
    let late = (100_000 - DoubleScanFilter.capacity..<100_000).filter { !filter.isRepeat("\($0)", at: end) }
    #expect(late.isEmpty)
    let early = filter.isRepeat("\(100_000 - 4 * DoubleScanFilter.capacity)", at: end)
    #expect(!early)
  }

  @Test func `it agrees with a table of all readings`() {
    var generator = SeededGenerator(for: "DoubleScanFilterTests")
    var filter = DoubleScanFilter(window: .milliseconds(50))
    var last: [Int: (id: Int, time: Int)] = [:]
    var time = 0
    for id in 0..<20_000 * depth {
      time += Int.random(in: 0...20, using: &generator)
      let code = Int.random(in: 0..<20, using: &generator)
      let known = last[code].flatMap { time - $0.time < 50 ? $0.id : nil }
      last[code] = (known ?? id, time)
      let found = filter.first("\(code)", id: "\(id)", at: .milliseconds(time))
      #expect(found == known.map(String.init), "reading \(id)")
    }
  }
}
