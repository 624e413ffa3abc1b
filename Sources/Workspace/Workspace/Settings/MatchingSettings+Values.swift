import Barcodes
import Catalog
import DocumentFormat
import TextFormat

/// Why a value of a setting is invalid.
struct ValueFault: Error, CustomStringConvertible {
  /// What is wrong and what to do, for users.
  let reason: String

  init(_ reason: String) { self.reason = reason }

  var description: String { reason }
}

/// How each setting is read from its stored value.
extension MatchingSettings {
  static func separators(_ value: DocumentValue) throws(ValueFault) -> [String] {
    guard case .text(let text) = value else { throw ValueFault("write a text such as \"|<GS>\", not \(value.words)") }
    do { return try ScanConfiguration.separators(in: text) } catch { throw ValueFault("\(error)") }
  }

  static func number(_ value: DocumentValue, in range: ClosedRange<Int>) throws(ValueFault) -> Int {
    guard let number = value.wholeNumber, range.contains(number) else {
      throw ValueFault("write a whole number from \(range.lowerBound) to \(range.upperBound), not \(value.words)")
    }
    return number
  }

  static func flag(_ value: DocumentValue) throws(ValueFault) -> Bool {
    guard case .bool(let flag) = value else { throw ValueFault("write true or false, not \(value.words)") }
    return flag
  }

  static func symbologies(_ value: DocumentValue) throws(ValueFault) -> Set<Unicode.Scalar> {
    var letters: Set<Unicode.Scalar> = []
    for element in try value.list(of: "names of symbologies, such as [\"]A0\", \"CODE128\"]") {
      guard case .text(let name) = element else {
        throw ValueFault("write each symbology as a text such as \"CODE128\", not \(element.words)")
      }
      guard let symbology = SymbologyIdentifier(named: name) else {
        throw ValueFault(
          "no symbology is known as \(element.words); write an identifier such as \"]A0\", or a name such as \"CODE128\""
        )
      }
      letters.insert(symbology.letter)
    }
    return letters
  }

  static func skuMatching(_ value: DocumentValue) throws(ValueFault) -> SKUMatching {
    guard case .text(let name) = value, let matching = SKUMatching(rawValue: name) else {
      throw ValueFault("write one of \(skuChoices.joined(separator: ", ")), not \(value.words)")
    }
    return matching
  }

  /// The greatest number of texts that are ignored, and of bytes in each.
  private static let ignoredTextLimit = 100

