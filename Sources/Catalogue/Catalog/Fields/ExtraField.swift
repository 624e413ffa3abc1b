import Barcodes
import Bytes
import DocumentFormat
import JSONFormat

/// A field of one's own as it is read: its name, and its type if it is declared.
///
/// Values are read in place, in the text of a product's ``Product/extra``. A value that does not fit the type counts as
/// missing.
struct ExtraField: Hashable, Sendable {
  let name: String
  /// The declared type; `nil` for a field that is not declared, whose values are what they are in JSON.
  let type: FieldType?
  /// The name as it is in the object: in quotes, with escapes.
  private let key: [UInt8]

  init(_ name: String, _ type: FieldType?) {
    self.name = name
    self.type = type
    var key: [UInt8] = []
    JSONWriter.append(text: name, to: &key)
    self.key = key
  }

  /// Whether a product has a value of the field, and one of its type.
  enum Fit: Sendable {
    /// There is none: no such key, `null`, or an empty text where none can be meant.
    case missing
    case fitting
    /// There is one, but not of the declared type.
    case misfit
  }

  /// The value in an object, in JSON; `nil` if it has no such key.
  @_lifetime(copy extra)
  func json(in extra: RawSpan) -> RawSpan? { ExtraScan.value(of: key.rawSpan, in: extra) }

  /// Calls `read` with the value as an item of the document format, and the bytes that contain it if it is a text. A
  /// value that is missing or does not fit is null.
  ///
  /// - Parameters:
  ///   - extra: The object; empty for a product without fields beyond the 25.
  ///   - scratch: A buffer for texts with escapes. Its contents are replaced.
  ///   - read: A closure that may use the bytes only during the call.
  func withItem<Result>(
    _ extra: RawSpan, _ scratch: inout [UInt8], _ read: (RawSpan, Item) -> Result
  ) -> Result {
    guard let json = json(in: extra), let kind = JSONKind(json) else { return read(extra, .null) }
    switch (type, kind) {
    case (nil, .number): return read(json, Self.number(json))
    case (nil, .true), (nil, .false): return read(json, .bool(kind == .true))
    case (nil, .null): return read(json, .null)
    // Lists and objects have no value of their own; their JSON can be shown, and searched for a text.
    case (nil, .list): return read(json, .text(0..<json.byteCount))
    case (nil, .text), (.text, .text), (.text, .number):
      return Self.withText(json, kind, &scratch) { read($0, .text(0..<$0.byteCount)) }
    case (.date, .text):
      return Self.withText(json, kind, &scratch) {
        Self.isDate($0) ? read($0, .text(0..<$0.byteCount)) : read($0, .null)
      }
    case (.decimal, .text), (.decimal, .number):
      return Self.withText(json, kind, &scratch) { text in
        let number = text.trimmedAsCode
        var key: [UInt8] = []
        return read(text, DecimalKey.append(number, to: &key) ? Self.number(number) : .null)
      }
    case (.int, .text), (.int, .number):
      return Self.withText(json, kind, &scratch) { text in
        read(text, Self.integer(text.trimmedAsCode).map { .integer($0) } ?? .null)
      }
    case (.bool, .true), (.bool, .false): return read(json, .bool(kind == .true))
    case (.bool, .text), (.bool, .number):
      return Self.withText(json, kind, &scratch) { text in
        read(text, Self.flag(text.trimmedAsCode).map { .bool($0) } ?? .null)
      }
    case (_?, _): return read(json, .null)
    }
  }

  /// Whether an object has a value of the field that fits its type.
  ///
  /// - Parameters:
  ///   - extra: The object.
  ///   - scratch: A buffer. Its contents are replaced.
  ///   - allowsList: Whether a list of texts and numbers fits a text: each is a code, or has words that are searched.
  func fit(_ extra: RawSpan, _ scratch: inout [UInt8], allowsList: Bool = false) -> Fit {
    guard let json = json(in: extra), let kind = JSONKind(json), kind != .null else { return .missing }
    if type == nil { return .fitting }
    if allowsList, kind == .list, json.u8(at: 0) == UInt8(ascii: "[") { return Self.fit(list: json) }
    let fits = withItem(extra, &scratch) { _, item in if case .null = item { false } else { true } }
    if fits { return .fitting }
    // A table has an empty cell where there is no number.
    return kind == .text && json.slice(1, json.byteCount - 2).trimmedAsCode.byteCount == 0 ? .missing : .misfit
  }

  /// Whether all elements of a list are texts or numbers. An empty list has no value.
  private static func fit(list json: RawSpan) -> Fit {
    var offset = 1
    while let element = ExtraScan.element(at: offset, in: json) {
      guard let kind = JSONKind(json.extracting(element)), kind == .text || kind == .number else { return .misfit }
      offset = element.upperBound + 1
    }
    return offset == 1 ? .missing : .fitting
  }

