/// Composition of dead keys: accents that are typed before their letter.
enum DeadKeys {
  private static let composed: [Unicode.Scalar: (letters: String, accented: String)] = [
    "^": ("aeiouAEIOU", "âêîôûÂÊÎÔÛ"),
    "´": ("aeiouyAEIOUY", "áéíóúýÁÉÍÓÚÝ"),
    "`": ("aeiouAEIOU", "àèìòùÀÈÌÒÙ"),
    "¨": ("aeiouyAEIOU", "äëïöüÿÄËÏÖÜ"),
  ]

  /// The result of an accent and the next character: one accented letter if it exists; the accent alone before a space
  /// or itself; otherwise both characters.
  static func compose(_ mark: Unicode.Scalar, _ next: Unicode.Scalar) -> [Unicode.Scalar] {
    if next == " " || next == mark { return [mark] }
    if let (letters, accented) = composed[mark] {
      let pair = zip(letters.unicodeScalars, accented.unicodeScalars).first { $0.0 == next }
      if let pair { return [pair.1] }
    }
    return [mark, next]
  }
}
