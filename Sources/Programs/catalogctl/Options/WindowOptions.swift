import ArgumentParser

/// The options that select a range of a list.
struct WindowOptions: ParsableArguments {
  @OptionGroup var most: LimitOption
  // A minus sign may begin the value, so that the message says what is wrong with it.
  @Option(
    parsing: .unconditional, help: "Leave out so many at the beginning.",
    transform: { try WholeNumber.parse($0, from: 0) })
  var offset = 0

  /// The maximum number of lines; `nil` for all.
  var limit: Int? { most.limit }

  /// The end of a message about an empty list: where the list begins, if lines are left out.
  var hint: String { offset > 0 ? " after the first \(offset)" : "" }
}

/// The option for the maximum number of lines of a list.
struct LimitOption: ParsableArguments {
  @Option(
    parsing: .unconditional, help: "List no more than this many.", transform: { try WholeNumber.parse($0, from: 1) })
  var limit: Int?
}

/// Numbers of options.
enum WholeNumber {
  /// The whole number that `text` is.
  ///
  /// - Throws: `ValidationError` for any other text, and for a number below `least`.
  static func parse(_ text: String, from least: Int) throws -> Int {
    guard let number = Int(text), number >= least else {
      throw ValidationError("a whole number, \(least) or more")
    }
    return number
  }
}
