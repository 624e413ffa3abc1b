/// Marks that are typed before the letter that they belong to.
enum DeadKeys {
  private static let composed: [Unicode.Scalar: (letters: String, accented: String)] = [
    "^": ("aeiouAEIOU", "âêîôûÂÊÎÔÛ"),
    "´": ("aeiouyAEIOUY", "áéíóúýÁÉÍÓÚÝ"),
    "`": ("aeiouAEIOU", "àèìòùÀÈÌÒÙ"),
    "¨": ("aeiouyAEIOU", "äëïöüÿÄËÏÖÜ"),
  ]

  /// What a mark and what follows it are: one character where there is such a letter; the mark alone before a space or itself;
  /// else both.
  static func compose(_ mark: Unicode.Scalar, _ next: Unicode.Scalar) -> [Unicode.Scalar] {
    if next == " " || next == mark { return [mark] }
    if let (letters, accented) = composed[mark] {
      let pair = zip(letters.unicodeScalars, accented.unicodeScalars).first { $0.0 == next }
      if let pair { return [pair.1] }
    }
    return [mark, next]
  }
}
