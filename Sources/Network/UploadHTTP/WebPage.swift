/// The beginning of a web page (HTML), which a login page or a proxy sends in place of a receiver's answer.
///
/// It is recognised by its first tag and not by its media type: a receiver may answer with `text/html` and the text `ok`.
struct WebPage: Equatable {
  /// The text of the title, on one line, up to 100 characters; `nil` if it has none.
  let title: String?

  private static let firstTags = ["!doctype html", "html", "head", "body", "title", "meta", "script", "style"]

  /// - Returns: `nil` if the body is no page.
  init?(_ body: [UInt8]) {
    let text = String(decoding: body.prefix(4096), as: UTF8.self)
    var rest = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    // Comments and a declaration of XML may come first.
    while let end = rest.hasPrefix("<!--") ? "-->" : rest.hasPrefix("<?xml") ? "?>" : nil {
      guard let found = rest.firstRange(of: end) else { return nil }
      rest = rest[found.upperBound...].drop { $0.isWhitespace }
    }
    guard rest.first == "<" else { return nil }
    let start = rest.dropFirst().prefix(20).lowercased()
    guard Self.firstTags.contains(where: { Self.begins(start, with: $0) }) else { return nil }
    title = Self.title(in: text)
  }

  private static func begins(_ text: String, with tag: String) -> Bool {
    guard text.hasPrefix(tag) else { return false }
    return text.dropFirst(tag.count).first.map { $0 == ">" || $0 == "/" || $0.isWhitespace } ?? false
  }

  private static func title(in text: String) -> String? {
    guard let start = text.firstRange(of: "<title>") ?? text.firstRange(of: "<TITLE>") else { return nil }
    let title = text[start.upperBound...].prefix { $0 != "<" }
    let words = title.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return words.isEmpty ? nil : String(words.prefix(100))
  }
}
