/// One thing that a daemon may be told.
struct Setting: Sendable {
  enum Kind: Sendable, Equatable {
    case text
    /// A text that may hold credentials, which are not shown.
    case url
    /// A text that is never shown.
    case secret
    case choice([String])
    case whole(ClosedRange<Int>)
    case real(ClosedRange<Double>)
    case truth
    case list
    /// A list whose elements are not shown.
    case secretList
  }

  /// What stands in the place of a name that the user gives.
  static let anyName = "NAME"

  /// The components of its key, one of which may be ``anyName``.
  let path: [String]
  let kind: Kind
  /// As people read it; empty where there is none.
  let standard: String
  let meaning: String

  init(_ key: String, _ kind: Kind, _ standard: String, _ meaning: String) {
    path = key.split(separator: ".").map(String.init)
    self.kind = kind
    self.standard = standard
    self.meaning = meaning
  }

  var key: String { path.joined(separator: ".") }

  /// What it may be set to, for people; the words of ``Kind/choice(_:)`` as they are written.
  var values: String {
    switch kind {
    case .text: "text"
    case .url: "URL"
    case .secret: "text, never shown"
    case .choice(let names): names.map { "`\($0)`" }.joined(separator: ", ")
    case .whole(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .real(let range): "\(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
    case .truth: "`true`, `false`"
    case .list: "list of texts"
    case .secretList: "list of texts, never shown"
    }
  }

  /// A number without a point where it is whole.
  static func plain(_ value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }

  var isSecret: Bool { kind == .secret || kind == .secretList }

  /// Whether a key is this one.
  func matches(_ path: [String]) -> Bool { path.count == self.path.count && matchesBeginning(path) }

  /// Whether a key is this one, or an object in which it stands.
  func matchesBeginning(_ path: [String]) -> Bool {
    path.count <= self.path.count && zip(path, self.path).allSatisfy { $1 == Self.anyName || $0 == $1 }
  }

  static func matching(_ path: [String]) -> Setting? { all.first { $0.matches(path) } }

  // MARK: Other names

  /// `--http-maximum-body-bytes` for `http.maximumBodyBytes`, as swift-configuration's own provider of arguments spells it.
  static func argument(_ path: [String]) -> String {
    "--" + path.map { words($0).joined(separator: "-") }.joined(separator: "-").lowercased()
  }

  /// `HTTP_MAXIMUM_BODY_BYTES` for the same key, as swift-configuration's provider of the environment spells it.
  static func variable(_ path: [String]) -> String {
    let text = path.map { words($0).joined(separator: "_") }.joined(separator: "_").uppercased()
    return String(text.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }

  /// The words of a name in camel case.
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

  /// Whether an argument is one of this setting, with any name in it.
  func matches(argument: String) -> Bool {
    guard let place = path.firstIndex(of: Self.anyName) else { return argument == Self.argument(path) }
    let before = Self.argument(Array(path[..<place])) + "-"
    let behind = "-" + Self.argument(Array(path[(place + 1)...])).dropFirst(2)
    return argument.count > before.count + behind.count && argument.hasPrefix(before) && argument.hasSuffix(behind)
  }

  // MARK: Hints

  /// Which of some names was probably meant.
  static func nearest(to name: String, among names: some Sequence<String>) -> String? {
    let name = Array(name.lowercased().unicodeScalars.prefix(64))
    let ranked = Set(names).map { (distance(name, Array($0.lowercased().unicodeScalars)), $0) }
    guard let best = ranked.min(by: { $0 < $1 }) else { return nil }
    // A third of the letters may be wrong; more is another word.
    return best.0 <= max(1, name.count / 3) ? best.1 : nil
  }

  /// Levenshtein's distance: insertions, deletions and replacements.
  private static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let above = row[j + 1]
        row[j + 1] = min(above + 1, row[j] + 1, diagonal + (letter == other ? 0 : 1))
        diagonal = above
      }
    }
    return row[b.count]
  }
}
