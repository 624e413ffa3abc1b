/// The definition of one setting of the daemon.
struct DaemonSetting: Sendable {
  enum Kind: Sendable, Equatable {
    case text
    /// A string that may contain credentials, which are not shown.
    case url
    /// A string that is never shown.
    case secret
    case choice([String])
    case int(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case bool
    case list
    /// A list whose elements are not shown.
    case secretList
    /// A JSON value, kept as text.
    case json
  }

  /// The placeholder for a name that the user chooses.
  static let anyName = "NAME"

  /// The components of the key. At most one is ``anyName``.
  let path: [String]
  let kind: Kind
  /// The default value, as people read it; empty for a setting without a default.
  let standard: String
  let meaning: String

  init(_ key: String, _ kind: Kind, _ standard: String, _ meaning: String) {
    path = key.split(separator: ".").map(String.init)
    self.kind = kind
    self.standard = standard
    self.meaning = meaning
  }

  var key: String { path.joined(separator: ".") }

  /// A number, without a decimal point if it is an integer.
  static func plain(_ value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }

  var isSecret: Bool { kind == .secret || kind == .secretList }

  /// Whether a key is the key of this setting.
  func matches(_ path: [String]) -> Bool { path.count == self.path.count && matchesBeginning(path) }

  /// Whether a key is the key of this setting, or of an object that contains it.
  func matchesBeginning(_ path: [String]) -> Bool {
    path.count <= self.path.count && zip(path, self.path).allSatisfy { $1 == Self.anyName || $0 == $1 }
  }

  static func matching(_ path: [String]) -> DaemonSetting? { all.first { $0.matches(path) } }

  // MARK: Other names

  /// The argument `--http-maximum-body-bytes` for `http.maximumBodyBytes`, in the spelling of swift-configuration's own
  /// argument provider.
  static func argument(_ path: [String]) -> String {
    "--" + path.map { words($0).joined(separator: "-") }.joined(separator: "-").lowercased()
  }

  /// The variable `HTTP_MAXIMUM_BODY_BYTES` for the same key, in the spelling of swift-configuration's environment
  /// provider.
  static func variable(_ path: [String]) -> String {
    let text = path.map { words($0).joined(separator: "_") }.joined(separator: "_").uppercased()
    return String(text.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }

  /// The words of a camel-case name.
  private static func words(_ name: String) -> [String] {
    var words: [String] = [""]
    var previous: Character?
    for character in name {
      if let before = previous, before.isLowercase, character.isUppercase { words.append("") }
      words[words.count - 1].append(character)
      previous = character
    }
    return words
  }

  /// Whether an argument is this setting, with any name as its placeholder.
  func matches(argument: String) -> Bool {
    guard let place = path.firstIndex(of: Self.anyName) else { return argument == Self.argument(path) }
    let before = Self.argument(Array(path[..<place])) + "-"
    let behind = "-" + Self.argument(Array(path[(place + 1)...])).dropFirst(2)
    return argument.count > before.count + behind.count && argument.hasPrefix(before) && argument.hasSuffix(behind)
  }
}
