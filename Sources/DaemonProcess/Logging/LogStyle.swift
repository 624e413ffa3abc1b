/// How lines look.
public enum LogStyle: String, Sendable, CaseIterable {
  /// For people.
  case text
  /// For programs: an object a line.
  case json
}
