import Configuration
import JSONFormat
import TextFormat

/// The settings in a JSON file, whose nested objects correspond to the components of keys. A member `//` is a comment.
struct FileSettings {
  /// The maximum size of the file in bytes.
  static let maximumByteCount = 1 << 20

  private(set) var values: [AbsoluteConfigKey: ConfigValue] = [:]
  /// The line of each key.
  private(set) var lines: [[String]: Int] = [:]

  private let name: String
  private let bytes: [UInt8]
  /// The keys of the open objects, and the key whose value is next.
  private var path: [String] = []

  /// - Parameters:
  ///   - name: The name of the file, for messages.
  ///   - faults: The list that unknown settings, values of the wrong type, and JSON syntax errors are added to.
  init(_ bytes: [UInt8], name: String, faults: inout [ConfigurationFault]) {
    self.name = name
    self.bytes = bytes
    var tokens = JSONTokenizer(limits: JSONLimits(nestingDepth: 64, tokenByteCount: Self.maximumByteCount))
    tokens.append(bytes.span)
    tokens.finish()
    do throws(JSONError) {
      let first = try tokens.next()
      guard first == .beginObject else {
        // The rest may have syntax errors too; one fault is enough.
        faults.append(fault(nil, at: tokens.tokenOffset, "the file is to be an object, such as {\"http\": {…}}"))
        return
      }
      try readObject(&tokens, &faults)
      while try tokens.next() != .endOfDocument {}
    } catch {
      faults.append(fault(nil, at: error.offset, "is no JSON: \(error)"))
    }
  }

  /// Reads the members of an object up to its end. Objects nested more deeply than settings are skipped.
  private mutating func readObject(
    _ tokens: inout JSONTokenizer, _ faults: inout [ConfigurationFault]
  ) throws(JSONError) {
    var seen: Set<String> = []
    while true {
      let token = try tokens.next()
      guard token == .key else { return }
      let key = tokens.textString
      let offset = tokens.tokenOffset
      path.append(key)
      if key == "//" {
        try skip(try tokens.next(), &tokens)
      } else if !seen.insert(key).inserted {
        faults.append(fault(path, at: offset, "stands twice in its object; keep one"))
        try skip(try tokens.next(), &tokens)
      } else if let setting = DaemonSetting.matching(path) {
        try read(setting, offset, &tokens, &faults)
      } else if DaemonSetting.all.contains(where: { $0.matchesBeginning(path) }) {
        let value = try tokens.next()
        if value == .beginObject {
          try readObject(&tokens, &faults)
        } else {
          faults.append(fault(path, at: offset, "is to be an object, such as {\(Self.example(path))}"))
          try skip(value, &tokens)
        }
      } else {
        faults.append(fault(path, at: offset, "there is no such key; \(Self.hint(path))"))
        try skip(try tokens.next(), &tokens)
      }
      path.removeLast()
    }
  }

  private mutating func read(
    _ setting: DaemonSetting, _ offset: Int, _ tokens: inout JSONTokenizer, _ faults: inout [ConfigurationFault]
  ) throws(JSONError) {
    let token = try tokens.next()
    let content: ConfigContent?
    switch (setting.kind, token) {
    case (.text, .string), (.url, .string), (.secret, .string), (.choice, .string), (.json, .string):
      content = .string(tokens.textString)
    case (.json, _):
      let start = tokens.tokenOffset
      try skip(token, &tokens)
      content = .string(String(decoding: bytes[start..<tokens.offset], as: UTF8.self))
    case (.int, .number): content = tokens.int64Value.flatMap { Int(exactly: $0) }.map { .int($0) }
    case (.number, .number): content = tokens.doubleValue.map { .double($0) }
    case (.bool, .true): content = .bool(true)
    case (.bool, .false): content = .bool(false)
    case (.list, .beginArray), (.secretList, .beginArray): content = try list(&tokens).map { .stringArray($0) }
    default:
      content = nil
      try skip(token, &tokens)
    }
    guard let content else {
      faults.append(fault(path, at: offset, "is to be \(Self.name(setting.kind))"))
      return
    }
    values[AbsoluteConfigKey(path)] = ConfigValue(content, isSecret: setting.isSecret)
    lines[path] = line(at: offset)
  }

  /// The strings of an array up to its end; `nil` if it has other elements.
  private func list(_ tokens: inout JSONTokenizer) throws(JSONError) -> [String]? {
    var texts: [String] = []
    var isList = true
    while true {
      let token = try tokens.next()
      switch token {
      case .endArray: return isList ? texts : nil
      case .string: texts.append(tokens.textString)
      default:
        isList = false
        try skip(token, &tokens)
      }
    }
  }

  /// Skips the value that starts with a token.
  private func skip(_ token: JSONToken, _ tokens: inout JSONTokenizer) throws(JSONError) {
    guard token == .beginObject || token == .beginArray else { return }
    let outside = tokens.depth - 1
    while tokens.depth > outside { _ = try tokens.next() }
  }

  // MARK: Messages

  private func fault(_ path: [String]?, at offset: Int, _ problem: String) -> ConfigurationFault {
    ConfigurationFault(
      path?.joined(separator: "."), source: .file(name, line: line(at: offset)), problem)
  }

  private func line(at offset: Int) -> Int { 1 + bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") } }

  private static func name(_ kind: DaemonSetting.Kind) -> String {
    switch kind {
    case .text, .url, .secret: "a text"
    case .choice(let names): "one of the texts " + names.joined(separator: ", ")
    case .int: "a whole number"
    case .number: "a number"
    case .bool: "true or false"
    case .list, .secretList: "an array of texts"
    case .json: "an array of texts and objects"
    }
  }

  /// An example of a member that the object may have.
  private static func example(_ path: [String]) -> String {
    DaemonSetting.all.first { $0.matchesBeginning(path) && $0.path.count > path.count }.map {
      "\"\($0.path[path.count])\": …"
    } ?? ""
  }

  private static func hint(_ path: [String]) -> String {
    let outside = Array(path.dropLast())
    let parts = path.flatMap { $0.split(separator: ".").map(String.init) }
    if parts.count > path.count, DaemonSetting.matching(parts) != nil {
      return "write " + parts.dropLast().map { "{\"\($0)\": " }.joined() + "{\"\(parts.last ?? "")\": …"
        + String(repeating: "}", count: parts.count)
    }
    let names = DaemonSetting.all.filter { $0.matchesBeginning(outside) && $0.path.count > outside.count }.map {
      $0.path[outside.count]
    }
    if let name = NearestName.of(path.last ?? "", among: names) { return "did you mean \(name)?" }
    // The key may be in the wrong object.
    let elsewhere = DaemonSetting.all.first { $0.path.last == path.last && !$0.path.contains(DaemonSetting.anyName) }
    return elsewhere.map { "did you mean \($0.key)?" }
      ?? "here may stand " + Set(names).sorted().joined(separator: ", ")
  }
}
