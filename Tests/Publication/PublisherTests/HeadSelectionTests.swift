import Essentials
import PublicationFormat
import PublicationSync
import RandomTestSupport
import Testing

@testable import Publisher

/// Heads of publications of which nothing is real but the numbers.
struct HeadSelectionTests {
  private func file(_ byteCount: Int, _ random: inout SeededGenerator) -> PublicationHead.File {
    let digits = Array("0123456789abcdef".utf8)
    let hash = random.bytes(32).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return PublicationHead.File(byteCount: byteCount, sha256: String(decoding: hash, as: UTF8.self))
  }

  /// Adds the deltas that a publisher adds, as far as the former head names the first halves.
  private func addDeltas(to state: inout PublicationHead.State, bytes: Int, _ random: inout SeededGenerator) {
    var length: UInt64 = 1
    while true {
      // Rows that change again and again count once.
      let size = min(bytes * Int(length), 40_000)
      state.deltas.append(
        PublicationHead.Delta(from: state.sequence - length, to: state.sequence, file: file(size, &random)))
      let half = state.sequence - length
      length *= 2
      guard state.sequence.isMultiple(of: length),
        state.deltas.contains(where: { $0.from == state.sequence - length && $0.to == half })
      else { return }
    }
  }

  @Test(arguments: [(0, 2000), (2, 1000), (8, 10_000)])
  func `the head stays small, and few deltas lead to it`(ringCount: Int, newest: UInt64) throws {
    var random = SeededGenerator(for: "small heads \(ringCount)")
    let counts = PublicationHead.Counts(products: 400_000, relations: 100_000, codes: 50_000)
    func base(_ sequence: UInt64) -> PublicationHead.Base {
      PublicationHead.Base(
        sequence: sequence, file: file(4_000_000, &random), top: file(40_000, &random))
    }
    let first = PublicationHead.State(
      sequence: 1, cursor: "2026-11-28 15:00:00.000000", counts: counts, digest: String(repeating: "a", count: 32),
      base: base(1), deltas: [], probe: file(900, &random), activation: "2026-12-31T22:00:00+01:00")
    var head = PublicationHead(
      catalogue: "01234567-89ab-cdef-0123-456789abcdef", publisher: "publisher.example.com, process 4194303",
      published: Date(timeIntervalSince1970: 1_800_000_000), expires: Date(timeIntervalSince1970: 1_900_000_000),
      poll: 300, spread: 600,
      limits: PublicationHead.Limits(rows: 550_000, bytes: 400_000_000, text: 10_000), state: first)
    var largest = 0
    var bases = 0
    for sequence in 2...newest {
      let former = head
      head.state.sequence = sequence
      addDeltas(to: &head.state, bytes: Int.random(in: 200...2000, using: &random), &random)
      // Rings that stay behind, each with a state of its own, and move on now and then.
      if ringCount > 0, sequence.isMultiple(of: 7) || head.rings.isEmpty {
        var states = Set(head.rings.map(\.sequence)).union([former.sequence]).sorted().suffix(ringCount)
        while states.count < ringCount { states.append(former.sequence) }
        head.rings = states.enumerated().map { index, sequence in
          PublicationHead.Ring(percent: Double(100 * (index + 1)) / Double(ringCount), sequence: sequence)
        }
      }
      head.held = Set(head.rings.map(\.sequence)).sorted().compactMap { former.state($0) }
      let isFar = HeadSelection.isFar(head.state, pathLimit: HeadSelection.pathLimit(head.rings))
      if isFar { head.state.base = base(sequence) }
      var isFitting = HeadSelection.fit(&head)
      if !isFitting {
        head.state.base = base(sequence)
        isFitting = HeadSelection.fit(&head)
      }
      if head.state.base.sequence == sequence { bases += 1 }
      guard isFitting else {
        Issue.record("no room for the head \(sequence)")
        return
      }
      let json = try head.json()
      largest = max(largest, json.count)
      for state in [head.state] + head.held {
        let isWhole = HeadSelection.path(fromBaseTo: state) != nil
        if !isWhole { Issue.record("the base of \(state.sequence) does not lead to it, in the head \(sequence)") }
      }
      guard sequence.isMultiple(of: 97) else { continue }
      #expect(try PublicationHead(json: json) == head)
      for missed in [1, 2, 3, 10, 100, 1000, 9000] where missed < sequence {
        let plan = PublicationPlan.cheapest(from: sequence - UInt64(missed), to: head.state)
        let deltas =
          switch plan {
          case .deltas(let deltas), .base(_, let deltas): deltas
          }
        let limit = 2 * (Int.bitWidth - missed.leadingZeroBitCount) + 2
        #expect(deltas.count <= limit, "\(deltas.count) deltas for \(missed) at \(sequence)")
        if case .base = plan, missed <= (ringCount == 0 ? 100 : 3), ringCount < 3 {
          Issue.record("a device that missed \(missed) states at \(sequence) takes the base")
        }
      }
    }
    #expect(largest <= PublicationHead.byteLimit)
    // Without many rings, a base is worth its bytes.
    if ringCount < 3 { #expect(bases < 200, "\(bases) bases") }
  }
}
