extension ElementString {
  /// An error in element strings.
  public enum Fault: Hashable, Sendable {
    /// No known Application Identifier starts with `text`, an excerpt of at most four bytes.
    case unknownIdentifier(text: String)
    /// The value of `ai` is too short.
    case tooShort(ai: String)
    /// The value of `ai` exceeds its maximum length. Often the scanner has dropped the separators.
    case tooLong(ai: String)
    /// The value of `ai` contains an invalid character.
    case wrongCharacter(ai: String)
    /// The value of `ai` was read, but its check digit is wrong.
    case wrongCheckDigit(ai: String)
    /// Something other than `(identifier)` is found where an identifier must start.
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
  /// A description of the fault for users.
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
