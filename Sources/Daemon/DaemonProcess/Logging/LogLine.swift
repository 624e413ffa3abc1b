import Logging

/// A log event, formatted as a line.
struct LogLine {
  /// The maximum length of one text in bytes. A longer text is truncated and ends with `…`.
  static let maximumTextByteCount = 4096

  let time: UnixTime
  let level: Logger.Level
  let label: String
  let message: String
  let error: String?
  let metadata: Logger.Metadata

  /// The line, including its line feed.
  func bytes(_ style: LogStyle) -> [UInt8] {
    var line =
      switch style {
      case .text: text
      case .json: json
      }
    line += "\n"
    return Array(line.utf8)
  }

  /// A text truncated to the limit.
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
