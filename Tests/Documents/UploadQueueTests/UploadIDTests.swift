import RandomTestSupport
import Testing

@testable import UploadQueue

@Suite struct UploadIDTests {
  @Test func `an id is a UUID of version 7 that holds its time`() throws {
    // The example of RFC 9562, A.6.
    let id = UploadID(tick: 0x017F_22E2_79B0 << 12 | 0xCC3, random: 0x18C4_DC0C_0C07_398F << 2)
    #expect(id.text == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    #expect(UploadID(id.text.uppercased()) == id)
    #expect(id.description == id.text)
    for wrong in [
      "", "017f22e2-79b0-7cc3-98c4-dc0c0c07398", "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
      "017f22e2_79b0-7cc3-98c4-dc0c0c07398f",
    ] {
      #expect(UploadID(wrong) == nil)
    }
  }

  @Test func `ids rise though the clock stands still, runs over or goes back`() {
    var state = QueueState()
    var random = SeededGenerator(for: "UploadIDTests")
    var last: UploadID?
    var now: Int64 = 1_700_000_000_000_000
    for round in 0..<20_000 {
      if round % 7000 == 6999 { now += [-3_600_000_000, 5_000_000].randomElement(using: &random)! }
      let id = state.nextID(now: now, random: random.next())
      if let last { #expect(last < id) }
      last = id
    }
    var early = QueueState()
    #expect(early.nextID(now: -1, random: 0).text.hasPrefix("00000000-0000-7001-"))
  }
}