  static func ignoredTexts(_ value: DocumentValue) throws(ValueFault) -> [String] {
    var texts: [String] = []
    for element in try value.list(of: "texts that are no codes, such as [\"NOREAD\", \"ERROR\"]") {
      guard case .text(let text) = element else {
        throw ValueFault("write each text as a text such as \"NOREAD\", not \(element.words)")
      }
      let payload = Scan(text).payload
      let isPrinted = text.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }
      guard !payload.isEmpty, isPrinted, text.utf8.count <= ignoredTextLimit else {
        throw ValueFault(
          "write texts of 1 to \(ignoredTextLimit) bytes that are not blank and without control characters,"
            + " not \(element.words)")
      }
      texts.append(payload)
    }
    guard texts.count <= ignoredTextLimit else {
      throw ValueFault("write at most \(ignoredTextLimit) texts, not \(texts.count)")
    }
    return texts
  }

  static func measures(_ value: DocumentValue) throws(ValueFault) -> MeasureRules {
    var entries: [MeasureRules.Entry] = []
    for (index, element) in try value.list(of: "names of presets and rules, such as [\"de\"]").enumerated() {
      switch element {
      // A list that is no JSON arrives as a text.
      case .text(let name) where name.hasPrefix("[") || name.hasPrefix("{"):
        throw ValueFault("the list is no valid JSON; check its quotes, commas and brackets")
      case .text(let name): entries.append(.preset(name))
      case .object(let fields): entries.append(.rule(try rule(fields, number: index + 1)))
      default:
        throw ValueFault(
          "entry \(index + 1) is to be the name of a preset, or a rule {\"name\": …}, not \(element.words)")
      }
    }
    do { return try MeasureRules(entries) } catch { throw ValueFault("\(error)") }
  }

  /// The keys of a rule.
  private static let ruleKeys = [
    "name", "prefix", "pattern", "measure", "decimals", "unit", "currency", "innerCheck", "second",
  ]
  private static let secondKeys = ["measure", "decimals", "unit", "currency"]

  /// The members of a rule or of its second value.
  private struct RuleFields {
    var texts: [String: String] = [:]
    var decimals: Int?
    var second: [DocumentValue.Field]?

    /// Reads the members: `decimals` is a whole number, `second` an object, and all others are texts.
    init(_ fields: [DocumentValue.Field], keys: [String], of owner: String) throws(ValueFault) {
      var seen: Set<String> = []
      for field in fields {
        let key = "'" + TerminalText.escaped(field.name, marked: "'") + "'"
        guard keys.contains(field.name) else {
          let hint = NearestName.of(field.name, among: keys).map { "did you mean '\($0)'?" }
          throw ValueFault(
            "\(owner) has the unknown key \(key); \(hint ?? "a rule has \(keys.joined(separator: ", "))")")
        }
        guard seen.insert(field.name).inserted else { throw ValueFault("\(owner) has \(key) twice; keep one") }
        switch field.name {
        case "decimals":
          guard let count = field.value.wholeNumber else {
            throw ValueFault("\(owner): \(key) is to be a whole number, not \(field.value.words)")
          }
          decimals = count
        case "second":
          guard case .object(let fields) = field.value else {
            throw ValueFault("\(owner): \(key) is to be an object, not \(field.value.words)")
          }
          second = fields
        default:
          guard case .text(let text) = field.value else {
            throw ValueFault("\(owner): \(key) is to be a text, not \(field.value.words)")
          }
          texts[field.name] = text
        }
      }
    }
  }

  private static func rule(_ fields: [DocumentValue.Field], number: Int) throws(ValueFault) -> MeasureRule {
    let read = try RuleFields(fields, keys: ruleKeys, of: "rule \(number)")
    let texts = read.texts
    for key in ["name", "prefix", "pattern", "measure"] where texts[key] == nil {
      throw ValueFault("rule \(number) has no '\(key)'; add it")
    }
    let second = try read.second.map { (fields) throws(ValueFault) in try secondValue(fields, ofRule: number) }
    do {
      return try MeasureRule(
        name: texts["name", default: ""], prefix: texts["prefix", default: ""], pattern: texts["pattern", default: ""],
        measure: texts["measure", default: ""], decimals: read.decimals, unit: texts["unit"],
        currency: texts["currency"], innerCheck: texts["innerCheck"], second: second)
    } catch { throw ValueFault("\(error)") }
  }

  private static func secondValue(
    _ fields: [DocumentValue.Field], ofRule number: Int
  ) throws(ValueFault) -> MeasureRule.SecondValue {
    let read = try RuleFields(fields, keys: secondKeys, of: "'second' of rule \(number)")
    guard let measure = read.texts["measure"] else {
      throw ValueFault("'second' of rule \(number) has no 'measure'; add it")
    }
    do {
      return try MeasureRule.SecondValue(
        measure: measure, decimals: read.decimals, unit: read.texts["unit"], currency: read.texts["currency"])
    } catch { throw ValueFault("'second' of rule \(number): \(error)") }
  }
}

extension DocumentValue {
  /// The number, if it is whole.
  fileprivate var wholeNumber: Int? {
    switch self {
    case .integer(let value): Int(exactly: value)
    case .unsigned(let value): Int(exactly: value)
    case .double(let value): Int(exactly: value)
    default: nil
    }
  }

  /// The elements of a list. A text stands for a list of itself.
  func list(of what: String) throws(ValueFault) -> [DocumentValue] {
    switch self {
    case .array(let elements): return elements
    case .text: return [self]
    default: throw ValueFault("write a list of \(what), not \(words)")
    }
  }

  /// The value as JSON on one line that cannot control a terminal; its beginning if it is long.
  var words: String {
    let json = json
    let beginning = String(json.unicodeScalars.prefix(60))
    return TerminalText.escaped(beginning) + (json.unicodeScalars.count > 60 ? "…" : "")
  }
}
