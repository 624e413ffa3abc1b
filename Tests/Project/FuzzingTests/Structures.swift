import Bytes
import LogStore
import RecordFormat
@testable import LogStore

/// The structures of fixed size, and the three objects whose lengths may contradict each other.
///
/// The first byte says which one; its high bit asks for a checksum that fits, without which nothing behind it is
/// reached.
@Sendable func fuzzStructure(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let fits = choice & 0x80 != 0
  switch choice & 0x7F % 8 {
  case 0:
    check(&input, FileHeader.byteCount, FileHeader.magic, fits) { bytes in
      guard let header = try? FileHeader(bytes.rawSpan) else { return }
      // Unknown compatible features are ignored, and so not written.
      let again = header.encoded()
      require((try? FileHeader(again.rawSpan)) == header, "file header: another one when written and read")
    }
  case 1:
    check(&input, AcknowledgementSlot.byteCount, AcknowledgementSlot.magic, fits) { bytes in
      guard let slot = try? AcknowledgementSlot(bytes.rawSpan) else { return }
      require(slot.encoded() == bytes, "slot: other bytes when written")
    }
  case 2:
    check(&input, SegmentHeader.byteCount, SegmentHeader.magic, fits) { bytes in
      guard let header = try? SegmentHeader(bytes.rawSpan) else { return }
      require(header.encoded() == bytes, "segment header: other bytes when written")
    }
  case 3:
    check(&input, SegmentFooter.byteCount, SegmentFooter.magic, fits) { bytes in
      guard let footer = try? SegmentFooter(bytes.rawSpan) else { return }
      require(footer.encoded() == bytes, "footer: other bytes when written")
      require(
        footer.segmentOffset < footer.objectEnd && footer.objectEnd <= footer.manifestOffset
          && footer.manifestOffset + UInt64(footer.manifestLength) <= footer.offset && footer.offset < footer.end,
        "footer: parts out of order")
    }
  case 4:
    let unit = UnitOffset(rawValue: UInt32(input.number(below: 65_536)))
    check(&input, BlockHeader.byteCount, BlockHeader.magic, fits, salt: Checksum.salt(unit)) { bytes in
      guard let header = try? BlockHeader(bytes.rawSpan, at: unit) else { return }
      require(header.encoded(at: unit) == bytes, "block header: other bytes when written")
    }
  case 5: checkRecord(Array(input.rest))
  case 6:
    let list = Array(input.rest)
    if let postings = PostingList(list.rawSpan) {
      for index in 0..<postings.count { _ = postings.offset(index) }
      require(postings.key.byteCount <= list.count - 16, "posting list: key outside")
    }
  default:
    let list = Array(input.rest)
    if let tombstones = Tombstones(list.rawSpan) {
      for index in 0..<tombstones.count { _ = tombstones.offset(index) }
    }
  }
}

/// Hands `count` bytes to `body`: the magic, the input behind it, zeros, and a checksum that fits if asked for. An
/// input that is shorter than the structure leaves its reserved bytes zero.
private func check(
  _ input: inout Input, _ count: Int, _ magic: String, _ fits: Bool, salt: UInt32 = 0, _ body: ([UInt8]) -> Void
) {
  if !fits { return body(Array(input.rest)) }
  var bytes = Array(magic.utf8) + input.bytes(count - 4 - magic.utf8.count)
  bytes += repeatElement(0, count: count - bytes.count)
  bytes.storeChecksum(of: 0, count - 4, salt: salt, at: count - 4)
  body(bytes)
}

private func checkRecord(_ record: [UInt8]) {
  guard let layout = RecordLayout(record.rawSpan) else { return }
  require(layout.bodyStart <= record.count, "record: its body begins outside")
  for index in 0..<layout.keyCount {
    let range = layout.keyRange(index, in: record.rawSpan)
    require(range.upperBound <= layout.bodyStart, "record: key \(index) reaches into the body")
  }
  for index in 0..<layout.sharedCount { _ = layout.shared(index, in: record.rawSpan) }
}

/// A manifest, as recovery reads it once its checksum was checked.
@Sendable func fuzzManifest(_ bytes: [UInt8]) {
  guard let manifest = try? Manifest(bytes.rawSpan) else { return }
  if manifest.isSealed { return checkSealed(manifest, bytes) }
  let again = manifest.encoded()
  require(again.count <= bytes.count, "manifest: longer when written")
  require((try? Manifest(again.rawSpan)) == manifest, "manifest: another one when written and read")
  _ = manifest.largestCounter
  require((try? Manifest(manifest.withoutRows.encoded().rawSpan)) == manifest.withoutRows, "manifest without rows")
}

/// A manifest whose names and state are sealed: the same bytes when written, and whatever they open to is read or
/// refused. Here they open to themselves.
private func checkSealed(_ manifest: Manifest, _ bytes: [UInt8]) {
  let again = manifest.encoded { _, _ in manifest.state }
  require(again == bytes, "sealed manifest: another one when written")
  var opened = manifest
  guard opened.unseal(bytes.rawSpan, { _, sealed in sealed }) else { return }
  require(!opened.isSealed, "sealed manifest: still sealed when opened")
  let encoded = opened.encoded { _, secret in secret }
  var sealedAgain = try? Manifest(encoded.rawSpan)
  require(sealedAgain?.unseal(encoded.rawSpan) { _, sealed in sealed } == true, "sealed manifest: not opened again")
  require(sealedAgain == opened, "sealed manifest: another one when written and opened")
}
