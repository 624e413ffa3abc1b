import Bytes

/// The head of a CBOR item (RFC 8949, section 3): three bits of major type, five of information, an argument.
///
///     ┌─────────────┬──────────────────┬──────────────────────────┐
///     │ major: bits │ information:     │ argument: 0, 1, 2, 4 or  │
///     │ 7 to 5      │ bits 4 to 0      │ 8 bytes, big-endian      │
///     └─────────────┴──────────────────┴──────────────────────────┘
struct ItemHead {
  var major: UInt8
  var information: UInt8
  /// The argument: a value, a length, a count, or the bits of a floating-point number.
  var argument: UInt64
  /// The offset after the head.
  var end: Int

  /// Whether the list ends with a break instead of having a count.
  @inline(__always)
  var isIndefinite: Bool { information == 31 }
}

/// Major types.
enum Major {
  static let unsigned: UInt8 = 0
  static let negative: UInt8 = 1
  static let bytes: UInt8 = 2
  static let text: UInt8 = 3
  static let array: UInt8 = 4
  static let map: UInt8 = 5
  static let tag: UInt8 = 6
  static let simple: UInt8 = 7
}

/// First bytes that determine the entire item or its type.
enum Initial {
  static let `false`: UInt8 = 0xF4
  static let `true`: UInt8 = 0xF5
  static let null: UInt8 = 0xF6
  static let undefined: UInt8 = 0xF7
  static let half: UInt8 = 0xF9
  static let float: UInt8 = 0xFA
  static let double: UInt8 = 0xFB
  static let `break`: UInt8 = 0xFF
  /// The head of tag 1, an epoch date.
  static let date: UInt8 = 0xC1
}

/// The supported tags.
enum Tag {
  static let date: UInt64 = 1
  static let uri: UInt64 = 32
  static let selfDescribed: UInt64 = 55799
}

extension RawSpan {
  /// The head at `offset`. A break (0xFF) is returned as a simple value.
  ///
  /// - Throws: If the head is truncated or reserved, or begins a chunked string.
  @inline(__always)
  func head(at offset: Int) throws(DocumentError) -> ItemHead {
    guard offset < byteCount else { throw .endsEarly(offset: offset) }
    let initial = u8(at: offset)
    let information = initial & 31
    if information < 24 {
      return ItemHead(
        major: initial >> 5, information: information, argument: UInt64(information), end: offset &+ 1)
    }
    if information < 28, byteCount &- offset > 8 {
      // The nine bytes that the longest head has are in bounds. The argument is the first of the last eight.
      let power = Int(information &- 24)
      let argument = unsafe u64(unchecked: offset &+ 1).byteSwapped &>> UInt64(64 &- (8 &<< power))
      return ItemHead(
        major: initial >> 5, information: information, argument: argument, end: offset &+ 1 &+ (1 &<< power))
    }
    return try longHead(at: offset, initial)
  }

  /// The head at `offset` if an argument follows the first byte, or if it is the head of a list that ends with a break.
  @inline(never)
  private func longHead(at offset: Int, _ initial: UInt8) throws(DocumentError) -> ItemHead {
    let major = initial >> 5
    let information = initial & 31
    if information == 31 {
      switch major {
      case Major.array, Major.map, Major.simple:
        return ItemHead(major: major, information: information, argument: 0, end: offset + 1)
      case Major.bytes, Major.text: throw .chunked(offset: offset)
      default: throw .reserved(byte: initial, offset: offset)
      }
    }
    guard information < 28 else { throw .reserved(byte: initial, offset: offset) }
    let width = 1 << Int(information - 24)
    guard byteCount - offset > width else { throw .endsEarly(offset: byteCount) }
    let argument: UInt64 =
      switch width {
      case 1: UInt64(u8(at: offset + 1))
      case 2: UInt64(u16(at: offset + 1).byteSwapped)
      case 4: UInt64(u32(at: offset + 1).byteSwapped)
      default: u64(at: offset + 1).byteSwapped
      }
    return ItemHead(major: major, information: information, argument: argument, end: offset + 1 + width)
  }

  /// The number of bytes or items in `head`, checked against the remaining bytes.
  @inline(__always)
  func count(_ head: ItemHead, at offset: Int, eachAtLeast byteCount: Int = 1) throws(DocumentError) -> Int {
    let left = UInt64(truncatingIfNeeded: self.byteCount &- head.end)
    guard head.argument <= (byteCount == 2 ? left / 2 : left) else { throw .tooLong(offset: offset) }
    return Int(truncatingIfNeeded: head.argument)
  }

  /// Whether the list whose items end at `offset` ends there with a break.
  @inline(__always)
  func isBreak(at offset: Int) throws(DocumentError) -> Bool {
    guard offset < byteCount else { throw .endsEarly(offset: offset) }
    return u8(at: offset) == Initial.break
  }

  /// The offset after the item at `start`, like ``skip(_:depth:)``; without a call if the item is a number, a text or
  /// another single head.
  @inline(__always)
  func skipMostly(_ start: Int) throws(DocumentError) -> Int {
    let head = try head(at: start)
    switch head.major {
    case Major.unsigned, Major.negative: return head.end
    case Major.bytes, Major.text: return try head.end &+ count(head, at: start)
    default: return try skip(start)
    }
  }

  /// The offset after the item at `start`. Checks only the structure, not the values.
  ///
  /// - Complexity: O(number of heads inside). Only lists that end with a break need recursion.
  func skip(_ start: Int, depth: Int = 0) throws(DocumentError) -> Int {
    var offset = start
    var remaining = 1
    repeat {
      let head = try head(at: offset)
      remaining &-= 1
      switch head.major {
      case Major.unsigned, Major.negative: offset = head.end
      case Major.bytes, Major.text: offset = try head.end &+ count(head, at: offset)
      case Major.array, Major.map:
        if head.isIndefinite {
          guard depth < DocumentLimits.nestingDepth else { throw .nestedTooDeeply(offset: offset) }
          offset = try skipIndefinite(head, depth: depth + 1)
        } else {
          let isMap = head.major == Major.map
          let count = try count(head, at: offset, eachAtLeast: isMap ? 2 : 1)
          remaining &+= isMap ? count &* 2 : count
          // Each remaining item has at least one byte. This check also prevents the sum from overflowing.
          guard remaining <= byteCount &- head.end else { throw .tooLong(offset: offset) }
          offset = head.end
        }
      case Major.tag:
        remaining &+= 1
        offset = head.end
      default:
        if head.isIndefinite { throw .reserved(byte: Initial.break, offset: offset) }
        offset = head.end
      }
    } while remaining > 0
    return offset
  }

  /// The offset after the break that ends the list with this head.
  private func skipIndefinite(_ head: ItemHead, depth: Int) throws(DocumentError) -> Int {
    var offset = head.end
    while try !isBreak(at: offset) {
      if head.major == Major.map { offset = try skip(offset, depth: depth) }
      offset = try skip(offset, depth: depth)
    }
    return offset + 1
  }
}
