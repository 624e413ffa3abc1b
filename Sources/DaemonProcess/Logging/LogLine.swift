import Logging

/// An event, as a line.
struct LogLine {
  /// The most bytes of one text; what is longer is cut, and ends with `…`.
  static let maximumTextByteCount = 4096

  let time: UnixTime
  let level: Logger.Level
  let label: String
  let message: String
  let error: String?
  let metadata: Logger.Metadata

  /// The line with its line feed.
  func bytes(_ style: LogStyle) -> [UInt8] {
    var line =
      switch style {
      case .text: text
      case .json: json
      }
    line += "\n"
    return Array(line.utf8)
  }

  /// A text without what is beyond the bound.
  static func cut(_ text: String) -> String {
    guard text.utf8.count > maximumTextByteCount else { return text }
    var result = String.UnicodeScalarView()
    var room = maximumTextByteCount
    for scalar in text.unicodeScalars {
      room -= scalar.utf8.count
      guard room >= 0 else { break }
      result.append(scalar)
    }
    return String(result) + "…"
  }
}
