import Bytes
import RandomTestSupport
import RecordFormat
import StoreTestSupport
@testable import LogStore

/// A store whose commits are all acknowledged, and damage to its slots and commits.
struct SlotDamageSample {
  enum SlotState: CaseIterable {
    /// As it was written last.
    case valid
    /// As it was before that.
    case older
    case zeroed
    /// With one byte changed.
    case flipped
    /// Its first sector as it was written last, the others as before.
    case torn
  }

  enum Part: CaseIterable { case header, footer, manifest, row }

  let forged: ForgedLog
  private(set) var commits: [(contents: StoreContents, end: Int)] = []
  /// Both slot pages after each commit.
  private var slots: [[UInt8]] = []

  /// - Parameters:
  ///   - count: how many commits.
  ///   - flushLimit: what segments grow to before they are written in pieces; `nil` for the usual.
  init(commits count: Int, flushLimit: Int? = nil) throws {
    let store = TestStore(flushLimit: flushLimit)
    let writer = try store.writer()
    for number in 1...count {
      let snapshot = try writer.commit { transaction in
        for row in 0..<4 { try transaction.put("\(number).\(row)", "code\(row)", shared: ["brand"], body: "\(number)") }
        try transaction.put("again", "code", body: "\(number)")
      }
      commits.append((try StoreContents(snapshot), snapshot.end))
      slots.append(Array(store.log[AcknowledgementSlot.offsets[0]..<SegmentHeader.firstOffset]))
    }
    forged = try ForgedLog(store.log)
    writer.close()
  }

  var count: Int { commits.count }

  /// Which slot the last commit wrote.
  var newestSlot: Int { (count - 1) % 2 }

  /// The log with a slot in another state.
  func change(_ slot: Int, to state: SlotState, in log: inout [UInt8], _ random: inout SeededGenerator) {
    let page = AcknowledgementSlot.pages[slot]
    let offset = slot * AcknowledgementSlot.byteCount
    let written = slot == newestSlot ? count : count - 1
    let older = slots[written - 2][offset..<offset + page.count]
    switch state {
    case .valid: break
    case .older: log.replaceSubrange(page, with: older)
    case .zeroed: log.replaceSubrange(page, with: [UInt8](repeating: 0, count: page.count))
    case .flipped:
      log[page.lowerBound + Int.random(in: 0..<64, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case .torn: log.replaceSubrange(page.dropFirst(512), with: older.dropFirst(512))
    }
  }

  /// Flips a bit of one part of a commit.
  func damage(_ part: Part, of commit: Int, in log: inout [UInt8], _ random: inout SeededGenerator) {
    let segment = forged.segments[commit - 1]
    let range: Range<Int>
    switch part {
    case .header: range = segment.start..<segment.start + SegmentHeader.byteCount
    case .footer: range = segment.footerOffset..<segment.footerOffset + SegmentFooter.byteCount
    case .manifest:
      range = segment.manifestOffset..<segment.manifestOffset + Int(segment.footer.manifestLength)
    case .row:
      let rows = segment.objects.filter { $0.kind.table != nil }
      let row = rows[Int.random(in: rows.indices, using: &random)]
      range = row.offset..<row.offset + row.length
    }
    log[Int.random(in: range, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
  }

  /// Whether a loss of power while the last commit is written may leave slots in these states: none names that commit,
  /// and one can be read that names one of the two before. The other one may have torn, and slot B may never have been
  /// written.
  func isOfAPowerCut(_ states: [SlotState]) -> Bool {
    let newest = states[newestSlot]
    let other = states[1 - newestSlot]
    if newest == .zeroed { return newestSlot == 1 && other == .valid }
    return newest == .older && (other != .zeroed || newestSlot == 0)
  }
}
