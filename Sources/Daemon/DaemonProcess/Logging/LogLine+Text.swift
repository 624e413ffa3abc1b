import Logging
import TextFormat

extension LogLine {
  /// `2026-11-21T19:20:01.123Z info catalogd: scan input=till found=true`.
  var text: String {
    var line = "\(time.text) \(level.rawValue) \(Self.plain(label)): \(Self.plain(message))"
    if let error { line += " error=\(Self.value(error))" }
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      line += " \(Self.plain(key))=\(Self.shown(value))"
    }
    return line
  }

  private static func shown(_ metadata: Logger.Metadata.Value) -> String {
    switch metadata {
    case .string(let text): value(text)
    case .stringConvertible(let thing): value("\(thing)")
    case .array(let values): "[" + values.map(shown).joined(separator: ", ") + "]"
    case .dictionary(let values):
      "[" + values.sorted { $0.key < $1.key }.map { "\(plain($0.key)): \(shown($0.value))" }.joined(separator: ", ")
        + "]"
    }
  }

  /// A value that may contain blanks: quoted if its end would be ambiguous.
  private static func value(_ text: String) -> String {
    let isClear =
      !text.isEmpty && text.unicodeScalars.allSatisfy { !" \"=[],:\\".unicodeScalars.contains($0) || $0 == ":" }
    if isClear { return plain(text) }
    return "\"" + TerminalText.escaped(cut(text), marked: "\"\\") + "\""
  }

  /// Text for a terminal: invisible characters, and those that change the display, are escaped.
  private static func plain(_ text: String) -> String { TerminalText.escaped(cut(text)) }
}