  /// Appends the key by which products are ordered: of decimals ``DecimalKey``, of all others the sort key of queries. A
  /// value that is missing comes first.
  ///
  /// - Parameters:
  ///   - extra: The object.
  ///   - key: Receives the key.
  ///   - scratch: A buffer. Its contents are replaced.
  ///   - isDescending: Whether the largest value has the smallest key.
  func appendSortKey(
    of extra: RawSpan, to key: inout [UInt8], _ scratch: inout [UInt8], isDescending: Bool = false
  ) {
    let start = key.count
    if type == .decimal {
      appendDecimalKey(of: extra, to: &key, &scratch)
    } else {
      withItem(extra, &scratch) { bytes, item in key.appendSortKey(bytes, item) }
    }
    if isDescending {
      for index in start..<key.count { key[index] = ~key[index] }
    }
  }

  private func appendDecimalKey(of extra: RawSpan, to key: inout [UInt8], _ scratch: inout [UInt8]) {
    guard let json = json(in: extra), let kind = JSONKind(json), kind == .text || kind == .number else {
      return key.append(DecimalKey.missing)
    }
    let isNumber = Self.withText(json, kind, &scratch) { DecimalKey.append($0.trimmedAsCode, to: &key) }
    if !isNumber { key.append(DecimalKey.missing) }
  }

  /// Calls `receive` with each text of the value: itself, or those of a list. A number stands for its digits.
  ///
  /// - Parameters:
  ///   - extra: The object.
  ///   - scratch: A buffer for texts with escapes. Its contents are replaced.
  ///   - receive: A closure that may use the text only during the call.
  func forEachText<Failure: Error>(
    of extra: RawSpan, _ scratch: inout [UInt8], _ receive: (RawSpan) throws(Failure) -> Void
  ) throws(Failure) {
    guard let json = json(in: extra), let kind = JSONKind(json) else { return }
    switch kind {
    case .text, .number: try Self.passText(json, kind, &scratch, receive)
    case .list where json.u8(at: 0) == UInt8(ascii: "["):
      var offset = 1
      while let element = ExtraScan.element(at: offset, in: json) {
        if let kind = JSONKind(json.extracting(element)), kind == .text || kind == .number {
          try Self.passText(json.extracting(element), kind, &scratch, receive)
        }
        offset = element.upperBound + 1
      }
    case .list, .true, .false, .null: return
    }
  }

  /// The texts of the value, with blanks between those of a list: what a search compares with words.
  func words(of extra: RawSpan, _ scratch: inout [UInt8]) -> [UInt8] {
    var words: [UInt8] = []
    if extra.byteCount == 0 { return words }
    forEachText(of: extra, &scratch) { text in
      if !words.isEmpty { words.append(0x20) }
      words.append(text)
    }
    return words
  }

  private static func passText<Failure: Error>(
    _ json: RawSpan, _ kind: JSONKind, _ scratch: inout [UInt8], _ receive: (RawSpan) throws(Failure) -> Void
  ) throws(Failure) {
    if kind == .number { return try receive(json) }
    let content = json.slice(1, max(0, json.byteCount - 2))
    if !ExtraScan.hasEscape(content) { return try receive(content) }
    ExtraScan.unescape(content, into: &scratch)
    try receive(scratch.rawSpan)
  }

  /// Calls `read` with the text of a value that is a text or a number.
  private static func withText<Result>(
    _ json: RawSpan, _ kind: JSONKind, _ scratch: inout [UInt8], _ read: (RawSpan) -> Result
  ) -> Result {
    if kind == .number { return read(json) }
    let content = json.slice(1, max(0, json.byteCount - 2))
    if !ExtraScan.hasEscape(content) { return read(content) }
    ExtraScan.unescape(content, into: &scratch)
    return read(scratch.rawSpan)
  }

  // MARK: Values of types

  /// A number of JSON as an item: an integer if it is written as one and fits, or the nearest double; null if it is
  /// beyond the range of these.
  private static func number(_ text: RawSpan) -> Item {
    let digits = text.string
    if let integer = Int64(digits) { return .integer(integer) }
    guard let double = Double(digits), double.isFinite else { return .null }
    return .double(double)
  }

  private static func integer(_ text: RawSpan) -> Int64? {
    guard let number = ExactDecimal(text.string)?.normalized, number.decimals == 0 else { return nil }
    return number.coefficient
  }

  private static func flag(_ text: RawSpan) -> Bool? {
    switch text.string.lowercased() {
    case "true", "yes", "1": true
    case "false", "no", "0": false
    default: nil
    }
  }

