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
    /// The value of `ai` needs a separator after it, but another element follows at once. Its length is known, so it
    /// was read.
    case missingSeparator(ai: String)
    /// The GTIN of `ai` has 8, 12 or 13 digits with a valid check digit. It was read with the zeros that it lacks.
    case shortGTIN(ai: String)
    /// Two separators follow each other.
    case emptyElement
    /// Something other than `(identifier)` is found where an identifier must start.
    case brokenBrackets

    /// Whether everything could be read all the same.
    var isHarmless: Bool {
      switch self {
      case .missingSeparator, .shortGTIN, .emptyElement: true
      default: false
      }
    }

    /// The identifier that the fault concerns, if any.
    var ai: String? {
      switch self {
      case .tooShort(let ai), .tooLong(let ai), .wrongCharacter(let ai), .wrongCheckDigit(let ai),
        .missingSeparator(let ai), .shortGTIN(let ai):
        ai
      case .unknownIdentifier, .emptyElement, .brokenBrackets: nil
      }
    }

    init(_ defect: ApplicationIdentifier.Defect, ai: String) {
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
    case .missingSeparator(let ai): "no separator follows the value of (\(ai))"
    case .shortGTIN(let ai): "the GTIN of (\(ai)) has less than 14 digits; it was read with leading zeros"
    case .emptyElement: "two separators follow each other"
    case .brokenBrackets: "the brackets are broken"
    }
  }
}
