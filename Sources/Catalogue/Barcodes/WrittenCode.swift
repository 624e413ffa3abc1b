internal import TextFormat

/// A code as a cell of a table has it.
///
/// Programs for tables change codes: they take zeros at the front for nothing, write long numbers with an exponent, and
/// add a point and a zero. People group digits, and put several codes into one cell. This type says which of these
/// happened, and takes back what can be taken back without a guess: the check digit has to be right then.
package struct WrittenCode: Sendable, Equatable {
  /// What is the matter with a code. The raw value is the name for programs.
  package enum State: String, CaseIterable, Sendable {
    /// It is the digits of a GTIN, or of a UPC-E number, with the right check digit.
    case sound
    /// It becomes one with the one or two zeros that it has lost at the front.
    case lostZero
    /// It is a number with an exponent, which mostly has lost digits.
    case exponent
    /// It has something around it or inside that is no part of a code, or is the error of a formula: `#N/A`.
    case decorated
    /// It is several codes.
    case several
    /// It has the form of a GTIN, and another check digit.
    case wrongCheckDigit
    /// It is any other text, which may be the code of a label of one's own.
    case text
    /// There is nothing.
    case none
  }

  package let state: State
  /// The code with its zeros, and without what is no part of it. What would have to be guessed is as it was: a number
  /// with an exponent that has lost digits, several codes, a wrong check digit.
  package let normalized: String

  /// The length in bytes above which a text is not examined: no symbol holds it.
  private static let byteLimit = ScanConfiguration.defaultMaximumLength

  /// Examines a code.
  ///
  /// - Complexity: Linear in the length of the text.
  package init(_ text: String) {
    if let run = DigitRun(text.utf8), run.count > 0 {
      state = Self.state(of: run, text)
      normalized = state == .lostZero ? Self.padded(text) : text
      return
    }
    (state, normalized) = Self.examined(text)
  }

  private init(_ state: State, _ normalized: String) {
    self.state = state
    self.normalized = normalized
  }

  /// The GTIN that the code means; `nil` if it is none, or only by a guess. A UPC-E number is none here.
  package var gtin: GTIN? { GTIN(normalized).flatMap { $0.value == 0 ? nil : $0 } }

  /// The GTIN that the code is with zeros in front of its digits, however many it has lost: `959742` is the EAN-8
  /// `00959742`. One number in ten is one by chance, so this only finds a code that is known already. `nil` for any
  /// other text.
  package var zeroFilled: GTIN? {
    guard normalized.utf8.count <= 14, Self.isDigits(normalized) else { return nil }
    let digits = String(repeating: "0", count: 14 - normalized.utf8.count) + normalized
    return GTIN(digits).flatMap { $0.value == 0 ? nil : $0 }
  }

  /// What is the matter with a code: the fast path for the many that are only digits, or plainly a text.
  package static func state(of text: Span<UInt8>) -> State {
    if text.count == 0 { return .none }
    var run = DigitRun()
    for index in text.indices where !run.append(text[index]) {
      if isPlainText(text) { return .text }
      if let digits = marked(text) { return state(of: digits, "") == .wrongCheckDigit ? .wrongCheckDigit : .decorated }
      return WrittenCode(String(copying: text)).state
    }
    // Only a number of ten digits is read a second time.
    return state(of: run, run.count == 10 ? String(copying: text) : "")
  }

  /// Whether a text has only letters, digits, hyphens, points and underscores, and a letter that no number has: neither
  /// that of an exponent nor the `X` of the old number of a book.
  private static func isPlainText(_ text: Span<UInt8>) -> Bool {
    var hasLetter = false
    for index in text.indices {
      let byte = text[index]
      guard ASCII.isAlphanumeric(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F else { return false }
      let letter = byte & 0xDF
      if ASCII.isUpper(letter), byte >= 0x41, letter != UInt8(ascii: "E"), letter != UInt8(ascii: "X") {
        hasLetter = true
      }
    }
    return hasLetter
  }

  /// The digits of `'4006381333931` or `4006381333931.0`, of which a column often has nothing else.
  private static func marked(_ text: Span<UInt8>) -> DigitRun? {
    let start = text[0] == UInt8(ascii: "'") ? 1 : 0
    var end = text.count
    if end > start + 2, text[end - 1] == UInt8(ascii: "0"), text[end - 2] == UInt8(ascii: ".") { end -= 2 }
    var run = DigitRun()
    for index in start..<end where !run.append(text[index]) { return nil }
    return run.count > 0 ? run : nil
  }

  // MARK: Digits

  /// - Parameter text: The digits of the run; they are looked at only if there are ten.
  private static func state(of run: DigitRun, _ text: @autoclosure () -> String) -> State {
    // Zeros alone stand for no code.
    if run.value == 0 { return .text }
    if run.hasLengthOfGTIN {
      return run.endsInCheckDigit || GTIN(upcE: run) != nil ? .sound : .wrongCheckDigit
    }
    // A shorter number is too often one of one's own, of which one in ten has the right check digit by chance.
    guard run.count == 11 || run.count == 10, run.endsInCheckDigit, run.value >= 1_000_000_000 else { return .text }
    if run.count == 11 { return run.value >= 10_000_000_000 ? .lostZero : .text }
    // Ten digits may be the old number of a book.
    return BookNumber.endsInCheckCharacter(Array(text().utf8)) ? .text : .lostZero
  }

  private static func padded(_ digits: String) -> String {
    String(repeating: "0", count: 12 - digits.utf8.count) + digits
  }

  // MARK: Other texts

  private static func examined(_ text: String) -> (State, String) {
    guard text.utf8.count <= byteLimit else { return (.text, text) }
    let trimmed = String(text.trimmed(while: isBlank))
    if trimmed.isEmpty { return (.none, "") }
    if isFormulaError(trimmed) { return (.decorated, "") }
    let bare = unwrapped(trimmed)
    if bare.isEmpty { return (.none, "") }
    let narrow = Folding.plain(bare) ?? bare
    if let digits = number(narrow) ?? isbn10(narrow) {
      let code = WrittenCode(digits)
      return (code.state == .wrongCheckDigit ? .wrongCheckDigit : .decorated, code.normalized)
    }
    if let digits = grouped(narrow) {
      let code = WrittenCode(digits)
      if code.state == .sound || code.state == .lostZero { return (.decorated, code.normalized) }
      // Eight digits with a hyphen may be anything.
      if code.state == .wrongCheckDigit, digits.utf8.count > 8 { return (.wrongCheckDigit, bare) }
    }
    if let number = exponential(narrow) {
      let code = number.map(WrittenCode.init)
      return (.exponent, code?.gtin == nil ? text : code?.normalized ?? text)
    }
    if separator(of: narrow) != nil { return (.several, bare) }
    return bare == text ? (.text, text) : (.decorated, bare)
  }

  /// Whether a character is a blank, or is not seen at all.
  private static func isBlank(_ character: Character) -> Bool {
    character.isWhitespace || character.unicodeScalars.allSatisfy(isInvisible)
  }

  /// Whether a scalar takes no room: zero-width spaces and joiners, marks of direction, byte order marks, soft hyphens,
  /// and the control characters that frame a transmission.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00, 0x02...0x04, 0xAD, 0x200B...0x200F, 0x202A...0x202E, 0x2060, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }

  /// Whether a text is what a program for tables shows for a formula without a result: `#N/A`, `#REF!`, `#DIV/0!`, and
  /// the same in other languages.
  private static func isFormulaError(_ text: String) -> Bool {
    guard text.hasPrefix("#"), (3...16).contains(text.count) else { return false }
    let rest = text.dropFirst()
    if rest.allSatisfy({ $0.isLetter || $0 == "/" }), rest.contains("/") || rest.uppercased() == "NV" { return true }
    return (rest.last == "!" || rest.last == "?") && rest.dropLast().allSatisfy { $0.isLetter || "/0¡¿".contains($0) }
  }

  private static let apostrophes: Set<Character> = ["'", "’", "‘", "`", "´"]

  /// The marks around a text: those of tables, and the quotes that programs for text make of them.
  private static let quotes = [
    ("=\"", "\""), ("\"", "\""), ("“", "”"), ("„", "“"), ("„", "”"), ("”", "”"), ("«", "»"), ("»", "«"),
  ]

  private static func isMark(_ character: Character) -> Bool {
    apostrophes.contains(character) || "\"“”„«»".contains(character)
  }

  /// A text without the marks by which tables say that a cell is a text: an apostrophe before it, quotes around it, and
  /// a formula `="…"`.
  private static func unwrapped(_ text: String) -> String {
    var rest = text[...]
    var isChanged = true
    while isChanged {
      isChanged = false
      if let first = rest.first, apostrophes.contains(first) {
        rest.removeFirst()
        // Some write one at both ends.
        if let last = rest.last, apostrophes.contains(last) { rest.removeLast() }
        isChanged = true
      }
      for (opening, closing) in quotes
      where rest.count > opening.count && rest.hasPrefix(opening) && rest.hasSuffix(closing) {
        rest = rest.dropFirst(opening.count).dropLast(closing.count)
        isChanged = true
      }
      // A mark at the end alone may belong to a code of one's own, unless there are only digits.
      let body = String(rest.dropLast())
      if let last = rest.last, isMark(last), body.count >= 8, isDigits(Folding.plain(body) ?? body) {
        rest.removeLast()
        isChanged = true
      }
      if isChanged { rest = String(rest).trimmed(while: isBlank) }
    }
    return String(rest)
  }

  /// The digits of a whole number, which may end in a fraction of zeros: `4006381333931.0`.
  private static func number(_ text: String) -> String? {
    let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
    guard isDigits(parts[0]) else { return nil }
    if parts.count == 2, parts[1].isEmpty || !parts[1].utf8.allSatisfy({ $0 == UInt8(ascii: "0") }) { return nil }
    // 4,006 is no fraction, nor is 4,000.
    if parts.count == 2, parts[0].utf8.count < 4, parts[1].utf8.count == 3 { return nil }
    return String(parts[0])
  }

  /// The digits of a number in groups, with blanks and hyphens wherever they are, or with one other separator between
  /// groups of three: `978-3-16-148410-0`, `4.006.381.333.931`.
  private static func grouped(_ text: String) -> String? {
    var digits = ""
    for character in text where !isBlank(character) && !isHyphen(character) {
      guard character.isASCII, character.isNumber else { return thousands(text) }
      digits.append(character)
    }
    return digits.isEmpty || digits.utf8.count > 14 ? nil : digits
  }

  private static func isHyphen(_ character: Character) -> Bool {
    guard let scalar = character.unicodeScalars.first, character.unicodeScalars.count == 1 else { return false }
    return scalar.value == 0x2D || (0x2010...0x2015).contains(scalar.value) || scalar.value == 0x2212
  }

  private static func thousands(_ text: String) -> String? {
    guard let separator = text.first(where: { !$0.isNumber }),
      ".,".contains(separator) || apostrophes.contains(separator)
    else { return nil }
    let groups = text.split(separator: separator, omittingEmptySubsequences: false)
    guard groups.count <= 5, (1...3).contains(groups[0].utf8.count), isDigits(groups[0]),
      groups.dropFirst().allSatisfy({ $0.utf8.count == 3 && isDigits($0) })
    else { return nil }
    return groups.joined()
  }

  /// The GTIN of the old number of a book, as it is printed: `3-16-148410-X`. Without its hyphens it may be any number.
  private static func isbn10(_ text: String) -> String? {
    let groups = text.split { isBlank($0) || isHyphen($0) }
    let number = groups.joined().utf8
    guard groups.count == 4, BookNumber.hasForm(number, digitCount: 9), BookNumber.endsInCheckCharacter(number)
    else { return nil }
    return BookNumber.gtin("978", number.dropLast()).map { String($0.digits.suffix(13)) }
  }

  /// A number with an exponent.
  ///
  /// - Returns: Its digits, or `nil` in the optional if some are lost; `nil` for a text that is no such number.
  private static func exponential(_ text: String) -> String?? {
    guard let sign = text.firstIndex(where: { $0 == "E" || $0 == "e" }) else { return nil }
    let significand = text[..<sign].split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
    var power = text[text.index(after: sign)...]
    let hasPlus = power.first == "+"
    if hasPlus { power.removeFirst() }
    guard significand.count <= 2, significand.allSatisfy(isDigits), (1...3).contains(power.utf8.count), isDigits(power),
      // 12E5 may be a part number.
      hasPlus || significand.count == 2, let exponent = Int(power)
    else { return nil }
    let fraction = significand.count == 2 ? significand[1] : ""
    // Zeros at the end are not written, so digits may be missing without any being rounded away.
    guard exponent <= 14, fraction.utf8.count >= exponent,
      fraction.dropFirst(exponent).allSatisfy({ $0 == "0" })
    else { return .some(nil) }
    return String(significand[0] + fraction.prefix(exponent))
  }

  private static func isDigits(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { ASCII.isDigit($0) }
  }

  // MARK: Several codes

  private static let separators: Set<Character> = [";", ",", "|", "/", "\n", "\r\n", "\r", "\t", "；", "，", "、"]

  /// Whether a character may stand between several codes in a cell.
  package static func isSeparator(_ character: Character) -> Bool { character == " " || separators.contains(character) }

  /// The character between the codes of a text that has several, one of which is a GTIN; `nil` if it has not.
  package static func separator(of text: String) -> Character? {
    // A slash of a web address separates nothing.
    guard text.utf8.count <= byteLimit, !text.contains("://") else { return nil }
    if let separator = text.first(where: separators.contains) {
      let parts = text.split(whereSeparator: separators.contains).map { String($0).trimmed }
      let codes = parts.map { part in part.isEmpty ? nil : WrittenCode(part).gtin }
      // A sentence with a number is no list of codes.
      let isList = zip(parts, codes).allSatisfy { $1 != nil || !$0.contains(where: \.isWhitespace) }
      return isList && codes.contains { $0 != nil } ? separator : nil
    }
    let words = text.split(whereSeparator: \.isWhitespace)
    return words.count > 1 && words.allSatisfy { GTIN($0) != nil } ? " " : nil
  }
}

extension String {
  /// Creates a text from bytes of UTF-8.
  fileprivate init(copying text: Span<UInt8>) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    for index in text.indices { bytes.append(text[index]) }
    self.init(decoding: bytes, as: UTF8.self)
  }
}

extension WrittenCode {
  /// The text by which two spellings of a code are the same one: the 14 digits of the GTIN that it means, or would be
  /// with zeros in front, or the code in capitals without blanks around it.
  package static func key(_ text: String) -> String {
    let code = WrittenCode(text)
    return (code.gtin ?? code.zeroFilled)?.digits ?? text.trimmed(while: isBlank).uppercased()
  }
}
