extension ElementString {
  /// What is wrong with a source of element strings.
  public enum Fault: Hashable, Sendable {
    /// No Application Identifier is known that starts like `text`, an excerpt of at most four bytes.
    case unknownIdentifier(text: String)
    /// The value of `ai` ends too early.
    case tooShort(ai: String)
    /// The value of `ai` goes on beyond its greatest length. Often a reader has swallowed the separators.
    case tooLong(ai: String)
    /// The value of `ai` holds a character that must not stand there.
    case wrongCharacter(ai: String)
    /// The value of `ai` was read, but its last digit is not its check digit.
    case wrongCheckDigit(ai: String)
    /// Something else than `(identifier)` follows where one had to start.
    case brokenBrackets

    init(_ defect: ElementFormat.Defect, ai: String) {
      self =
        switch defect {
        case .tooShort: .tooShort(ai: ai)
        case .tooLong: .tooLong(ai: ai)
        case .wrongCharacter: .wrongCharacter(ai: ai)
        }
    }
  }
}

extension ElementString.Fault: CustomStringConvertible {
  /// The fault in words.
  public var description: String {
    switch self {
    case .unknownIdentifier(let text): "no application identifier starts like '\(text)'"
    case .tooShort(let ai): "the value of (\(ai)) is too short"
    case .tooLong(let ai): "the value of (\(ai)) is too long"
    case .wrongCharacter(let ai): "the value of (\(ai)) has a character that cannot be there"
    case .wrongCheckDigit(let ai): "the check digit of (\(ai)) is wrong"
    case .brokenBrackets: "the brackets are broken"
    }
  }
}
