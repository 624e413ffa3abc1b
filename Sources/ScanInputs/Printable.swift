import TextFormat

/// Bytes from a scanner or a client, to be shown.
enum Printable {
  /// How many bytes are shown where nothing else is said.
  static let byteCount = 32

  /// The first bytes: printable ASCII as it is, and every other byte, and each backslash, as `\x1D`.
  static func text(_ bytes: [UInt8], limit: Int = byteCount) -> String {
    let shown = TerminalText.escaped(bytes: bytes.prefix(limit), escapesBackslash: true)
    return bytes.count > limit ? shown + "…" : shown
  }
}
