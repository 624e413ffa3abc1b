/// An event of a Linux input device (evdev): `struct input_event` as on this system, little-endian.
///
///     offset  size           field
///     0       2 × word       time, not used here
///     …       2              type
///     …       2              code
///     …       4              value, signed
struct KeyEvent: Equatable, Sendable {
  static let timeByteCount = 2 * MemoryLayout<Int>.size
  /// 24 on a 64-bit system.
  static let byteCount = timeByteCount + 8

  var type: UInt16
  var code: UInt16
  var value: Int32

  /// Decodes an event.
  ///
  /// - Parameter bytes: The bytes; exactly ``byteCount``.
  init(_ bytes: [UInt8]) {
    func byte(_ index: Int) -> UInt32 { UInt32(bytes[Self.timeByteCount + index]) }
    type = UInt16(byte(0) | byte(1) << 8)
    code = UInt16(byte(2) | byte(3) << 8)
    value = Int32(bitPattern: byte(4) | byte(5) << 8 | byte(6) << 16 | byte(7) << 24)
  }

  // From <linux/input-event-codes.h>.
  static let synchronization: UInt16 = 0
  static let key: UInt16 = 1
  static let report: UInt16 = 0
  static let dropped: UInt16 = 3
  static let released: Int32 = 0
  static let pressed: Int32 = 1
}
