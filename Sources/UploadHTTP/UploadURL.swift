import UploadQueue

/// A URL with places for what an upload is: `{id}` and `{kind}`.
struct UploadURL: Sendable {
  private let template: String

  /// - Throws: `UploadHTTPError.template`.
  init(_ template: String) throws(UploadHTTPError) {
    let rest = template.replacing("{id}", with: "").replacing("{kind}", with: "")
    let lower = rest.lowercased()
    let host = lower.hasPrefix("http://") ? lower.dropFirst(7) : lower.hasPrefix("https://") ? lower.dropFirst(8) : ""
    let isClean = rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}") }
    guard isClean, let first = host.first, first != "/", first != "?" else { throw .template(template) }
    self.template = template
  }

  /// Where an upload goes.
  func url(id: UploadID, kind: String) -> String {
    template.replacing("{id}", with: id.text).replacing("{kind}", with: Self.escaped(kind))
  }

  /// Everything but the unreserved characters of RFC 3986 as `%XX`: a kind does not leave its place in the path.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      let scalar = Unicode.Scalar(byte)
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", "~": result.unicodeScalars.append(scalar)
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return result
  }
}
