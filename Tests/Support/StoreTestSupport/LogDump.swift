import Bytes
import RecordFormat

/// A log in hexadecimal, with a note for each of its structures, found by nothing but FORMAT.md's rules.
package struct LogDump {
  private let log: [UInt8]
  package private(set) var lines: [String] = []
  /// Everything before it was shown.
  private var shown = 0

  package init(_ log: [UInt8]) throws {
    self.log = log
    show(FileHeader.byteCount, "file header")
    show(AcknowledgementSlot.byteCount, "slot A")
    show(AcknowledgementSlot.byteCount, "slot B")
    while shown < log.count { try showSegment() }
  }

  private mutating func showSegment() throws {
    let start = shown
    let header = try SegmentHeader(log.rawSpan.slice(start, SegmentHeader.byteCount))
    let footerOffset = start + Int(header.length) - SegmentFooter.byteCount
    let footer = try SegmentFooter(log.rawSpan.slice(footerOffset, SegmentFooter.byteCount))
    let manifestOffset = Int(footer.manifestOffset)
    let manifest = try Manifest(log.rawSpan.slice(manifestOffset, Int(footer.manifestLength)))
    show(SegmentHeader.byteCount, "segment header of commit \(header.sequence)")
    while shown < Int(footer.objectEnd) {
      let word = log.rawSpan.u32(at: shown + 4)
      show(
        ObjectHeader.padded(ObjectHeader.length(word)),
        "\(name(of: ObjectHeader.kind(word))), \(ObjectHeader.length(word)) bytes, unit \(shown / UnitOffset.byteCount)"
      )
    }
    var blocks: [(place: Manifest.Block, name: String)] = manifest.deadBlocks.map { ($0, "dead rows") }
    for table in manifest.tables {
      for space in table.keySpaces { blocks += space.blocks.map { ($0, "index over \(space.name)") } }
    }
    blocks.removeAll { Int($0.place.offset) < start }
    for block in blocks.sorted(by: { $0.place.offset < $1.place.offset }) {
      let padding = Int(block.place.offset) - shown
      if padding > 0 { show(padding, "padding") }
      show(BlockHeader.byteCount, "\(block.name): block header")
      for bucket in 0..<block.place.bucketCount { show(Bucket.byteCount, "\(block.name): bucket \(bucket)") }
    }
    if manifestOffset > shown { show(manifestOffset - shown, "padding") }
    show(Int(footer.manifestLength), "manifest, \(footer.manifestLength) bytes")
    show(footerOffset - shown, "padding")
    show(SegmentFooter.byteCount, "footer: commit \(header.sequence)")
  }

  private func name(of kind: ObjectKind) -> String {
    switch kind {
    case .sharedString: "shared string"
    case .postingList: "posting list"
    case .tombstones: "tombstones"
    default: "record of table \(kind.rawValue)"
    }
  }

  /// Shows the next `count` bytes, sixteen to a line; lines of zeros are folded into one.
  private mutating func show(_ count: Int, _ note: String) {
    lines.append("")
    lines.append("# " + note)
    let end = shown + count
    while shown < end {
      let line = log[shown..<min(end, shown + 16)]
      if line.allSatisfy({ $0 == 0 }) {
        let start = shown
        shown = (shown..<end).first { log[$0] != 0 }.map { start + ($0 - start) / 16 * 16 } ?? end
        lines.append("\(hex(start, 5)): 00 … (\(shown - start) bytes)")
      } else {
        let bytes = line.map { hex(Int($0), 2) }.joined(separator: " ")
        let text = String(
          decoding: line.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
        lines.append(
          "\(hex(shown, 5)): \(bytes)" + String(repeating: "   ", count: 16 - line.count) + "  \(text)")
        shown += line.count
      }
    }
  }

  private func hex(_ number: Int, _ width: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