  /// Whether a text begins with a date of the calendar, and ends there or goes on with a time.
  static func isDate(_ text: RawSpan) -> Bool {
    guard text.byteCount >= 10, text.u8(at: 4) == UInt8(ascii: "-"), text.u8(at: 7) == UInt8(ascii: "-"),
      let year = digits(text, 0..<4), let month = digits(text, 5..<7), let day = digits(text, 8..<10),
      (1...12).contains(month)
    else { return false }
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...days[month - 1]).contains(day) else { return false }
    return text.byteCount == 10 || [UInt8(ascii: " "), UInt8(ascii: "T")].contains(text.u8(at: 10))
  }

  private static func digits(_ text: RawSpan, _ range: Range<Int>) -> Int? {
    var value = 0
    for offset in range {
      let digit = text.u8(at: offset) &- UInt8(ascii: "0")
      if digit >= 10 { return nil }
      value = value * 10 + Int(digit)
    }
    return value
  }
}

/// The kind of a value in JSON.
private enum JSONKind {
  case text, number, `true`, `false`, null
  /// An array or an object.
  case list

  /// The kind of a value that `ExtraMembers` has written; `nil` for bytes that are none.
  init?(_ json: RawSpan) {
    if json.byteCount == 0 { return nil }
    switch json.u8(at: 0) {
    case UInt8(ascii: "\""):
      if json.byteCount < 2 { return nil }
      self = .text
    case UInt8(ascii: "t"): self = .true
    case UInt8(ascii: "f"): self = .false
    case UInt8(ascii: "n"): self = .null
    case UInt8(ascii: "["), UInt8(ascii: "{"): self = .list
    default: self = .number
    }
  }
}

/// Finds values in objects of the form that products store: no white space, only the escapes that JSON requires.
///
/// Bytes that break this form are no danger: nothing is read outside of them, and what cannot be found is missing.
private enum ExtraScan {
  /// Returns the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key in quotes, with escapes.
  ///   - object: The object; empty for none.
  @_lifetime(copy object)
  static func value(of key: RawSpan, in object: RawSpan) -> RawSpan? {
    var offset = 1
    while offset < object.byteCount, object.u8(at: offset) == UInt8(ascii: "\"") {
      let keyEnd = end(at: offset, in: object)
      // The colon.
      let start = keyEnd + 1
      if start >= object.byteCount { return nil }
      let valueEnd = end(at: start, in: object)
      if object.extracting(offset..<keyEnd).hasSameBytes(as: key) { return object.extracting(start..<valueEnd) }
      offset = valueEnd + 1
    }
    return nil
  }

  /// Returns the range of the element of an array at an offset; `nil` at the end.
  static func element(at offset: Int, in array: RawSpan) -> Range<Int>? {
    guard offset < array.byteCount, array.u8(at: offset) != UInt8(ascii: "]") else { return nil }
    let end = end(at: offset, in: array)
    return end > offset ? offset..<end : nil
  }

  /// Returns the end of the value at an offset.
  private static func end(at start: Int, in json: RawSpan) -> Int {
    var offset = start
    var depth = 0
    while offset < json.byteCount {
      switch json.u8(at: offset) {
      case UInt8(ascii: "\""):
        offset += 1
        while offset < json.byteCount, json.u8(at: offset) != UInt8(ascii: "\"") {
          offset += json.u8(at: offset) == UInt8(ascii: "\\") ? 2 : 1
        }
        if depth == 0 { return min(offset + 1, json.byteCount) }
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        // The end of the object or array that has the value.
        if depth == 0 { return offset }
        depth -= 1
        if depth == 0 { return offset + 1 }
      case UInt8(ascii: ","), UInt8(ascii: ":"):
        if depth == 0 { return offset }
      default: break
      }
      offset += 1
    }
    return json.byteCount
  }

  static func hasEscape(_ text: RawSpan) -> Bool {
    for offset in 0..<text.byteCount where text.u8(at: offset) == UInt8(ascii: "\\") { return true }
    return false
  }

  /// Replaces the contents of `bytes` with the text that escapes stand for.
  static func unescape(_ text: RawSpan, into bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    var offset = 0
    while offset < text.byteCount {
      let byte = text.u8(at: offset)
      guard byte == UInt8(ascii: "\\"), offset + 1 < text.byteCount else {
        bytes.append(byte)
        offset += 1
        continue
      }
      let escape = text.u8(at: offset + 1)
      offset += 2
      switch escape {
      case UInt8(ascii: "n"): bytes.append(0x0A)
      case UInt8(ascii: "r"): bytes.append(0x0D)
      case UInt8(ascii: "t"): bytes.append(0x09)
      case UInt8(ascii: "b"): bytes.append(0x08)
      case UInt8(ascii: "f"): bytes.append(0x0C)
      case UInt8(ascii: "u"):
        // Only control characters are written so.
        let digits = text.slice(min(offset, text.byteCount), min(4, max(0, text.byteCount - offset))).string
        bytes += String(UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) ?? "\u{FFFD}").utf8
        offset += 4
      default: bytes.append(escape)
      }
    }
  }
}
