import Essentials
import TextFormat
import UploadQueue

/// A URL with placeholders for the id and the kind of an upload: `{id}` and `{kind}`.
struct UploadURL: Sendable {
  private let template: String
  /// The number of such parts in the template itself.
  private let dotCount: Int

  /// - Throws: `UploadHTTPError.template`.
  init(_ template: String) throws(UploadHTTPError) {
    let example = template.replacing("{id}", with: "id").replacing("{kind}", with: "kind")
    let isClean = example.utf8.allSatisfy {
      $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}")
    }
    let authority = template.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    // As the client reads it: what it would refuse is to be known before uploads fail by it. It ignores who is named
    // before the host, and no upload decides which host is asked.
    guard isClean, let url = URL(string: example), ["http", "https"].contains(url.scheme?.lowercased()),
      let host = url.host, !host.isEmpty, (1...65_535).contains(url.port ?? 80), url.user == nil, url.password == nil,
      !authority.contains("{")
    else { throw .template(template) }
    self.template = template
    dotCount = Self.dotCount(example)
  }

  /// Returns the URL for an upload.
  ///
  /// - Throws: `UploadRefusal` for a kind that would lead to another path: `.` and `..` are removed from paths, however
  ///   they are encoded (RFC 3986, 5.2.4).
  func url(id: String, kind: String) throws(UploadRefusal) -> String {
    let url = template.replacing("{id}", with: id).replacing("{kind}", with: PercentEncoding.encoded(kind))
    if kind.utf8.allSatisfy({ $0 == UInt8(ascii: ".") }), Self.dotCount(url) > dotCount {
      throw UploadRefusal(
        "the kind \(kind.debugDescription) cannot stand in \(template): it would lead to another path")
    }
    return url
  }

  /// Returns how many parts of a URL's path are `.` or `..`.
  private static func dotCount(_ url: String) -> Int {
    let path = url.prefix { $0 != "?" && $0 != "#" }.lowercased().replacing("%2e", with: ".")
    return path.split(separator: "/").count { $0 == "." || $0 == ".." }
  }
}
