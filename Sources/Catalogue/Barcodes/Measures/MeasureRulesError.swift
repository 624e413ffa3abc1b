import TextFormat

/// A mistake in the rules for restricted numbers. Each description says which rule it is, what is wrong, and what to
/// do.
public enum MeasureRulesError: Error, Hashable, Sendable {
  /// A rule contradicts itself.
  case invalidRule(name: String, Fault)
  /// Two rules would read the same numbers, for example `number`.
  case overlap(first: String, second: String, number: String)
  /// Two rules have the same name.
  case duplicateName(String)
  /// There is no preset of this name. `layouts` are the names to choose from if the name is a country with several
  /// layouts.
  case unknownPreset(name: String, layouts: [String])

  /// What is wrong with a rule.
  public enum Fault: Error, Hashable, Sendable {
    /// The name is empty, longer than 64 characters, or contains characters that do not print.
    case name
    /// The pattern contains a letter without a meaning. Positions start at 1.
    case unknownLetter(Character, position: Int)
    /// The pattern has this many letters, not 13, 12, 8 or 18.
    case patternLength(Int)
    /// Equal letters of the pattern are not next to each other.
    case separatedLetters(Character)
    /// The pattern does not start with `P`.
    case prefixNotFirst
    /// The pattern does not end with its only `C`; one of 18 letters may end with `X`.
    case checkDigitNotLast
    /// The pattern has no `I`.
    case noItem
    /// The pattern has no `V`.
    case noValue
    /// The pattern has more than one `K`.
    case severalInnerCheckDigits
    /// The prefix is empty or contains other characters than digits.
    case prefixNotDigits(String)
    /// The prefix has `digits` digits, but the pattern has `letters` letters `P`.
    case prefixLength(digits: Int, letters: Int)
    /// Numbers of `digitCount` digits with this prefix are valid everywhere.
    case unrestrictedPrefix(String, digitCount: Int)
    /// The measure is not `weight`, `price` or `count`.
    case unknownMeasure(String)
    /// A weight or a price without decimals.
    case noDecimals(Measure)
    /// Decimals of a count.
    case decimalsOfCount(Int)
    /// Decimals that are negative, or more than the digits of the value.
    case decimals(Int, valueDigits: Int)
    /// A weight without a unit.
    case noUnit
    /// A price or a count with a unit.
    case unexpectedUnit(Measure)
    /// A price without a currency.
    case noCurrency
    /// A currency that is not three capital letters.
    case currency(String)
    /// A weight or a count with a currency.
    case unexpectedCurrency(Measure)
    /// The pattern has a `K`, but its algorithm is not named.
    case noInnerCheck(valueDigits: Int)
    /// The algorithm of `K` does not exist.
    case unknownInnerCheck(String)
    /// An algorithm is named, but the pattern has no `K`.
    case noInnerCheckDigit(InnerCheckDigit)
    /// The algorithm is for another number of digits than the value has.
    case innerCheckLength(InnerCheckDigit, valueDigits: Int)

    /// The pattern has a `W`, but the second value is not described.
    case noSecond
    /// A second value is described, but the pattern has no `W`.
    case unexpectedSecond
    /// Both values have the same measure.
    case sameMeasure(Measure)

    /// The starts of restricted numbers that have `digitCount` digits.
    static func restrictedPrefixes(digitCount: Int) -> [String] {
      switch digitCount {
      case 8: ["0", "2"]
      case 12: ["2", "4"]
      default: ["2", "02", "04"]
      }
    }
  }
}

extension MeasureRulesError: CustomStringConvertible {
  /// The mistake and its remedy, for users.
  public var description: String {
    switch self {
    case .invalidRule(let name, let fault): "rule \(quoted(name)): \(fault)"
    case .overlap(let first, let second, let number):
      "the rules \(quoted(first)) and \(quoted(second)) overlap: both would read \(number); "
        + "remove one of them, or give it a longer prefix"
    case .duplicateName(let name):
      "two rules are named \(quoted(name)); give each rule a name of its own, and name a preset only once"
    case .unknownPreset(let name, let layouts) where !layouts.isEmpty:
      "the preset \(quoted(name)) is not one layout; choose " + choice(of: layouts)
    case .unknownPreset(let name, _):
      "there is no preset \(quoted(name))"
        + (NearestName.of(name, among: MeasurePreset.names).map { "; did you mean \(quoted($0))?" } ?? ".")
        + " The presets are \(MeasurePreset.names.joined(separator: ", "))"
    }
  }
}

