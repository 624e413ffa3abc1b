/// Texts that count as no value, in any case.
struct NullWords {
  private let words: Set<String>
  /// The number of bytes of the longest word; a longer text is none of them.
  private let byteCount: Int

  /// - Returns: `nil` without words.
  init?(_ words: [String]) {
    if words.isEmpty { return nil }
    self.words = Set(words.map { $0.lowercased() })
    // A letter of the other case may have more bytes.
    byteCount = words.reduce(0) { max($0, $1.utf8.count) } * 2
  }

  /// What to do about a text that may stand for no value.
  static func remedy(_ text: String) -> String {
    if text.contains(",") { return "if this stands for no value, say so with \"null\" in a mapping (--map)" }
    let isWord = text.unicodeScalars.allSatisfy {
      $0.properties.isAlphabetic || "0123456789/.-_".unicodeScalars.contains($0)
    }
    let word = isWord && !text.hasPrefix("-") ? text : "'\(text.replacing("'", with: "'\\''"))'"
    return "if this stands for no value, say so with --null" + (text.hasPrefix("-") ? "=" : " ") + word
  }

  func contains(_ text: String) -> Bool { text.utf8.count <= byteCount && words.contains(text.lowercased()) }

  func contains(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.count <= byteCount && words.contains(String(decoding: bytes, as: UTF8.self).lowercased())
  }
}
