import Bytes
import Foundation

/// The reason why a value cannot be read as the requested type. A caller that knows the coding path converts it to a
/// `DecodingError`.
enum ValueFault: Error {
  case damaged(DocumentError)
  case mismatch(any Any.Type, Item)
  /// The number at the offset is outside of the type's range, or has a fraction.
  case noFit(any Any.Type, Int)
  /// The text at the offset cannot be parsed as the type.
  case noParse(any Any.Type, Int)
}

/// The document that the scopes decode.
final class DecodingSource {
  let bytes: [UInt8]
  let userInfo: [CodingUserInfoKey: Any]

  init(_ bytes: [UInt8], _ userInfo: [CodingUserInfoKey: Any]) {
    self.bytes = bytes
    self.userInfo = userInfo
  }

  @inline(__always)
  func item(at offset: Int) throws(DocumentError) -> Item {
    let bytes = bytes
    let span = bytes.rawSpan
    return try span.item(at: offset)
  }

  @inline(__always)
  func isNull(at offset: Int) throws(DocumentError) -> Bool {
    let bytes = bytes
    let span = bytes.rawSpan
    return try span.isNull(at: offset)
  }

  @inline(__always)
  func skip(_ offset: Int) throws(DocumentError) -> Int {
    let bytes = bytes
    let span = bytes.rawSpan
    return try span.skip(offset)
  }

  // MARK: Values

  func bool(at offset: Int) throws(ValueFault) -> Bool {
    let item = try value(offset)
    guard case .bool(let value) = item else { throw .mismatch(Bool.self, item) }
    return value
  }

  func string(at offset: Int) throws(ValueFault) -> String {
    let item = try value(offset)
    guard case .text(let range) = item else { throw .mismatch(String.self, item) }
    let bytes = bytes
    guard let value = bytes.rawSpan.string(range) else { throw .damaged(.invalidUTF8(offset: offset)) }
    return value
  }

  func double(at offset: Int) throws(ValueFault) -> Double {
    switch try value(offset) {
    case .double(let value): return value
    case .integer(let value): return Double(value)
    case .unsigned(let value): return Double(value)
    case let item: throw .mismatch(Double.self, item)
    }
  }

  /// The nearest float, as in Swift's other decoders.
  func float(at offset: Int) throws(ValueFault) -> Float { Float(try double(at: offset)) }

  @inline(__always)
  func integer<T: FixedWidthInteger>(at offset: Int) throws(ValueFault) -> T {
    let item = try value(offset)
    let value: T? =
      switch item {
      case .integer(let value): T(exactly: value)
      case .unsigned(let value): T(exactly: value)
      case .double(let value): T(exactly: value)
      default: throw .mismatch(T.self, item)
      }
    guard let value else { throw .noFit(T.self, offset) }
    return value
  }

  func date(at offset: Int) throws(ValueFault) -> Date {
    let item = try value(offset)
    guard case .date(let value) = item else { throw .mismatch(Date.self, item) }
    return value
  }

  func data(at offset: Int) throws(ValueFault) -> Data {
    let item = try value(offset)
    guard case .bytes(let range) = item else { throw .mismatch(Data.self, item) }
    return Data(bytes[range])
  }

  func decimal(at offset: Int) throws(ValueFault) -> Decimal {
    switch try value(offset) {
    case .integer(let value): return Decimal(value)
    case .unsigned(let value): return Decimal(value)
    // The shortest description of the double is the decimal that was stored.
    case .double(let value): return Decimal(string: value.description) ?? Decimal(value)
    case .text: return try parsed(at: offset) { Decimal(string: $0) }
    case let item: throw .mismatch(Decimal.self, item)
    }
  }

  /// Parses a value that is stored as text.
  func parsed<T>(at offset: Int, _ parse: (String) -> T?) throws(ValueFault) -> T {
    let text = try string(at: offset)
    guard let value = parse(text) else { throw .noParse(T.self, offset) }
    return value
  }

  func value(at offset: Int) throws(ValueFault) -> DocumentValue {
    let bytes = bytes
    let span = bytes.rawSpan
    var end = offset
    do { return try DocumentValue(span, &end, depth: 0) } catch { throw .damaged(error) }
  }

  @inline(__always)
  private func value(_ offset: Int) throws(ValueFault) -> Item {
    do { return try item(at: offset) } catch { throw .damaged(error) }
  }

  // MARK: Lists

  /// The number of items, or pairs of items, in `list`. They are counted if a break ends the list.
  func count(_ list: ItemList, isMap: Bool) throws(DocumentError) -> Int {
    if let count = list.count { return count }
    let storage = bytes
    let bytes = storage.rawSpan
    var count = 0
    var offset = list.start
    while try !bytes.isBreak(at: offset) {
      if isMap { offset = try bytes.skip(offset) }
      offset = try bytes.skip(offset)
      count += 1
    }
    return count
  }
}
