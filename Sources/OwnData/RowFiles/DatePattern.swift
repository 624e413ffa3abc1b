/// A reader of dates in a form that a person describes, which writes them as `YYYY-MM-DD HH:MM:SS`.
enum DatePattern {
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  /// Whether a form has year, month and day, and only known parts: `%Y` or `%y`, `%m` or `%b`, `%d`, and `%H`, or `%I`
  /// with `%p`, `%M` and `%S`.
  ///
  /// Without a percent sign, letters are parts, as in `dd.MM.yyyy HH:mm:ss`; see ``bytes(_:)``.
  static func isFormat(_ format: String) -> Bool {
    var parts = Set<UInt8>()
    guard let text = percentFormat(format) else { return false }
    var bytes = Array(text.utf8)[...]
    while let byte = bytes.popFirst() {
      guard byte == UInt8(ascii: "%") else { continue }
      guard let part = bytes.popFirst(), "YymbdHIpMS%".utf8.contains(part) else { return false }
      parts.insert(part)
    }
    func has(_ part: Unicode.Scalar) -> Bool { parts.contains(UInt8(ascii: part)) }
    return (has("Y") || has("y")) && (has("m") || has("b")) && has("d") && has("I") == has("p")
      && !(has("I") && has("H"))
  }

  /// The bytes of a form with percent signs, in whichever way it is written; empty for no form.
  static func bytes(_ format: String) -> [UInt8] { Array((percentFormat(format) ?? "").utf8) }

  /// The parts of a form with letters.
  private static let letters = [
    "yyyy": "%Y", "yy": "%y", "MMM": "%b", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d", "HH": "%H", "H": "%H",
    "hh": "%I", "h": "%I", "mm": "%M", "m": "%M", "ss": "%S", "s": "%S", "a": "%p",
  ]

  /// A form with percent signs: the text itself, or one of letters, such as `yyyy-MM-dd'T'HH:mm`, in which quotes are
  /// around letters that stand for themselves. Returns `nil` for letters that are no parts.
  private static func percentFormat(_ format: String) -> String? {
    if format.contains("%") { return format }
    var result = ""
    var rest = format[...]
    while let first = rest.first {
      if first == "'" {
        guard let end = rest.dropFirst().firstIndex(of: "'") else { return nil }
        let text = rest[rest.index(after: rest.startIndex)..<end]
        result += text.isEmpty ? "'" : text
        rest = rest[rest.index(after: end)...]
      } else if first.isASCII, first.isLetter {
        let part = rest.prefix { $0 == first }
        guard let percent = letters[String(part)] else { return nil }
        result += percent
        rest = rest.dropFirst(part.count)
      } else {
        result.append(rest.removeFirst())
      }
    }
    return result
  }

