import Bytes
import RecordFormat

@testable import LogStore

/// The structure of a log as a stranger sees it without the key, who changes it and computes all checksums anew.
struct ForgedStructure {
  /// A sealed part of the log.
  struct Part: CustomStringConvertible {
    var what: String
    /// The table of a record; `nil` for everything else.
    var table: Int?
    /// The structure with its checksum.
    var range: Range<Int>
    /// What is sealed: nonce, contents and tag.
    var contents: Range<Int>

    var description: String { "\(what) at \(range.lowerBound)" }
  }

  private(set) var sealedParts: [Part] = []
  private var footers: [SegmentFooter] = []

  init(_ log: [UInt8]) {
    var start = SegmentHeader.firstOffset
    while let header = try? SegmentHeader(log.rawSpan.slice(start, SegmentHeader.byteCount)) {
      let end = start + Int(header.length)
      guard
        let footer = try? SegmentFooter(
          log.rawSpan.slice(end - SegmentFooter.byteCount, SegmentFooter.byteCount))
      else { break }
      footers.append(footer)
      addObjects(start + SegmentHeader.byteCount..<Int(footer.objectEnd), log)
      addPages(Int(footer.objectEnd)..<Int(footer.manifestOffset), log)
      let manifest = Int(footer.manifestOffset)..<Int(footer.manifestOffset) + Int(footer.manifestLength)
      sealedParts.append(Part(what: "manifest", range: manifest, contents: manifest))
      start = end
      if start + SegmentHeader.byteCount > log.count { break }
    }
  }

  private mutating func addObjects(_ area: Range<Int>, _ log: [UInt8]) {
    var offset = area.lowerBound
    while offset < area.upperBound {
      let word = log.rawSpan.u32(at: offset + 4)
      let length = ObjectHeader.length(word)
      sealedParts.append(
        Part(
          what: "object", table: ObjectHeader.kind(word).table, range: offset..<offset + length,
          contents: offset + ObjectHeader.byteCount..<offset + length))
      offset += ObjectHeader.padded(length)
    }
  }

  private mutating func addPages(_ area: Range<Int>, _ log: [UInt8]) {
    var offset = (area.lowerBound + 63) / 64 * 64
    while offset + 64 <= area.upperBound {
      let bytes = log.rawSpan.slice(offset, 64)
      let unit = UnitOffset(byteOffset: offset)
      if let header = try? OrderedBlockHeader(bytes, at: unit) {
        for tree in [header.mainTree, header.fragmentTree].compactMap({ $0 }) {
          for number in 0..<tree.pageCount {
            let place = tree.page(number)
            let first = offset + place.start
            sealedParts.append(
              Part(
                what: "page", range: first..<first + place.byteCount, contents: first + 4..<first + place.byteCount))
          }
        }
        offset += OrderedBlockHeader.byteCount + 64 * Int(header.lineCount)
      } else if let header = try? BlockHeader(bytes, at: unit) {
        offset += BlockHeader.byteCount + Int(header.bucketCount) * Bucket.byteCount
      } else {
        offset += 64
      }
    }
  }

  /// Computes the checksums of all objects, pages, manifests, bodies and footers, the chain, and those of the slots.
  func fixChecksums(_ log: inout [UInt8]) {
    for part in sealedParts where part.what != "manifest" {
      let salt = Checksum.salt(UnitOffset(byteOffset: part.range.lowerBound))
      let checksum = Checksum.of(log.rawSpan.slice(part.range.lowerBound + 4, part.range.count - 4), from: salt)
      log.store(checksum, at: part.range.lowerBound)
    }
    var chain: UInt32 = 0
    for footer in footers {
      let start = Int(footer.segmentOffset)
      let end = Int(footer.offset)
      let manifest = Int(footer.manifestOffset)
      if chain != 0 {
        log.store(chain, at: start + 48)
        log.store(chain, at: end + 80)
      }
      log.store(Checksum.of(log.rawSpan.slice(start, 60)), at: start + 60)
      log.store(Checksum.of(log.rawSpan.slice(manifest, end - manifest)), at: end + 68)
      let body = start + SegmentHeader.byteCount
      log.store(Checksum.of(log.rawSpan.slice(body, manifest - body)), at: end + 96)
      chain = Checksum.of(log.rawSpan.slice(end, 124))
      log.store(chain, at: end + 124)
      for slot in AcknowledgementSlot.offsets
      where log.rawSpan.u64(at: slot + 24) == footer.sequence {
        log.store(chain, at: slot + 56)
        log.store(Checksum.of(log.rawSpan.slice(slot, 4092)), at: slot + 4092)
      }
    }
  }
}
