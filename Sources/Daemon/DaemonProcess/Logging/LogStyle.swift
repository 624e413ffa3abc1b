/// The format of log lines.
package enum LogStyle: String, Sendable, CaseIterable {
  /// Text for people.
  case text
  /// One JSON object per line, for programs.
  case json
}
