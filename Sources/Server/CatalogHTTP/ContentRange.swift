/// The `Content-Range` of a response (RFC 9110, 14.4) that has one part of a file.
struct ContentRange: Equatable {
  /// The offset of the first byte.
  var start: Int
  /// The offset after the last byte.
  var end: Int
  /// The size of the file; `nil` if the server does not say it.
  var total: Int?

  /// Parses `bytes 0-99/1234` or `bytes 0-99/*`.
  ///
  /// - Returns: `nil` for other text, and for a range that no file can have.
  init?(_ text: String) {
    guard let (range, size) = Self.parts(text) else { return nil }
    let bounds = range.split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]), first <= last,
      last < .max
    else { return nil }
    if size != "*" {
      guard let total = Self.number(size), last < total else { return nil }
      self.total = total
    }
    (start, end) = (first, last + 1)
  }

  /// The size of the file in a response to a range that the file does not have: `bytes */1234`.
  static func total(ofRefusal text: String) -> Int? {
    guard let (range, size) = parts(text), range == "*" else { return nil }
    return number(size)
  }

  private static func parts(_ text: String) -> (range: Substring, size: Substring)? {
    let words = text.split { $0 == " " || $0 == "\t" }
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 2 ? (parts[0], parts[1]) : nil
  }

  private static func number(_ digits: Substring) -> Int? {
    digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(digits) : nil
  }
}
