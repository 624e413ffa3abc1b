import Bytes
import RecordFormat

/// The rows that died in one commit.
///
///     8 count c · 12 zero · 16 c offsets, ascending
struct Tombstones: ~Escapable {
  /// The maximum number of rows of a list. A longer list is split so that it fits into an object.
  static let maximumCount = 1 << 20

  private let bytes: RawSpan
  let count: Int

  /// Reads an object whose checksum is valid; fails if its lengths are inconsistent.
  @_lifetime(copy bytes)
  init?(_ bytes: RawSpan) {
    self.bytes = bytes
    guard bytes.byteCount >= 16 else {
      count = 0
      return nil
    }
    count = Int(bytes.u32(at: 8))
    guard bytes.byteCount == 16 + 4 * count else { return nil }
  }

  func offset(_ index: Int) -> UnitOffset { UnitOffset(rawValue: bytes.u32(at: 16 + 4 * index)) }

  /// A description of a violated format rule; `nil` if the list is valid.
  var fault: String? {
    if bytes.u32(at: 12) != 0 { return "tombstones: reserved bytes are not zero" }
    if count == 0 { return "tombstones: there is none" }
    for index in 1..<count where offset(index) <= offset(index - 1) {
      return "tombstones: numbers \(index - 1) and \(index) are not in ascending order"
    }
    return nil
  }

  /// Returns the contents of a list's object, without the object's header.
  static func contents(_ units: ArraySlice<UInt32>) -> [UInt8] {
    let count = 8 + 4 * units.count
    var contents = [UInt8](repeating: 0, count: count)
    contents.change(0, count) { bytes in
      bytes.put(UInt32(units.count), at: 0)
      for (index, unit) in units.enumerated() { bytes.put(unit, at: 8 &+ 4 &* index) }
    }
    return contents
  }
}
