/// A JSON value to write. The fields of an object keep their order, so the output for programs is stable to the byte.
public indirect enum JSONText: Sendable {
  case null
  case bool(Bool)
  case int(Int)
  case uint(UInt64)
  /// A number; `null` if it is infinite or NaN.
  case double(Double)
  case text(String)
  case array([JSONText])
  case object([(String, JSONText)])
  /// A value that is already JSON, in UTF-8 and on one line.
  case raw([UInt8])

  /// A string, or null.
  public static func optional(_ text: String?) -> JSONText { text.map(JSONText.text) ?? .null }

  /// Appends the value without white space around it.
  public func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .int(let value): bytes += String(value).utf8
    case .uint(let value): bytes += String(value).utf8
    case .double(let value): JSONWriter.append(value, to: &bytes)
    case .text(let value): JSONWriter.append(text: value, to: &bytes)
    case .array(let values): JSONWriter.append(values, in: .array, to: &bytes) { $0.append(to: &$1) }
    case .object(let fields):
      JSONWriter.append(fields, in: .object, to: &bytes) { field, bytes in
        JSONWriter.append(text: field.0, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        field.1.append(to: &bytes)
      }
    case .raw(let json): bytes += json
    }
  }

  /// The value as one line of text, without a line feed.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }
}
