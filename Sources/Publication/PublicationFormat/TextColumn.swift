import Bytes

/// The values of one column of a group that is written: byte strings, in the order of the rows.
struct TextColumn {
  /// How the values of a column are written.
  enum Form: UInt8 {
    /// All values are empty.
    case empty = 0
    /// All values are the same.
    case same = 1
    /// The lengths of all values, then their bytes.
    case plain = 2
    /// The different values, then the number of the value of each row.
    case distinct = 3
    /// Digits as numbers, of which the differences from row to row are written, and values that are none.
    case digits = 4
    /// Times as numbers, likewise.
    case times = 5
    /// Digits of which the last one is a check digit of GS1, without it, likewise.
    case checkedDigits = 6
    /// All values, each with a line feed after it.
    case lines = 7

    /// The numbers that a form is made of: how a text is one, and back. `nil` for a form of texts.
    var numbers: (of: (RawSpan) -> UInt64?, append: (UInt64, inout [UInt8]) -> Bool)? {
      switch self {
      case .digits: ({ DigitText.number($0) }, { DigitText.append($0, to: &$1) })
      case .times: (TimeText.number, { TimeText.append($0, to: &$1) })
      case .checkedDigits: (DigitText.checkedNumber, { DigitText.append(checked: $0, to: &$1) })
      case .empty, .same, .plain, .distinct, .lines: nil
      }
    }
  }

  private var bytes: [UInt8] = []
  /// The end of each value in ``bytes``.
  private var ends: [Int] = []

  var count: Int { ends.count }
  var byteCount: Int { bytes.count }

  mutating func append(_ value: RawSpan) {
    bytes.append(value)
    ends.append(bytes.count)
  }

  mutating func append(_ value: [UInt8]) {
    bytes += value
    ends.append(bytes.count)
  }

  /// Appends a number of eight bytes; 0 as the empty value.
  mutating func append(word: UInt64) {
    if word != 0 { for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(word >> shift & 0xFF)) } }
    ends.append(bytes.count)
  }

  /// The value of a row.
  func bytes(_ row: Int) -> [UInt8] { Array(bytes[(row == 0 ? 0 : ends[row - 1])..<ends[row]]) }

  @_lifetime(borrow self)
  subscript(row: Int) -> RawSpan {
    let start = row == 0 ? 0 : ends[row - 1]
    return bytes.rawSpan.slice(start, ends[row] - start)
  }

  // MARK: Writing

  /// Appends the column in the form that is likely to be the shortest.
  func append(to writer: inout ByteWriter) {
    if bytes.isEmpty { return writer.put(Form.empty.rawValue) }
    if appendNumbers(to: &writer) { return }
    var values = ByteStringTable<UInt32>(seed: HashSeed(1, 2))
    var numbers: [Int] = []
    numbers.reserveCapacity(count)
    for row in 0..<count {
      numbers.append(values.number(of: self[row], new: 0))
      if values.count > 16, 2 * values.count > count { break }
    }
    if values.count == 1, numbers.count == count {
      writer.put(Form.same.rawValue)
      writer.putVariable(UInt64(self[0].byteCount))
      return writer.put(bytes(0))
    }
    guard numbers.count == count, 2 * values.count <= count else { return appendTexts(to: &writer) }
    writer.put(Form.distinct.rawValue)
    writer.putVariable(UInt64(values.count))
    var distinct = TextColumn()
    for number in 0..<values.count { distinct.append(values.text(number)) }
    distinct.appendTexts(to: &writer)
    for number in numbers { writer.putVariable(UInt64(number)) }
  }

  /// Appends all values, as lines if none of them has a line feed: that compresses best.
  private func appendTexts(to writer: inout ByteWriter) {
    let lineFeed: UInt8 = 0x0A
    if bytes.contains(lineFeed) {
      writer.put(Form.plain.rawValue)
      for row in 0..<count { writer.putVariable(UInt64(self[row].byteCount)) }
      return writer.put(bytes)
    }
    writer.put(Form.lines.rawValue)
    for row in 0..<count {
      writer.put(bytes(row))
      writer.put(lineFeed)
    }
  }

  /// Appends the column as numbers if nearly all of its values are of one kind.
  private func appendNumbers(to writer: inout ByteWriter) -> Bool {
    for form in [Form.checkedDigits, .digits, .times] {
      guard let number = form.numbers?.of else { continue }
      var numbers: [UInt64?] = []
      var others = 0
      for row in 0..<count {
        let value = number(self[row])
        if value == nil { others += 1 }
        numbers.append(value)
        if others > 16, 8 * others > count { break }
      }
      if numbers.count < count || 8 * others > count { continue }
      writer.put(form.rawValue)
      var last: UInt64 = 0
      for value in numbers {
        writer.putSigned(Int64(bitPattern: (value ?? last) &- last))
        last = value ?? last
      }
      writer.putVariable(UInt64(others))
      if others == 0 { return true }
      var rest = TextColumn()
      var previous = 0
      for (row, value) in numbers.enumerated() where value == nil {
        writer.putVariable(UInt64(row - previous))
        previous = row
        rest.append(self[row])
      }
      rest.appendTexts(to: &writer)
      return true
    }
    return false
  }
}