  /// Returns `text`, which is written in the form `format`, as `YYYY-MM-DD HH:MM:SS`; `nil` if it is written otherwise.
  /// Two digits of a year below 70 are in the 21st century.
  static func reformatted(_ text: String, _ format: [UInt8]) -> String? {
    var rest = Array(text.utf8)[...]
    var values: [UInt8: Int] = [:]
    var parts = format[...]
    /// Whether the digits of another part end where this one begins.
    var followsDigits = false
    while let byte = parts.popFirst() {
      let isAdjacent = followsDigits
      followsDigits = false
      guard byte == UInt8(ascii: "%"), let part = parts.popFirst(), part != UInt8(ascii: "%") else {
        guard rest.popFirst() == byte else { return nil }
        continue
      }
      if part == UInt8(ascii: "b") {
        let name = String(decoding: rest.prefix(3), as: UTF8.self).lowercased()
        guard let month = months.firstIndex(of: name) else { return nil }
        rest = rest.dropFirst(3)
        values[UInt8(ascii: "m")] = month + 1
        continue
      }
      if part == UInt8(ascii: "p") {
        guard let half = ["am", "pm"].firstIndex(of: String(decoding: rest.prefix(2), as: UTF8.self).lowercased())
        else {
          return nil
        }
        rest = rest.dropFirst(2)
        values[part] = half * 12
        continue
      }
      let most = part == UInt8(ascii: "Y") ? 4 : 2
      let digits = rest.prefix(most).prefix { (0x30...0x39).contains($0) }
      // A year of two digits is for %y.
      guard part == UInt8(ascii: "Y") ? digits.count == 4 : !digits.isEmpty else { return nil }
      followsDigits = true
      // Without anything between two parts, only their lengths tell them apart: 2023123 has not the form yyyyMMdd.
      if digits.count < most, isAdjacent || beginsWithDigits(parts) { return nil }
      rest = rest.dropFirst(digits.count)
      values[part] = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
    guard rest.isEmpty else { return nil }
    func value(_ part: Unicode.Scalar, _ range: ClosedRange<Int>, _ other: Int) -> Int? {
      let value = values[UInt8(ascii: part)] ?? other
      return range.contains(value) ? value : nil
    }
    if let hour = values[UInt8(ascii: "I")] {
      guard (1...12).contains(hour) else { return nil }
      values[UInt8(ascii: "H")] = hour % 12 + (values[UInt8(ascii: "p")] ?? 0)
    }
    let century = values[UInt8(ascii: "y")].map { $0 < 70 ? 2000 + $0 : 1900 + $0 }
    guard let year = value("Y", 1...9999, century ?? 0), let month = value("m", 1...12, 0),
      let day = value("d", 1...days(in: month, of: year), 0), let hour = value("H", 0...23, 0),
      let minute = value("M", 0...59, 0), let second = value("S", 0...59, 0)
    else { return nil }
    return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2) + " " + padded(hour, 2) + ":"
      + padded(minute, 2) + ":" + padded(second, 2)
  }

  /// Whether the rest of a form begins with a part that is written with digits.
  private static func beginsWithDigits(_ format: ArraySlice<UInt8>) -> Bool {
    guard format.first == UInt8(ascii: "%"), let part = format.dropFirst().first else { return false }
    return "YymdHIMS".utf8.contains(part)
  }

  /// Returns `text`, which is `YYYY-MM-DD HH:MM:SS`, in the form `format`; `nil` if reading that would not give `text`.
  static func written(_ text: String, _ format: [UInt8]) -> String? {
    let bytes = Array(text.utf8)
    guard bytes.count == 19 else { return nil }
    var result: [UInt8] = []
    var parts = format[...]
    while let byte = parts.popFirst() {
      guard byte == UInt8(ascii: "%"), let part = parts.popFirst(), part != UInt8(ascii: "%") else {
        result.append(byte)
        continue
      }
      switch part {
      case UInt8(ascii: "Y"): result += bytes[0..<4]
      case UInt8(ascii: "y"): result += bytes[2..<4]
      case UInt8(ascii: "m"): result += bytes[5..<7]
      case UInt8(ascii: "d"): result += bytes[8..<10]
      case UInt8(ascii: "b"):
        guard let month = Int(String(decoding: bytes[5..<7], as: UTF8.self)), months.indices.contains(month - 1) else {
          return nil
        }
        result += (months[month - 1].prefix(1).uppercased() + months[month - 1].dropFirst()).utf8
      case UInt8(ascii: "H"): result += bytes[11..<13]
      case UInt8(ascii: "I"), UInt8(ascii: "p"):
        guard let hour = Int(String(decoding: bytes[11..<13], as: UTF8.self)) else { return nil }
        result += part == UInt8(ascii: "p") ? (hour < 12 ? "AM" : "PM").utf8 : padded((hour + 11) % 12 + 1, 2).utf8
      case UInt8(ascii: "M"): result += bytes[14..<16]
      default: result += bytes[17..<19]
      }
    }
    let written = String(decoding: result, as: UTF8.self)
    return reformatted(written, format) == text ? written : nil
  }

  private static func days(in month: Int, of year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  private static func padded(_ value: Int, _ count: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}
