extension GTIN {
  /// Creates the GTIN that the 8 digits of a UPC-E symbol represent: number system 0 or 1, six digits, and a check
  /// digit.
  ///
  /// Six digits alone are never expanded: number system and check digit would be guesses.
  ///
  /// Returns `nil` unless there are 8 ASCII digits, the first is 0 or 1, and the check digit is valid for the expanded
  /// number.
  public init?(upcE digits: some StringProtocol) {
    var run = DigitRun()
    for byte in digits.utf8 {
      guard run.append(byte), run.count <= 8 else { return nil }
    }
    self.init(upcE: run)
  }

  /// Expands the suppressed zeros (GS1 General Specifications 5.2, UPC-E; ISO/IEC 15420).
  ///
  /// The sixth digit determines the positions of the zeros:
  ///
  ///     symbol (without N and C)    expanded
  ///     x₁ x₂ x₃ x₄ x₅ 0…2          N x₁ x₂ x₆ 0 0 0 0 x₃ x₄ x₅ C
  ///     x₁ x₂ x₃ x₄ x₅ 3            N x₁ x₂ x₃ 0 0 0 0 0 x₄ x₅ C
  ///     x₁ x₂ x₃ x₄ x₅ 4            N x₁ x₂ x₃ x₄ 0 0 0 0 0 x₅ C
  ///     x₁ x₂ x₃ x₄ x₅ 5…9          N x₁ x₂ x₃ x₄ x₅ 0 0 0 0 x₆ C
  ///
  /// Symbols for which the suppression would have used another form are expanded as well, as scanners do.
  init?(upcE run: DigitRun) {
    guard run.count == 8 else { return nil }
    let numberSystem = run.value / 10_000_000
    guard numberSystem <= 1 else { return nil }
    self.init(
      value: (numberSystem * 10_000_000_000 + Self.body(ofUPCE: run.value / 10 % 1_000_000)) * 10 + run.value % 10)
  }

  /// Expands the six digits of a UPC-E number, and computes the check digit.
  ///
  /// - Parameter numberSystem: 0 or 1.
  init(upcE six: UInt64, numberSystem: Int) {
    self.init(completing: UInt64(numberSystem) * 10_000_000_000 + Self.body(ofUPCE: six))
  }

  /// Returns the ten digits of the manufacturer and the item for the six digits of a UPC-E number.
  private static func body(ofUPCE six: UInt64) -> UInt64 {
    switch six % 10 {
    case 0, 1, 2: six / 10_000 * 100_000_000 + six % 10 * 10_000_000 + six / 10 % 1000
    case 3: six / 1000 * 10_000_000 + six / 10 % 100
    case 4: six / 100 * 1_000_000 + six / 10 % 10
    default: six / 10 * 100_000 + six % 10
    }
  }
}
