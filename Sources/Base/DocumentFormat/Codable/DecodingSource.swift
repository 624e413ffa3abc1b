import Bytes
import Essentials

/// The reason why a value cannot be read as the requested type. A caller that knows the coding path converts it to a
/// `DecodingError`.
enum DecodingFault: Error {
  case damaged(DocumentError)
  case mismatch(any Any.Type, Item)
  /// The number at the offset is outside of the type's range, or has a fraction.
  case noFit(any Any.Type, Int)
  /// The text at the offset cannot be parsed as the type.
  case noParse(any Any.Type, Int)
}

/// The document that the scopes decode: valid bytes, and a copy, because a type may keep its decoder.
final class DecodingSource: OwnedBytes {
  let userInfo: [CodingUserInfoKey: Any]

  init(validated bytes: RawSpan, _ userInfo: [CodingUserInfoKey: Any]) {
    self.userInfo = userInfo
    super.init(copying: bytes)
  }

  @inline(__always)
  func item(at offset: Int) throws(DocumentError) -> Item { try bytes.item(at: offset) }

  @inline(__always)
  func isNull(at offset: Int) throws(DocumentError) -> Bool { try bytes.isNull(at: offset) }

  @inline(__always)
  func skip(_ offset: Int) throws(DocumentError) -> Int { try bytes.skip(offset) }

  // MARK: Values

  func bool(at offset: Int) throws(DecodingFault) -> Bool {
    let item = try value(offset)
    guard case .bool(let value) = item else { throw .mismatch(Bool.self, item) }
    return value
  }

  func string(at offset: Int) throws(DecodingFault) -> String {
    let item = try value(offset)
    guard case .text(let range) = item else { throw .mismatch(String.self, item) }
    return bytes.repairedString(range)
  }

  func double(at offset: Int) throws(DecodingFault) -> Double {
    switch try value(offset) {
    case .double(let value): return value
    case .integer(let value): return Double(value)
    case .unsigned(let value): return Double(value)
    case let item: throw .mismatch(Double.self, item)
    }
  }

  /// The nearest float, as in Swift's other decoders.
  func float(at offset: Int) throws(DecodingFault) -> Float { Float(try double(at: offset)) }

  @inline(__always)
  func integer<T: FixedWidthInteger>(at offset: Int) throws(DecodingFault) -> T {
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

  func date(at offset: Int) throws(DecodingFault) -> Date {
    let item = try value(offset)
    guard case .date(let value) = item else { throw .mismatch(Date.self, item) }
    return value
  }

  func data(at offset: Int) throws(DecodingFault) -> Data {
    let item = try value(offset)
    guard case .bytes(let range) = item else { throw .mismatch(Data.self, item) }
    return bytes.data(range)
  }

  func decimal(at offset: Int) throws(DecodingFault) -> Decimal {
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
  func parsed<T>(at offset: Int, _ parse: (String) -> T?) throws(DecodingFault) -> T {
    let text = try string(at: offset)
    guard let value = parse(text) else { throw .noParse(T.self, offset) }
    return value
  }

  func value(at offset: Int) throws(DecodingFault) -> DocumentValue {
    var end = offset
    do { return try DocumentValue(bytes, &end, depth: 0) } catch { throw .damaged(error) }
  }

  @inline(__always)
  private func value(_ offset: Int) throws(DecodingFault) -> Item {
    do { return try item(at: offset) } catch { throw .damaged(error) }
  }

  // MARK: Lists

  /// The number of items, or pairs of items, in `list`. They are counted if a break ends the list.
  func count(_ list: ItemList, isMap: Bool) throws(DocumentError) -> Int {
    if let count = list.count { return count }
    var count = 0
    var offset = list.start
    while try !bytes.isBreak(at: offset) {
      if isMap { offset = try bytes.skip(offset) }
      offset = try bytes.skip(offset)
      count += 1
    }
    return count
  }

  // MARK: Paths

  /// The names and indexes that lead from the document to the value at `target`.
  ///
  /// - Complexity: O(heads before the value).
  func path(to target: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    // The bytes are valid, so nothing is thrown.
    try? appendPath(to: target, from: 0, &path)
    return path
  }

  private func appendPath(to target: Int, from start: Int, _ path: inout [any CodingKey]) throws(DocumentError) {
    if start == target { return }
    let (list, isMap): (ItemList, Bool)
    switch try item(at: start) {
    case .array(let items): (list, isMap) = (items, false)
    case .object(let fields): (list, isMap) = (fields, true)
    default: return
    }
    var offset = list.start
    for index in 0..<(try count(list, isMap: isMap)) {
      let name = isMap ? try bytes.name(at: offset) : offset..<offset
      let end = try skip(name.upperBound)
      if target < end {
        path.append(isMap ? FieldKey(stringValue: bytes.repairedString(name)) : UnnamedKey(index: index))
        return try appendPath(to: target, from: name.upperBound, &path)
      }
      offset = end
    }
  }
}
