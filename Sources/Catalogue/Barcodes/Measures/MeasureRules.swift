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
      throw .overlap(first: rule.name, second: next.name, number: next.number(item: 0, value: 0))
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
  public func reading(of gtin: GTIN) -> Result<MeasureReading, MeasureRefusal>? {
    guard let rule = rule(for: gtin.value) else { return nil }
    if let check = rule.innerCheck, let field = rule.innerCheckField {
      let expected = check.checkDigit(of: rule.valueField.value(in: gtin.value))
      let found = Int(field.value(in: gtin.value))
      guard expected == found else {
        return .failure(MeasureRefusal(rule, gtin.value, .innerCheckDigit(expected: expected, found: found)))
      }
    }
    return .success(MeasureReading(rule: rule, gtin: gtin))
  }

  /// Reads digits, whether or not they are a restricted number with a valid check digit.
  ///
  /// - Returns: The reading; the reason if a rule applies, but a check digit is wrong; `nil` if no rule applies, or if
  ///   `text` is not 8, 12, 13 or 14 ASCII digits.
  public func reading(ofDigits text: String) -> Result<MeasureReading, MeasureRefusal>? {
    reading(ofUTF8: text.utf8)
  }

  /// Reads digits, whether or not they are a restricted number with a valid check digit.
  ///
  /// - Returns: The reading; the reason if a rule applies, but a check digit is wrong; `nil` if no rule applies, or if
  ///   `text` is not 8, 12, 13 or 14 ASCII digits.
  public func reading(ofDigits text: some StringProtocol) -> Result<MeasureReading, MeasureRefusal>? {
    reading(ofUTF8: text.utf8)
  }

  private func reading(ofUTF8 bytes: some Sequence<UInt8>) -> Result<MeasureReading, MeasureRefusal>? {
    guard !isEmpty else { return nil }
    var run = DigitRun()
    for byte in bytes {
      guard run.append(byte), run.count <= DigitRun.valueDigitCount else { return nil }
    }
    guard run.hasLengthOfGTIN else { return nil }
    if let gtin = GTIN(run) { return reading(of: gtin) }
    guard let rule = rule(for: run.value) else { return nil }
    let expected = GTIN(completing: run.value / 10).value % 10
    let found = run.value % 10
    return .failure(MeasureRefusal(rule, run.value, .checkDigit(expected: Int(expected), found: Int(found))))
  }

  /// The rule for a number written with 14 digits; `nil` if there is none.
  private func rule(for number: UInt64) -> MeasureRule? {
    // The last rule that starts at the number or before it.
    let next = starts.indices.partitioningIndex { starts[$0] > number }
    guard next > 0, ordered[next - 1].range.contains(number) else { return nil }
    return ordered[next - 1]
  }
}
