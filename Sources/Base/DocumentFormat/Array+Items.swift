import Bytes
import Essentials

/// Encoding of items: shortest heads, definite lengths.
extension Array where Element == UInt8 {
  /// Appends a head with the shortest encoding of its argument.
  @inline(__always)
  mutating func appendHead(_ major: UInt8, _ argument: UInt64) {
    if argument < 24 {
      append(major << 5 | UInt8(truncatingIfNeeded: argument))
    } else {
      appendLongHead(major, argument)
    }
  }

  @inline(never)
  private mutating func appendLongHead(_ major: UInt8, _ argument: UInt64) {
    let width: Int
    let information: UInt8
    if argument <= 0xFF {
      (width, information) = (1, 24)
    } else if argument <= 0xFFFF {
      (width, information) = (2, 25)
    } else if argument <= 0xFFFF_FFFF {
      (width, information) = (4, 26)
    } else {
      (width, information) = (8, 27)
    }
    append(major << 5 | information)
    appendBigEndian(argument, width)
  }

  /// Appends the low `width` bytes of `word` in big-endian order.
  @inline(__always)
  mutating func appendBigEndian(_ word: UInt64, _ width: Int) {
    var shift = UInt64(width &* 8)
    while shift > 0 {
      shift &-= 8
      append(UInt8(truncatingIfNeeded: word >> shift))
    }
  }

  @inline(__always)
  mutating func appendItem(_ value: Int64) {
    if value >= 0 {
      appendHead(Major.unsigned, UInt64(bitPattern: value))
    } else {
      appendHead(Major.negative, UInt64(bitPattern: -1 - value))
    }
  }

  mutating func appendItem(_ value: Double) {
    append(Initial.double)
    appendBigEndian(value.bitPattern, 8)
  }

  mutating func appendItem(_ value: Float) {
    append(Initial.float)
    appendBigEndian(UInt64(value.bitPattern), 4)
  }

  @inline(__always)
  mutating func appendItem(_ value: Bool) { append(value ? Initial.true : Initial.false) }

  @inline(__always)
  mutating func appendItem(_ value: String) {
    let utf8 = value.utf8
    let bytes = utf8.span.rawSpan
    appendHead(Major.text, UInt64(bytes.byteCount))
    append(copying: bytes)
  }

  /// Appends a date: tag 1, then the seconds since 1970, as an integer if they have no fraction.
  mutating func appendItem(_ value: Date) {
    append(Initial.date)
    let seconds = value.timeIntervalSince1970
    if let whole = Int64(exactly: seconds) {
      appendItem(whole)
    } else {
      appendItem(seconds)
    }
  }

  mutating func appendItem(_ value: Data) {
    appendHead(Major.bytes, UInt64(value.count))
    append(contentsOf: value)
  }

  /// Sets the count of the list whose one-byte head is at `offset`, after all of its items were appended.
  ///
  /// - Complexity: O(1) for fewer than 24 items; otherwise the items are moved.
  mutating func setCount(_ count: Int, ofListAt offset: Int) {
    let major = self[offset] & 0xE0
    if count < 24 {
      self[offset] = major | UInt8(count)
    } else {
      var head: [UInt8] = []
      head.appendHead(major >> 5, UInt64(count))
      replaceSubrange(offset...offset, with: head)
    }
  }
}
