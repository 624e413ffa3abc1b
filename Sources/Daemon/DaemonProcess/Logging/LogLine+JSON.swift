import JSONFormat
import Logging

extension LogLine {
  /// `{"time":"…","level":"info","label":"catalogd","message":"scan","metadata":{"input":"till"}}`.
  ///
  /// The order of the keys is fixed. Numbers and Booleans in the metadata keep their types. `error` and `metadata` are
  /// present only if they have values.
  var json: String {
    var line = #"{"time":"\#(time.text)","level":"\#(level.rawValue)","label":\#(Self.quoted(label))"#
    line += #","message":\#(Self.quoted(message))"#
    if let error { line += #","error":\#(Self.quoted(error))"# }
    if !metadata.isEmpty { line += #","metadata":\#(Self.json(.dictionary(metadata)))"# }
    return line + "}"
  }

  private static func json(_ metadata: Logger.Metadata.Value) -> String {
    switch metadata {
    case .string(let text): quoted(text)
    case .stringConvertible(let thing): json(thing)
    case .array(let values): "[" + values.map(json).joined(separator: ",") + "]"
    case .dictionary(let values):
      "{" + values.sorted { $0.key < $1.key }.map { quoted($0.key) + ":" + json($0.value) }.joined(separator: ",") + "}"
    }
  }

  private static func json(_ thing: any CustomStringConvertible) -> String {
    switch thing {
    case let value as Bool: "\(value)"
    case let value as any BinaryInteger: "\(value)"
    case let value as Double where value.isFinite: "\(value)"
    default: quoted("\(thing)")
    }
  }

  private static func quoted(_ text: String) -> String {
    JSONWriter.string(cut(text), escaping: [.delete, .unicodeControls])
  }
}
