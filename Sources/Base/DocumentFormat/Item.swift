import Bytes
package import Essentials

/// A shallowly decoded item: texts, byte strings and lists are byte ranges of the document.
///
/// Rows of other formats, such as products, are compared and sorted as documents are by passing their fields as items.
package enum Item {
  case null
  case bool(Bool)
  case integer(Int64)
  /// An integer greater than `Int64.max`.
  case unsigned(UInt64)
  case double(Double)
  case text(Range<Int>)
  case bytes(Range<Int>)
  case date(Date)
  case array(ItemList)
  case object(ItemList)
}

/// The offset and count of the items of an array, or of the names and values of a map.
package struct ItemList {
  /// The offset of the first item.
  package var start: Int
  /// The number of array elements or map fields; `nil` if the list ends with a break.
  package var count: Int?
}

extension RawSpan {
  /// The item at `offset`.
  ///
  /// - Throws: If the item itself is invalid or outside of the subset. The contents of a list are not checked.
  func item(at start: Int) throws(DocumentError) -> Item {
    var offset = start
    while true {
      let head = try head(at: offset)
      switch head.major {
      case Major.unsigned: return Item(unsigned: head.argument)
      case Major.negative:
        guard head.argument <= UInt64(Int64.max) else { throw .integerRange(offset: offset) }
        return .integer(-1 - Int64(head.argument))
      case Major.bytes: return .bytes(head.end..<(head.end + (try count(head, at: offset))))
      case Major.text: return .text(head.end..<(head.end + (try count(head, at: offset))))
      case Major.array: return .array(try list(head, at: offset))
      case Major.map: return .object(try list(head, at: offset))
      case Major.tag:
        switch head.argument {
        case Tag.date: return .date(try date(at: head.end, tagged: offset))
        case Tag.uri:
          guard try self.head(at: head.end).major == Major.text else { throw .tag(Tag.uri, offset: offset) }
        case Tag.selfDescribed: break
        default: throw .tag(head.argument, offset: offset)
        }
        offset = head.end
      default: return try simple(head, at: offset)
      }
    }
  }

  /// The item at `offset`; null for a missing value, whose offset is `nil`.
  @inline(__always)
  func itemOrNull(at offset: Int?) throws(DocumentError) -> Item {
    guard let offset else { return .null }
    return try item(at: offset)
  }

  /// The list with this head at `offset`.
  @inline(__always)
  func list(_ head: ItemHead, at offset: Int) throws(DocumentError) -> ItemList {
    if head.isIndefinite { return ItemList(start: head.end, count: nil) }
    let count = try count(head, at: offset, eachAtLeast: head.major == Major.map ? 2 : 1)
    return ItemList(start: head.end, count: count)
  }

  /// Skips self-description tags, and returns the offset and head of the item after them.
  @inline(__always)
  func untagged(_ start: Int) throws(DocumentError) -> (offset: Int, head: ItemHead) {
    var offset = start
    var head = try head(at: offset)
    while head.major == Major.tag, head.argument == Tag.selfDescribed {
      offset = head.end
      head = try self.head(at: offset)
    }
    return (offset, head)
  }

  private func simple(_ head: ItemHead, at offset: Int) throws(DocumentError) -> Item {
    switch u8(at: offset) {
    case Initial.false: .bool(false)
    case Initial.true: .bool(true)
    case Initial.null, Initial.undefined: .null
    case Initial.half: .double(Double(half: UInt16(head.argument)))
    case Initial.float: .double(Double(Float(bitPattern: UInt32(head.argument))))
    case Initial.double: .double(Double(bitPattern: head.argument))
    case let byte: throw .reserved(byte: byte, offset: offset)
    }
  }

  /// The date with the seconds at `offset`, after its tag.
  private func date(at offset: Int, tagged: Int) throws(DocumentError) -> Date {
    let head = try head(at: offset)
    let seconds: Double
    switch head.major {
    case Major.unsigned: seconds = Double(head.argument)
    case Major.negative: seconds = -1 - Double(head.argument)
    case Major.simple:
      guard case .double(let value) = try simple(head, at: offset) else {
        throw .tag(Tag.date, offset: tagged)
      }
      seconds = value
    default: throw .tag(Tag.date, offset: tagged)
    }
    return Date(timeIntervalSince1970: seconds)
  }

  /// Whether the item at `offset` is null or undefined.
  @inline(__always)
  func isNull(at offset: Int) throws(DocumentError) -> Bool {
    guard offset < byteCount else { throw .endsEarly(offset: offset) }
    let byte = u8(at: offset)
    return byte == Initial.null || byte == Initial.undefined
  }
}

extension Item {
  /// Creates the case for an unsigned integer.
  @inline(__always)
  init(unsigned value: UInt64) {
    self = value <= UInt64(Int64.max) ? .integer(Int64(value)) : .unsigned(value)
  }
}

extension Double {
  /// The value of the half-precision number with these bits (RFC 8949, appendix D).
  init(half bits: UInt16) {
    let exponent = Int(bits >> 10 & 31)
    let fraction = Double(bits & 0x3FF)
    let magnitude: Double =
      switch exponent {
      case 0: fraction * 0x1p-24
      case 31: fraction == 0 ? .infinity : .nan
      default: (fraction + 1024) * Double(sign: .plus, exponent: exponent - 25, significand: 1)
      }
    self = bits & 0x8000 == 0 ? magnitude : -magnitude
  }
}
