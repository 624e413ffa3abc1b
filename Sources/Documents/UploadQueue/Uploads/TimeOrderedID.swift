/// UUIDs of version 7 (RFC 9562) that sort in the order in which they were created, even if the clock was set back: 48
/// bits of milliseconds, a counter of 12 bits, 62 random bits.
package enum TimeOrderedID {
  /// The next tick after `last`: milliseconds since 1970 in the upper 52 bits, the counter in the lower 12. A counter
  /// that overflows borrows from the next millisecond.
  ///
  /// - Parameter now: The current time in microseconds since 1970.
  package static func tick(after last: UInt64, now: Int64) -> UInt64 {
    max(UInt64(max(0, now) / 1000) << 12, last &+ 1)
  }

  /// The text of a UUID: 36 characters, lower case.
  ///
  /// - Parameters:
  ///   - tick: The tick; 60 bits are used.
  ///   - random: Random bits; 62 of them are used.
  package static func text(tick: UInt64, random: UInt64) -> String {
    let high = (tick >> 12) << 16 | 0x7000 | (tick & 0xFFF)
    let low = 0b10 << 62 | random >> 2
    var bytes: [UInt8] = []
    bytes.reserveCapacity(36)
    for index in 0..<32 {
      if [8, 12, 16, 20].contains(index) { bytes.append(UInt8(ascii: "-")) }
      let word = index < 16 ? high : low
      let digit = UInt8(word >> UInt64(60 - 4 * (index % 16)) & 15)
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
