import Bytes

/// A checked set of rules for restricted numbers: at most one rule reads a number.
public struct MeasureRules: Hashable, Sendable {
  /// An element of the list from which rules are made.
  public enum Entry: Hashable, Sendable {
    /// The rules of a preset; see ``MeasurePreset``.
    case preset(String)
    /// A rule of one's own.
    case rule(MeasureRule)
  }

  /// The rules in the order of the list.
  public let rules: [MeasureRule]
  /// The rules by the numbers to which they apply. The ranges do not overlap.
  private let ordered: [MeasureRule]
  /// The first number of each rule of ``ordered``, for the search.
  private let starts: [UInt64]

  /// Creates a set without rules.
  public init() {
    rules = []
    ordered = []
    starts = []
  }

  /// Creates a set from rules and names of presets.
  ///
  /// - Throws: ``MeasureRulesError`` if there is no preset of a name, if two rules have the same name, or if two rules
  ///   would read the same numbers. A rule for 12 digits overlaps with one for 13 digits whose prefix has an additional
  ///   leading 0.
  public init(_ entries: [Entry]) throws(MeasureRulesError) {
    var rules: [MeasureRule] = []
    for entry in entries {
      switch entry {
      case .rule(let rule): rules.append(rule)
      case .preset(let name): rules += try MeasurePreset.preset(named: name).rules
      }
    }
    var names: Set<String> = []
    for rule in rules where !names.insert(rule.name).inserted { throw .duplicateName(rule.name) }
    // If any two ranges overlap, so do two neighbours in the order of their first numbers.
    let ordered = rules.sorted { $0.range.lowerBound < $1.range.lowerBound }
    for (rule, next) in zip(ordered, ordered.dropFirst()) where rule.range.overlaps(next.range) {
      throw .overlap(first: rule.name, second: next.name, number: next.example)
    }
    self.rules = rules
    self.ordered = ordered
    starts = ordered.map(\.range.lowerBound)
  }

  /// Whether there are no rules.
  public var isEmpty: Bool { rules.isEmpty }

  /// Reads a restricted number. Ask ``GTIN/isRestricted`` first: rules apply to no other numbers.
  ///
  /// - Returns: The reading; the reason if a rule applies, but its check digit `K` is wrong; `nil` if no rule applies.
  /// - Complexity: Logarithmic in the number of rules, without an allocation.
  public func reading(of gtin: GTIN) -> Result<MeasureReading, MeasureRefusal>? { reading(ofNumber: gtin.value) }

  private func reading(ofNumber number: UInt64) -> Result<MeasureReading, MeasureRefusal>? {
    guard let rule = rule(for: number) else { return nil }
    if let check = rule.innerCheck, let field = rule.innerCheckField {
      let expected = check.checkDigit(of: rule.valueField.value(in: number))
      let found = Int(field.value(in: number))
      guard expected == found else {
        return .failure(MeasureRefusal(rule, number, .innerCheckDigit(expected: expected, found: found)))
      }
    }
    return .success(MeasureReading(rule: rule, number: number))
  }

  /// Reads digits, whether or not they are a restricted number with a valid check digit.
  ///
  /// - Returns: The reading; the reason if a rule applies, but a check digit is wrong; `nil` if no rule applies, or if
  ///   `text` is not 8, 12, 13, 14 or 18 ASCII digits.
  public func reading(ofDigits text: String) -> Result<MeasureReading, MeasureRefusal>? {
    reading(ofUTF8: text.utf8)
  }

  /// Reads digits, whether or not they are a restricted number with a valid check digit.
  ///
  /// - Returns: The reading; the reason if a rule applies, but a check digit is wrong; `nil` if no rule applies, or if
  ///   `text` is not 8, 12, 13, 14 or 18 ASCII digits.
  public func reading(ofDigits text: some StringProtocol) -> Result<MeasureReading, MeasureRefusal>? {
    reading(ofUTF8: text.utf8)
  }

  private func reading(ofUTF8 bytes: some Sequence<UInt8>) -> Result<MeasureReading, MeasureRefusal>? {
    guard !isEmpty else { return nil }
    var run = DigitRun()
    var number: UInt64 = 0
    for byte in bytes {
      guard run.append(byte), run.count <= MeasureRule.longDigitCount else { return nil }
      number = number * 10 + UInt64(byte - UInt8(ascii: "0"))
    }
    if run.count == MeasureRule.longDigitCount { return reading(ofLong: number, run) }
    guard run.hasLengthOfGTIN else { return nil }
    if let gtin = GTIN(run) { return reading(of: gtin) }
    guard let rule = rule(for: run.value) else { return nil }
    let expected = GTIN(completing: run.value / 10).value % 10
    let found = run.value % 10
    return .failure(MeasureRefusal(rule, run.value, .checkDigit(expected: Int(expected), found: Int(found))))
  }

  /// Reads a number of 18 digits, which is no GTIN.
  private func reading(ofLong number: UInt64, _ run: DigitRun) -> Result<MeasureReading, MeasureRefusal>? {
    guard let rule = rule(for: number) else { return nil }
    guard !rule.hasCheckDigit || run.endsInCheckDigit else {
      let found = Int(number % 10)
      let expected = DigitRun(String(number / 10).utf8)?.nextCheckDigit ?? 0
      return .failure(MeasureRefusal(rule, number, .checkDigit(expected: expected, found: found)))
    }
    return reading(ofNumber: number)
  }

  /// The rule for a number written with 14 or 18 digits; `nil` if there is none.
  private func rule(for number: UInt64) -> MeasureRule? {
    // The last rule that starts at the number or before it.
    let next = starts.indices.partitioningIndex { starts[$0] > number }
    guard next > 0, ordered[next - 1].range.contains(number) else { return nil }
    return ordered[next - 1]
  }
}
