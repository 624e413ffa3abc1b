import Bytes
import RecordFormat

/// A log that an input made out of a sample: some bytes changed, then checksums that fit again where the input says so.
///
/// Without the repair of checksums hardly an input would get beyond the first one; with it every field is reached that
/// a program could have written wrongly.
struct EditedLog {
  /// Which checksums are made to fit, by bit of the input's first byte.
  struct Repairs: OptionSet {
    let rawValue: UInt8
    /// Of objects, buckets, block headers.
    static let objects = Repairs(rawValue: 1)
    /// Of segment bodies, manifests, segment headers, footers.
    static let segments = Repairs(rawValue: 2)
    /// The chain from footer to footer, the slots' copy of it included.
    static let chain = Repairs(rawValue: 4)
    /// Of slots and file header.
    static let pages = Repairs(rawValue: 8)
  }

  private let sample: LogSample
  private(set) var bytes: [UInt8]
  private var touched: Set<Int> = []

  /// Applies up to forty edits.
  init(_ sample: LogSample, _ repairs: Repairs, _ input: inout Input) {
    self.sample = sample
    bytes = sample.bytes
    var length = bytes.count
    for _ in 0..<40 where !input.rest.isEmpty { edit(&input, &length) }
    if repairs.contains(.objects) { fixObjects() }
    fixSegments(repairs)
    if repairs.contains(.pages) { fixPages(chain: repairs.contains(.chain)) }
    if length < bytes.count { bytes.removeLast(bytes.count - length) }
  }

  private mutating func edit(_ input: inout Input, _ length: inout Int) {
    let operation = input.byte()
    let index = input.number(below: sample.structures.count)
    let structure = sample.structures[index]
    touched.insert(index)
    switch operation % 8 {
    case 0...4:
      // One to sixteen bytes in the structure.
      let width = [1, 2, 4, 8, 16][Int(operation % 8)]
      let place = structure.offset + (input.number(below: structure.byteCount))
      for (index, byte) in input.bytes(width).enumerated() where place + index < bytes.count {
        bytes[place + index] = byte
      }
    case 5:
      // Another structure's bytes.
      let other = sample.structures[input.number(below: sample.structures.count)]
      let count = min(structure.byteCount, other.byteCount)
      bytes.replaceSubrange(
        structure.offset..<(structure.offset + count), with: bytes[other.offset..<(other.offset + count)])
    case 6:
      // Nothing, in the structure or in its page.
      let page = structure.offset / 4096 * 4096
      let range =
        operation & 0x80 == 0 ? page..<(page + 4096) : structure.offset..<(structure.offset + structure.byteCount)
      for place in range { bytes[place] = 0 }
    default:
      // A file that ends in the structure, or one with something behind its end.
      if operation & 0x80 == 0 {
        length = min(length, structure.offset + input.number(below: structure.byteCount))
      } else {
        let pages = Int(operation >> 3 & 3) + 1
        let count = min(pages * 4096, bytes.count)
        let start = min(structure.offset / 4096 * 4096, bytes.count - count)
        if length == bytes.count, bytes.count < 1 << 18 {
          bytes += bytes[start..<(start + count)]
          length = bytes.count
        }
      }
    }
  }

  private mutating func fixObjects() {
    for index in touched.sorted() {
      let structure = sample.structures[index]
      let salt = Checksum.salt(UnitOffset(byteOffset: structure.offset / 8 * 8))
      switch structure.kind {
      case .object:
        let length = ObjectHeader.length(bytes.rawSpan.u32(at: structure.offset + 4))
        guard length >= ObjectHeader.byteCount, length <= bytes.count - structure.offset else { continue }
        bytes.storeChecksum(of: structure.offset + 4, length - 4, salt: salt, at: structure.offset)
      case .bucket:
        bytes.storeChecksum(of: structure.offset + 4, 60, salt: salt, at: structure.offset)
      case .page:
        bytes.storeChecksum(of: structure.offset + 4, structure.byteCount - 4, salt: salt, at: structure.offset)
      case .blockHeader:
        bytes.storeChecksum(of: structure.offset, 60, salt: salt, at: structure.offset + 60)
      default: continue
      }
    }
  }

  private mutating func fixSegments(_ repairs: Repairs) {
    var chain: UInt32 = 0
    for segment in sample.segments {
      if repairs.contains(.chain) {
        bytes.store(chain, at: segment.start + 48)
        bytes.store(chain, at: segment.footer + 80)
      }
      if repairs.contains(.segments) {
        bytes.storeChecksum(of: segment.start, 60, at: segment.start + 60)
        // As the footer tells it, where that is possible.
        let told = Int(clamping: bytes.rawSpan.u64(at: segment.footer + 56))
        let manifest = (segment.start + 64...segment.footer).contains(told) ? told : segment.manifest
        bytes.storeChecksum(of: manifest, segment.footer - manifest, at: segment.footer + 68)
        bytes.storeChecksum(of: segment.start + 64, manifest - segment.start - 64, at: segment.footer + 96)
        bytes.storeChecksum(of: segment.footer, 124, at: segment.footer + 124)
      }
      chain = bytes.rawSpan.u32(at: segment.footer + 124)
    }
  }

  private mutating func fixPages(chain: Bool) {
    for slot in AcknowledgementSlot.offsets where !bytes.rawSpan.slice(slot, 4096).isZero(from: 0) {
      let footer = Int(clamping: bytes.rawSpan.u64(at: slot + 40))
      if chain, footer >= SegmentHeader.firstOffset, footer <= bytes.count - SegmentFooter.byteCount {
        let found = bytes.rawSpan.u32(at: footer + 124)
        bytes.store(found, at: slot + 56)
      }
      bytes.storeChecksum(of: slot, 4092, at: slot + 4092)
    }
    bytes.storeChecksum(of: 0, 4092, at: 4092)
  }
}

extension [UInt8] {
  /// Stores the checksum of the `count` bytes from `start` on.
  mutating func storeChecksum(of start: Int, _ count: Int, salt: UInt32 = 0, at offset: Int) {
    let checksum = Checksum.of(rawSpan.slice(start, count), from: salt)
    store(checksum, at: offset)
  }
}
