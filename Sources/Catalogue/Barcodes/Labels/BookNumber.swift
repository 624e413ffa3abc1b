/// The numbers of books, periodicals and printed music, and the GTINs that contain them.
enum BookNumber {
  /// Returns the check character of a number with weights that end in 2 (ISO 2108 for the ISBN of ten characters, ISO
  /// 3297 for the ISSN): a digit, or `X` for ten.
  static func checkCharacter(modulo11 digits: some Collection<UInt8>) -> UInt8 {
    var sum = 0
    for (index, byte) in digits.enumerated() {
      sum += (digits.count + 1 - index) * Int(byte &- UInt8(ascii: "0"))
    }
    let check = (11 - sum % 11) % 11
    return check == 10 ? UInt8(ascii: "X") : UInt8(ascii: "0") + UInt8(check)
  }

  /// Returns whether `number` is `count` digits and a check character, whatever that is.
  static func hasForm(_ number: some Collection<UInt8>, digitCount count: Int) -> Bool {
    guard number.count == count + 1, number.prefix(count).allSatisfy(ASCII.isDigit) else { return false }
    let last = number.suffix(1).first ?? 0
    return ASCII.isDigit(last) || last == UInt8(ascii: "X") || last == UInt8(ascii: "x")
  }

  /// Returns whether the last character of `number`, which has that form, is its check character.
  static func endsInCheckCharacter(_ number: some Collection<UInt8>) -> Bool {
    let last = number.suffix(1).first ?? 0
    return checkCharacter(modulo11: number.dropLast()) == (last == UInt8(ascii: "x") ? UInt8(ascii: "X") : last)
  }

  /// Returns the GTIN of `prefix`, `digits` and `suffix`, with a check digit.
  static func gtin(_ prefix: String, _ digits: some Sequence<UInt8>, _ suffix: String = "") -> GTIN? {
    let body = Array(prefix.utf8) + Array(digits) + Array(suffix.utf8)
    return GTIN.checkDigit(following: body).flatMap { GTIN(utf8: body + [$0]) }
  }
}
