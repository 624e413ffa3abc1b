import TextFormat

extension ScanConfiguration {
  /// The texts that ``separators(in:)`` takes as one separator: what scanners commonly send for FNC1 instead of GS.
  public static let separatorTokens = ["<FNC1>", "~d029", "<GS>", "{GS}", "^]"]

  /// The maximum number of separators in a text, because each costs time in every scan.
  public static let maximumSeparatorCount = 32

  /// Reads the separators that a user entered as one text, for example `|<GS>^`.
  ///
  /// Each of ``separatorTokens`` in the text is one separator, and so is every other character, taken as a Unicode
  /// scalar. Letters, digits and combining marks are refused outside tokens, because each would split ordinary codes.
  ///
  /// - Parameter text: The text. An empty one has no separators, so that only GS stands for FNC1.
  /// - Returns: Each separator once, tokens first: the first separator that matches counts, and a token may begin with
  ///   a character that is a separator too.
  /// - Throws: The first mistake.
  public static func separators(in text: String) throws(SeparatorsError) -> [String] {
    var tokens: [String] = []
    var characters: [String] = []
    var rest = text.unicodeScalars[...]
    while let first = rest.first {
      if let token = separatorTokens.first(where: { rest.starts(with: $0.unicodeScalars) }) {
        if !tokens.contains(token) { tokens.append(token) }
        rest.removeFirst(token.unicodeScalars.count)
        continue
      }
      guard !isPartOfWords(first) else { throw .ordinaryCharacter(first) }
      if !characters.contains(String(first)) { characters.append(String(first)) }
      guard tokens.count + characters.count <= maximumSeparatorCount else { throw .tooMany }
      rest.removeFirst()
    }
    return tokens + characters
  }

  /// Whether a character is a letter, a digit or a mark on one, in any script.
  private static func isPartOfWords(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark:
      true
    default: false
    }
  }
}

/// A mistake in a text of separators; see ``ScanConfiguration/separators(in:)``.
public enum SeparatorsError: Error, Hashable, Sendable {
  /// A letter or a digit, which would split ordinary codes.
  case ordinaryCharacter(Unicode.Scalar)
  /// More than ``ScanConfiguration/maximumSeparatorCount`` separators.
  case tooMany
}

extension SeparatorsError: CustomStringConvertible {
  /// What is wrong and what to do, for users.
  public var description: String {
    let tokens = ScanConfiguration.separatorTokens.joined(separator: ", ")
    return switch self {
    case .ordinaryCharacter(let scalar):
      "'\(TerminalText.escaped(String(scalar), marked: "'"))' is a letter or a digit, which codes contain themselves;"
        + " write characters that are neither, or \(tokens)"
    case .tooMany: "there are more than \(ScanConfiguration.maximumSeparatorCount) separators; write fewer"
    }
  }
}
