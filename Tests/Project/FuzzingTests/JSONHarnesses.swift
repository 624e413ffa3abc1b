import JSONFormat

/// A document token by token, with everything that a token says.
private struct TokenLog: Equatable {
  var entries: [Entry] = []
  var failure: JSONError?
  var replacedSurrogates = 0

  struct Entry: Equatable {
    var token: JSONToken
    var offset: Int
    var depth: Int
    var text: [UInt8] = []
    var integer: Int64?
    var double: UInt64?
  }

  init(_ document: [UInt8], _ sizes: [UInt8], _ limits: JSONLimits, parts: Bool) {
    var tokens = JSONTokenizer(limits: limits)
    tokens.deliversStringParts = parts
    do throws(JSONError) {
      try inPieces(document, sizes) { (piece) throws(JSONError) in
        tokens.append(piece)
        try read(&tokens)
      }
      tokens.finish()
      try read(&tokens)
    } catch {
      failure = error
      var again: JSONError?
      do throws(JSONError) { _ = try tokens.next() } catch { again = error }
      require(again == failure, "JSON: the second error is another one")
    }
    replacedSurrogates = tokens.replacedSurrogates
  }

  private mutating func read(_ tokens: inout JSONTokenizer) throws(JSONError) {
    while true {
      let token = try tokens.next()
      var entry = Entry(token: token, offset: tokens.tokenOffset, depth: tokens.depth)
      switch token {
      case .needsInput: return
      case .endOfDocument:
        // The end is no token and has no offset.
        entry.offset = 0
        if entries.last?.token != .endOfDocument { entries.append(entry) }
        return
      case .key, .string, .stringPart: entry.text = text(tokens)
      case .number:
        entry.text = text(tokens)
        entry.integer = tokens.int64Value
        entry.double = tokens.doubleValue?.bitPattern
      default: break
      }
      if token == .key { checkWords(tokens, entry.text) }
      if token == .stringPart, let last = entries.last, last.token == .stringPart {
        entries[entries.count - 1].text += entry.text
      } else {
        // Where a part begins depends on the pieces.
        if token == .stringPart || token == .stringEnd { entry.offset = 0 }
        if token != .stringPart || !entry.text.isEmpty { entries.append(entry) }
      }
    }
  }

  private func text(_ tokens: borrowing JSONTokenizer) -> [UInt8] {
    tokens.withText { text in text.indices.map { text[$0] } }
  }

  private func checkWords(_ tokens: borrowing JSONTokenizer, _ text: [UInt8]) {
    let words = tokens.textWords
    for (index, word) in [words.0, words.1, words.2].enumerated() {
      for byte in 0..<8 {
        let place = index * 8 + byte
        let expected = place < text.count ? text[place] : 0
        require(UInt8(truncatingIfNeeded: word >> UInt64(8 * byte)) == expected, "JSON: wrong words of a key")
      }
    }
  }
}

/// A JSON document in pieces: tokens, texts, values, offsets and errors are those of the whole.
@Sendable func fuzzJSON(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let sizes = input.bytes(4)
  var limits = JSONLimits(nestingDepth: choice & 1 == 0 ? 512 : 2)
  if choice & 2 != 0 { limits.tokenByteCount = 12 }
  let document = Array(input.rest)
  let whole = TokenLog(document, [], limits, parts: choice & 4 != 0)
  let cut = TokenLog(document, sizes, limits, parts: choice & 4 != 0)
  require(cut.failure == whole.failure, "JSON: \(cut.failure as Any) in pieces, \(whole.failure as Any) as a whole")
  // A string that fails may have handed over some of its parts before.
  if whole.failure == nil || choice & 4 == 0 {
    require(cut == whole, "JSON: pieces of \(sizes) read differently")
  }
  for entry in whole.entries where entry.token == .key || entry.token == .string {
    require(String(validating: entry.text, as: UTF8.self) != nil, "JSON: a text that is no UTF-8")
  }
}

/// The value of a number as written, against the standard library's and an exact integer.
///
/// Bytes that belong to no number become digits, so that nearly every input is one.
@Sendable func fuzzNumber(_ bytes: [UInt8]) {
  let allowed = Array("0123456789.eE+-".utf8)
  let text = bytes.map { allowed.contains($0) ? $0 : UInt8(ascii: "0") + $0 % 10 }
  var tokens = JSONTokenizer()
  tokens.append(text.span)
  tokens.finish()
  let string = String(decoding: text, as: UTF8.self)
  var value: (double: Double?, integer: Int64?)?
  do throws(JSONError) {
    if try tokens.next() == .number { value = (tokens.doubleValue, tokens.int64Value) }
    _ = try tokens.next()
  } catch { value = nil }
  require((value != nil) == DecimalNumber.isNumber(text), "number: \(string) is one or not")
  guard let value else { return }
  let double = Double(string).flatMap { $0.isFinite ? $0 : nil }
  require(value.double?.bitPattern == double?.bitPattern, "number: another double than \(string)")
  require(value.integer == DecimalNumber.integer(text), "number: another integer than \(string)")
}

/// Numbers of JSON read the slow way: as digits, without arithmetic that could overflow.
private enum DecimalNumber {
  /// Whether RFC 8259, section 6, has `text`.
  static func isNumber(_ text: [UInt8]) -> Bool {
    var rest = text[...]
    func digits() -> Int {
      let count = rest.prefix { (0x30...0x39).contains($0) }.count
      rest = rest.dropFirst(count)
      return count
    }
    if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    let startsWithZero = rest.first == UInt8(ascii: "0")
    let whole = digits()
    if whole == 0 || startsWithZero && whole > 1 { return false }
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      if digits() == 0 { return false }
    }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
      if digits() == 0 { return false }
    }
    return rest.isEmpty
  }

  /// The integer that the number `text` is; `nil` for a fraction, and outside of 64 bits.
  static func integer(_ text: [UInt8]) -> Int64? {
    let lower = text.map { $0 == UInt8(ascii: "E") ? UInt8(ascii: "e") : $0 }
    let halves = lower.split(separator: UInt8(ascii: "e"), maxSplits: 1)
    let mantissa = halves[0].drop { $0 == UInt8(ascii: "-") }
    let parts = mantissa.split(separator: UInt8(ascii: "."), maxSplits: 1)
    var digits = parts[0] + (parts.count > 1 ? parts[1] : [])
    var exponent = parts.count > 1 ? -parts[1].count : 0
    digits = digits.drop { $0 == UInt8(ascii: "0") }
    if digits.isEmpty { return 0 }
    while digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent += 1
    }
    if halves.count > 1 {
      let isNegative = halves[1].first == UInt8(ascii: "-")
      let power = halves[1].drop { !(0x31...0x39).contains($0) }
      // Longer than any input: no digits make up for it.
      let size = power.count > 6 ? 1_000_000 : Int(String(decoding: power, as: UTF8.self)) ?? 0
      exponent += isNegative ? -size : size
    }
    guard exponent >= 0, digits.count + exponent <= 19 else { return nil }
    let sign = text.first == UInt8(ascii: "-") ? "-" : ""
    return Int64(sign + String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: exponent))
  }
}
