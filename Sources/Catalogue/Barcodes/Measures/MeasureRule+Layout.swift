extension MeasureRule {
  /// The fields of a pattern.
  struct Layout {
    /// The number of digits: 13, 12, 8 or 18.
    let digitCount: Int
    /// The number of digits of the prefix.
    let prefixCount: Int
    let item: DigitField
    let value: DigitField
    let innerCheck: DigitField?
    let second: DigitField?
    let hasCheckDigit: Bool

    /// Reads a pattern.
    init(_ pattern: String) throws(MeasureRulesError.Fault) {
      let letters = Array(pattern.utf8)
      for (index, character) in pattern.enumerated() where !"PIVWKXC".contains(character) {
        throw .unknownLetter(character, position: index + 1)
      }
      guard [13, 12, 8, MeasureRule.longDigitCount].contains(letters.count) else { throw .patternLength(letters.count) }
      for letter in "PIVWKC".utf8 where !Self.isContiguous(letter, in: letters) {
        throw .separatedLetters(Character(Unicode.Scalar(letter)))
      }
      guard letters.first == UInt8(ascii: "P") else { throw .prefixNotFirst }
      let checkDigit = letters.firstIndex(of: UInt8(ascii: "C"))
      // Some scales fill the last digit of their long numbers in arbitrarily.
      let mayLackCheckDigit = letters.count == MeasureRule.longDigitCount && letters.last == UInt8(ascii: "X")
      guard checkDigit == letters.count - 1 || checkDigit == nil && mayLackCheckDigit else { throw .checkDigitNotLast }
      guard let item = Self.field("I", in: letters) else { throw .noItem }
      guard let value = Self.field("V", in: letters) else { throw .noValue }
      let innerCheck = Self.field("K", in: letters)
      if let innerCheck, innerCheck.count > 1 { throw .severalInnerCheckDigits }
      second = Self.field("W", in: letters)
      hasCheckDigit = checkDigit != nil
      digitCount = letters.count
      prefixCount = letters.prefix { $0 == UInt8(ascii: "P") }.count
      self.item = item
      self.value = value
      self.innerCheck = innerCheck
    }

    private static func isContiguous(_ letter: UInt8, in letters: [UInt8]) -> Bool {
      guard let first = letters.firstIndex(of: letter), let last = letters.lastIndex(of: letter) else { return true }
      return letters[first...last].allSatisfy { $0 == letter }
    }

    private static func field(_ letter: Unicode.Scalar, in letters: [UInt8]) -> DigitField? {
      let letter = UInt8(ascii: letter)
      guard let first = letters.firstIndex(of: letter), let last = letters.lastIndex(of: letter) else { return nil }
      return DigitField(place: letters.count - 1 - last, count: last - first + 1)
    }
  }
}