/// Texts of 1 to 18 digits as numbers: the digits with a 1 before them, so that zeros in front are kept. The empty text
/// is 0.
enum DigitText {
  static func number(_ text: RawSpan) -> UInt64? {
    if text.byteCount == 0 { return 0 }
    guard text.byteCount <= 18 else { return nil }
    var number: UInt64 = 1
    for offset in 0..<text.byteCount {
      let digit = text.u8(at: offset) &- 0x30
      if digit > 9 { return nil }
      number = number * 10 + UInt64(digit)
    }
    return number
  }

  /// The number of a text without its last digit; `nil` if that is not the check digit of the others (GS1 General
  /// Specifications, 7.9.1).
  static func checkedNumber(_ text: RawSpan) -> UInt64? {
    if text.byteCount == 0 { return 0 }
    guard text.byteCount >= 2, text.byteCount <= 18, let number = number(text) else { return nil }
    let last = UInt64(text.u8(at: text.byteCount - 1) &- 0x30)
    // Without the check digit, the 1 in front stays where it was.
    let rest = number / 10
    return checkDigit(rest, count: text.byteCount - 1) == last ? rest : nil
  }

  /// Appends the text of a number without check digit, and its check digit; returns `false` if it is of none.
  static func append(checked number: UInt64, to text: inout [UInt8]) -> Bool {
    if number == 0 { return true }
    let start = text.count
    guard append(number, to: &text), text.count - start <= 17 else { return false }
    text.append(0x30 + UInt8(checkDigit(number, count: text.count - start)))
    return true
  }

  /// The check digit of the last `count` digits of a number: they count three times and once in turn, from the last one.
  private static func checkDigit(_ number: UInt64, count: Int) -> UInt64 {
    var sum: UInt64 = 0
    var rest = number
    for index in 0..<count {
      sum += rest % 10 * (index.isMultiple(of: 2) ? 3 : 1)
      rest /= 10
    }
    return (10 - sum % 10) % 10
  }

  /// Appends the text of a number; returns `false` if it is of none.
  static func append(_ number: UInt64, to text: inout [UInt8]) -> Bool {
    if number == 0 { return true }
    // The 1 in front is that of the highest power of ten.
    var count = 0
    var power: UInt64 = 1
    while count < 18, number / 10 >= power {
      power *= 10
      count += 1
    }
    guard count >= 1, number / power == 1 else { return false }
    var rest = number - power
    text.appendZeros(count)
    var digits = text.mutableSpan
    for index in 1...count {
      digits[digits.count - index] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    return true
  }
}

/// Times such as `2026-01-31 23:59:59` as numbers: the seconds since the year 0 of a calendar whose months have 32 days
/// each, plus 1, so that numbers that no calendar has are kept. The empty text is 0.
enum TimeText {
  private static let separators: InlineArray<5, (offset: Int, byte: UInt8)> = [
    (4, 0x2D), (7, 0x2D), (10, 0x20), (13, 0x3A), (16, 0x3A),
  ]
  /// Where the parts begin, how many digits they have, and how many numbers they can be.
  private static let parts: InlineArray<6, (offset: Int, count: Int, limit: UInt64)> = [
    (0, 4, 10_000), (5, 2, 16), (8, 2, 32), (11, 2, 24), (14, 2, 60), (17, 2, 60),
  ]

  static func number(_ text: RawSpan) -> UInt64? {
    if text.byteCount == 0 { return 0 }
    guard text.byteCount == 19 else { return nil }
    for index in separators.indices where text.u8(at: separators[index].offset) != separators[index].byte { return nil }
    var number: UInt64 = 0
    for index in parts.indices {
      let (offset, count, limit) = parts[index]
      var part: UInt64 = 0
      for index in offset..<offset + count {
        let digit = text.u8(at: index) &- 0x30
        if digit > 9 { return nil }
        part = part * 10 + UInt64(digit)
      }
      if part >= limit { return nil }
      number = number * limit + part
    }
    return number + 1
  }

  /// Appends the text of a number; returns `false` if it is of none.
  static func append(_ number: UInt64, to text: inout [UInt8]) -> Bool {
    if number == 0 { return true }
    var rest = number - 1
    let start = text.count
    text.appendZeros(19)
    var bytes = text.mutableSpan
    for index in parts.indices.reversed() {
      let (offset, count, limit) = parts[index]
      var part = rest % limit
      rest /= limit
      for digit in (offset..<offset + count).reversed() {
        bytes[start + digit] = 0x30 + UInt8(truncatingIfNeeded: part % 10)
        part /= 10
      }
    }
    for index in separators.indices { bytes[start + separators[index].offset] = separators[index].byte }
    return rest == 0
  }
}
