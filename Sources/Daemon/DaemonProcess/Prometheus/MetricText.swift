/// Names and labels in the form that Prometheus accepts.
enum MetricText {
  /// The maximum length of a label's value in bytes; a longer one is truncated.
  static let maximumValueByteCount = 256

  /// `[a-zA-Z_:][a-zA-Z0-9_:]*`.
  static func name(_ label: String, kind: MetricKind) -> String {
    let name = sanitised(label, allowsColon: true)
    return kind == .histogram && !name.hasSuffix("_seconds") ? name + "_seconds" : name
  }

  /// The text between the braces, sorted by name. If two labels have the same name, the first is used.
  static func labels(_ dimensions: [(String, String)]) -> String {
    var values: [String: String] = [:]
    for (name, value) in dimensions {
      let name = labelName(name)
      if values[name] == nil { values[name] = escaped(value) }
    }
    return values.sorted { $0.key < $1.key }.map { "\($0.key)=\"\($0.value)\"" }.joined(separator: ",")
  }

  private static func labelName(_ text: String) -> String {
    let name = sanitised(text, allowsColon: false)
    return name.hasPrefix("__") || name == "le" || name == "quantile" ? "x" + name : name
  }

  private static func sanitised(_ text: String, allowsColon: Bool) -> String {
    var name = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "a"..."z", "A"..."Z", "_": name.unicodeScalars.append(scalar)
      case "0"..."9":
        if name.isEmpty { name = "_" }
        name.unicodeScalars.append(scalar)
      case ":" where allowsColon: name.unicodeScalars.append(scalar)
      default: name += "_"
      }
    }
    return name.isEmpty ? "_" : name
  }

  private static func escaped(_ value: String) -> String {
    let bytes = value.utf8.prefix(maximumValueByteCount)
    // Truncation inside a character leaves a replacement character.
    let value = bytes.count < value.utf8.count ? String(decoding: bytes, as: UTF8.self) : value
    return escaped(value, quotes: true)
  }

  /// A text on one line; in a label's value, quotes are escaped too.
  static func escaped(_ text: String, quotes: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quotes: result += "\\\""
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
