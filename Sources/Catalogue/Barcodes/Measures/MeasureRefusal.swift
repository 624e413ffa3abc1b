/// The reason why a number to which a rule applies is not read by it. It usually is a misread.
public struct MeasureRefusal: Error, Hashable, Sendable {
  /// The rule.
  public let rule: MeasureRule
  /// The reason.
  public let reason: Reason
  private let number: UInt64

  /// What is wrong with a number.
  public enum Reason: Hashable, Sendable {
    /// The check digit `K` of the value is wrong.
    case innerCheckDigit(expected: Int, found: Int)
    /// The check digit `C` of the number is wrong.
    case checkDigit(expected: Int, found: Int)
  }

  init(_ rule: MeasureRule, _ number: UInt64, _ reason: Reason) {
    self.rule = rule
    self.number = number
    self.reason = reason
  }

  /// Two lines for users, as ``MeasureReading/explanation``.
  public var explanation: String { MeasureReading.aligned(rule, number, text) }

  private var text: String {
    switch reason {
    case .innerCheckDigit(let expected, let found):
      "the check digit of the \(rule.measure.rawValue) is \(found), not \(expected)"
    case .checkDigit(let expected, let found): "the check digit is \(found), not \(expected)"
    }
  }
}

extension MeasureRefusal: CustomStringConvertible {
  /// The reason and the rule, for users.
  public var description: String { "\(text) (rule \(rule.name))" }
}
