/// Escapes untrusted bytes and texts for display.
enum Printable {
  /// The default limit of bytes that are shown.
  static let byteCount = 32

  /// The first bytes: printable ASCII unchanged, any other byte as `\x1D`.
  static func text(_ bytes: [UInt8], limit: Int = byteCount) -> String {
    var shown = ""
    for byte in bytes.prefix(limit) {
      if byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") {
        shown.unicodeScalars.append(UnicodeScalar(byte))
      } else {
        shown += "\\x" + hexadecimal(byte)
      }
    }
    return bytes.count > limit ? shown + "…" : shown
  }

  /// A JSON string, with its quotes.
  static func json(_ text: String) -> String {
    var json = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": json += "\\\""
      case "\\": json += "\\\\"
      case "\n": json += "\\n"
      case "\r": json += "\\r"
      case "\t": json += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        json += "\\u00" + hexadecimal(UInt8(truncatingIfNeeded: scalar.value))
      default: json.unicodeScalars.append(scalar)
      }
    }
    return json + "\""
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }
}
