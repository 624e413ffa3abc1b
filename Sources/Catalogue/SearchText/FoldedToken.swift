/// A token of a folded text: a maximal run of letters, digits and their marks.
public struct FoldedToken: Hashable, Sendable {
  /// What a token consists of.
  public enum Kind: Hashable, Sendable {
    /// Letters, digits and marks of any script but those of `cjk`.
    case word
    /// Han characters, Hiragana, Katakana, Bopomofo and Hangul. Such a run may be a sentence: most of these scripts do
    /// not separate words. ``UTF8Decoding`` walks through its characters.
    case cjk
  }

  /// The bytes of the token among ``TextFolder/bytes``. Never empty.
  public let range: Range<Int>
  /// What the token consists of.
  public let kind: Kind
  /// Whether nothing but one joining character separates the token from the previous one, as in `KFR-35GW/N1`, `l'eau`,
  /// `1.5` and `AT&T`. A search may try such tokens as one.
  ///
  /// Joining characters are `-`, `/`, `.`, `_`, `+`, `'`, `&`, the grave and acute accent, dashes, the minus sign,
  /// apostrophes, fraction slashes and middle dots. A word and a CJK token without anything between them are not
  /// joined.
  public let isJoined: Bool
  /// Whether that joining character is a point or a slash. Between digits it makes another number of them: `1.5` is not
  /// 15, and `1/2` not 12.
  package let isAfterPoint: Bool
}
