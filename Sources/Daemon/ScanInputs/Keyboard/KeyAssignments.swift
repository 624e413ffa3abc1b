import JSONFormat
import TextFormat

/// Keys that stand for characters: what a scanner presses for a control character, such as F8 for the separator of GS1.
///
/// Keys have the names of <linux/input-event-codes.h> without `KEY_`: `F1` to `F24`, `ESC`, `BACKSPACE`, `INSERT`,
/// `DELETE`, `HOME`, `END`, `PAGEUP`, `PAGEDOWN`, `UP`, `DOWN`, `LEFT`, `RIGHT`, `SYSRQ`, `PAUSE` and `COMPOSE`. Other
/// keys have characters of their own, or are modifiers or locks.
public struct KeyAssignments: Sendable, Equatable {
  /// Why keys cannot be assigned, and what is allowed.
  public struct Problem: Error, Equatable, CustomStringConvertible {
    /// A sentence without its subject, for people, such as `is to be an object …`.
    public let description: String
  }

  /// The control characters that have names.
  private static let controls: [(name: String, character: Unicode.Scalar)] = [
    ("GS", "\u{1D}"), ("RS", "\u{1E}"), ("US", "\u{1F}"), ("EOT", "\u{4}"),
  ]
  private static let example = #"{"F8": "GS"}"#
  private static let values = "GS, RS, US, EOT or one character"

  /// The characters, by the codes of their keys.
  private(set) var characters: [Int: Unicode.Scalar] = [:]

  /// Assigns no key.
  public init() {}

  /// Assigns keys to characters.
  ///
  /// - Parameter keys: The names of the keys, and for each `GS`, `RS`, `US`, `EOT` or one character.
  /// - Throws: `Problem` for a key that is not known or has a character of its own, and for any other value.
  public init(_ keys: [String: String]) throws(Problem) {
    for (name, value) in keys.sorted(by: { $0.key < $1.key }) { try assign(name, value) }
  }

  /// Assigns keys to characters as the members of a JSON object say.
  ///
  /// - Throws: `Problem` as above, also for JSON that is no such object or has a key twice.
  package init(json: String) throws(Problem) {
    let problem = Problem(description: "is to be an object of keys and what they stand for, such as \(Self.example)")
    let bytes = Array(json.utf8)
    var tokens = JSONTokenizer(limits: JSONLimits(nestingDepth: 8, tokenByteCount: bytes.count))
    tokens.append(bytes.span)
    tokens.finish()
    var seen: Set<String> = []
    do {
      guard try tokens.next() == .beginObject else { throw problem }
      while try tokens.next() == .key {
        let name = tokens.textString
        guard seen.insert(name).inserted else {
          throw Problem(description: "has \(Self.shown(name)) twice; keep one")
        }
        let value = try tokens.next()
        guard value == .string else { throw Self.wrongValue(of: name) }
        try assign(name, tokens.textString)
      }
      guard try tokens.next() == .endOfDocument else { throw problem }
    } catch let error as Problem {
      throw error
    } catch {
      throw problem
    }
  }

  private mutating func assign(_ name: String, _ value: String) throws(Problem) {
    guard let code = KeyName.assignableCode(name) else {
      let allowed = "F1 to F24, " + KeyName.assignable.dropFirst(24).joined(separator: ", ")
      throw Problem(description: "has \(Self.shown(name)), which is no key that can be assigned; those are \(allowed)")
    }
    if let control = Self.controls.first(where: { $0.name == value }) {
      characters[code] = control.character
    } else if value.unicodeScalars.count == 1, let character = value.unicodeScalars.first, character != "\0" {
      characters[code] = character
    } else {
      throw Self.wrongValue(of: name)
    }
  }

  private static func wrongValue(of name: String) -> Problem {
    Problem(description: "has a value of \(shown(name)) that is no character; allowed are \(values)")
  }

  private static func shown(_ name: String) -> String { "\"\(TerminalText.escaped(String(name.prefix(40))))\"" }

  /// The name of a setting of keyboards, such as `inputs.till.keys`.
  package static func isSetting(_ name: String) -> Bool { name.hasPrefix("inputs.") && name.hasSuffix(".keys") }
}
