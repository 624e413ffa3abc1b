import Synchronization

/// Gives scans their names: UUIDs of version 7 (RFC 9562), which sort in the order in which they were given, even where the
/// clock was set back. 48 bits of milliseconds, a counter of 12 bits, 62 random bits.
final class ScanIDs: Sendable {
  /// Milliseconds in the upper 52 bits, the counter in the lower 12. Only grows.
  private let last = Mutex<UInt64>(0)
  private let random: @Sendable () -> UInt64

  init(random: @escaping @Sendable () -> UInt64) { self.random = random }

  /// - Parameter now: microseconds since 1970.
  func next(now: Int64) -> String {
    let tick = last.withLock { last in
      // A counter that runs over borrows from the next millisecond.
      last = max(UInt64(max(0, now) / 1000) << 12, last &+ 1)
      return last
    }
    let high = (tick >> 12) << 16 | 0x7000 | (tick & 0xFFF)
    let low = 0b10 << 62 | random() >> 2
    var bytes: [UInt8] = []
    bytes.reserveCapacity(36)
    for index in 0..<32 {
      if [8, 12, 16, 20].contains(index) { bytes.append(UInt8(ascii: "-")) }
      let digit = UInt8((index < 16 ? high : low) >> UInt64(60 - 4 * (index % 16)) & 15)
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
