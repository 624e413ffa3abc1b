import TextFormat

/// Escapes untrusted bytes and texts for display.
enum Printable {
  /// The default limit of bytes that are shown.
  static let byteCount = 32

  /// The first bytes: printable ASCII unchanged, any other byte, and each backslash, as `\x1D`.
  static func text(_ bytes: [UInt8], limit: Int = byteCount) -> String {
    let shown = TerminalText.escaped(bytes: bytes.prefix(limit), escapesBackslash: true)
    return bytes.count > limit ? shown + "…" : shown
  }
}