extension MeasureRulesError.Fault: CustomStringConvertible {
  /// What is wrong and what to do, for users.
  public var description: String {
    switch self {
    case .name: "a name has 1 to \(MeasureRule.maximumNameLength) characters that print; give the rule such a name"
    case .unknownLetter(let letter, let position):
      "\(quoted(String(letter))) at position \(position) of the pattern means nothing; use P for the prefix, I for the "
        + "item, V for the value, W for a second value, K for the check digit of the value, X for digits that do not matter, and C for the "
        + "check digit"
    case .patternLength(let count):
      "the pattern has \(count) letters; write one for each digit of the number: 13 for EAN-13, 12 for UPC-A, 8 for "
        + "GTIN-8, or 18 for the long numbers of scales"
    case .separatedLetters(let letter):
      "the letters \(letter) of the pattern are not next to each other; write X for the digits between them"
    case .prefixNotFirst: "the pattern does not start with P; start it with one P for each digit of the prefix"
    case .checkDigitNotLast: "the pattern does not end with C; make it the last letter, and only the last"
    case .noItem: "the pattern has no I, so no product could be found; write I for the digits of the item"
    case .noValue: "the pattern has no V, so there is nothing to measure; write V for the digits of the value"
    case .severalInnerCheckDigits: "the pattern has several K; a value has one check digit: write X for the others"
    case .prefixNotDigits(let prefix): "the prefix \(quoted(prefix)) does not consist of digits; write digits only"
    case .prefixLength(let digits, let letters):
      "the prefix has \(counted(digits, "digit")), but the pattern has \(counted(letters, "letter")) P; make both equal"
    case .unrestrictedPrefix(let prefix, let digitCount):
      "numbers of \(digitCount) digits that start with \(prefix) identify products everywhere; use a prefix that starts "
        + "with " + choice(of: Self.restrictedPrefixes(digitCount: digitCount), quoting: false)
    case .unknownMeasure(let name):
      "the measure \(quoted(name)) does not exist; choose " + choice(of: Measure.allCases.map(\.rawValue))
    case .noDecimals(let measure):
      "a \(measure.rawValue) needs decimals; say how many of the digits V follow the decimal point, or 0"
    case .decimalsOfCount(let decimals): "a count has no decimals, but \(decimals) are given; leave decimals out"
    case .decimals(let decimals, let valueDigits):
      "\(decimals) decimals do not fit a value of \(counted(valueDigits, "digit")); use 0 to \(valueDigits)"
    case .noUnit: "a weight needs a unit; add one, for example 'kg'"
    case .unexpectedUnit(let measure): "a \(measure.rawValue) has no unit; leave unit out"
    case .noCurrency: "a price needs a currency; add its three letters, for example 'EUR'"
    case .currency(let currency):
      "the currency \(quoted(currency)) is not a code of ISO 4217; write its three capital letters, for example 'EUR'"
    case .unexpectedCurrency(let measure): "a \(measure.rawValue) has no currency; leave currency out"
    case .noSecond:
      "the pattern has a W; add second, for example {\"measure\": \"weight\", \"decimals\": 3, \"unit\": \"kg\"}"
    case .unexpectedSecond: "second is given, but the pattern has no W; add the W, or leave second out"
    case .sameMeasure(let measure):
      "both values are a \(measure.rawValue); give the second one another measure, or write X for its digits"
    case .noInnerCheck(let valueDigits):
      InnerCheckDigit.allCases.first { $0.digitCount == valueDigits }.map {
        "the pattern has a K; add innerCheck \(quoted($0.rawValue)), or write X if the digit is not to be checked"
      }
        ?? "no check digit K is defined for a value of \(counted(valueDigits, "digit")), only for 4 or 5; write X instead of K"
    case .unknownInnerCheck(let name):
      "innerCheck \(quoted(name)) does not exist; choose " + choice(of: InnerCheckDigit.allCases.map(\.rawValue))
    case .noInnerCheckDigit(let check):
      "innerCheck \(quoted(check.rawValue)) is given, but the pattern has no K; add the K, or leave innerCheck out"
    case .innerCheckLength(let check, let valueDigits):
      "innerCheck \(quoted(check.rawValue)) is for \(check.digitCount) digits, but the value has \(valueDigits); make "
        + "them agree, or write X instead of K"
    }
  }
}

/// A text inside quotation marks, with hidden characters escaped.
private func quoted(_ text: String) -> String { "'" + TerminalText.escaped(text, marked: "'") + "'" }

/// A number and the noun it counts.
private func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// `'a', 'b' or 'c'`.
private func choice(of names: [String], quoting: Bool = true) -> String {
  let names = quoting ? names.map(quoted) : names
  guard let last = names.last, names.count > 1 else { return names.first ?? "" }
  return names.dropLast().joined(separator: ", ") + " or " + last
}
