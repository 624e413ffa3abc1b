import Barcodes
import CatalogSources
import JSONFormat
import RowFiles
import TextFormat

/// What an import says of the barcodes of its rows, or of their further codes: how many of each kind there are, where
/// the first is, and what mends it.
struct BarcodeTable {
  /// What the texts are, and where a mapping says what they mean.
  private enum Texts: Equatable {
    /// The barcodes of products.
    case barcodes
    /// Codes from a table of their own, as `codesFrom` reads it.
    case table(MappingFile.CodesFrom)
    /// Codes of products, as the entries of `codes` take them.
    case entries
    /// Codes whose rows no mapping changes.
    case rows

    var name: String { self == .barcodes ? "barcode" : "code" }
  }

  private let texts: Texts
  private let health: BarcodeHealth
  /// The rule of the mapping, or the columns that were recognised.
  private let rule: RowMapping.Rule

  /// - Parameters:
  ///   - health: What was counted.
  ///   - columns: The columns, and the fields that they fill.
  init(_ health: BarcodeHealth, _ columns: [RowColumnUse], _ mapping: RowMapping) {
    self.health = health
    texts = .barcodes
    let found = columns.filter { $0.fields.contains("barcode") && !$0.isAbsent }.map(\.name)
    rule = mapping.rules[.barcode] ?? RowMapping.Rule(columns: found)
  }

  /// Creates a table of further codes.
  ///
  /// - Parameters:
  ///   - health: What was counted.
  ///   - map: The mapping.
  ///   - isTable: Whether they are from a file of their own.
  init(codes health: BarcodeHealth, _ map: MappingFile, isTable: Bool) {
    self.health = health
    rule = RowMapping.Rule(columns: [])
    if isTable {
      texts = .table(map.codesFrom ?? MappingFile.CodesFrom())
    } else {
      texts = map.mapping.codes.isEmpty ? .rows : .entries
    }
  }

  /// The counts of further codes for programs: those of all files together; none if there are no codes.
  static func fields(ofCodes all: [BarcodeHealth]) -> [(String, JSONText)] {
    if all.allSatisfy({ $0.total == 0 }) { return [] }
    let unscannable = all.reduce(0) { $0 + $1.unscannable.values.reduce(0) { $0 + $1.count } }
    return [
      (
        "codeTexts",
        .object(
          WrittenCode.State.allCases.filter { $0 != .none }.map { state in
            (state.rawValue, .int(all.reduce(0) { $0 + $1[state] }))
          })
      ), ("unscannableCodes", .int(unscannable)),
    ]
  }

  /// The counts for programs.
  var fields: [(String, JSONText)] {
    [
      ("barcodes", .object(WrittenCode.State.allCases.map { ($0.rawValue, .int(health[$0])) })),
      ("unscannable", .int(health.unscannable.values.reduce(0) { $0 + $1.count })),
    ]
  }

  /// Tells people, on standard error, so that programs can read the report.
  func say(_ name: String) {
    if health.total == 0 { return }
    var table = Table(texts.name + "s", ">rows", "first", "such as", "mended by")
    for state in WrittenCode.State.allCases {
      guard health[state] > 0, let first = health.first(state) else { continue }
      table.add(
        Self.words(state), Quantity.count(health[state]), Self.position(first), Table.cell(first.text, limit: 32),
        remedy(state, first.text))
    }
    Console.say("catalogctl: \(name): its \(texts.name)s")
    for line in table.lines { Console.say("  " + line) }
    sayStep()
    for reason in Scan.Unscannable.allCases {
      guard let (count, first) = health.unscannable[reason] else { continue }
      Console.say(
        "catalogctl: \(name): \(Quantity.of(count, texts.name)) that no scan can find: \(reason.rawValue) (first on"
          + " \(Self.position(first)): \(TerminalText.escaped(first.text, marked: "'"))); \(Self.remedy(reason))")
    }
  }

  private static func position(_ first: BarcodeHealth.First) -> String {
    "line \(first.line)" + (first.element.map { ", row \($0)" } ?? "")
  }

  private static func words(_ state: WrittenCode.State) -> String {
    switch state {
    case .sound: "sound GTINs"
    case .lostZero: "sound with the zeros that were lost in front"
    case .exponent: "with an exponent"
    case .decorated: "with .0, an apostrophe, blanks, hyphens, or #N/A"
    case .several: "several in one cell"
    case .wrongCheckDigit: "with a wrong check digit"
    case .text: "other texts"
    case .none: "none"
    }
  }

  private func remedy(_ state: WrittenCode.State, _ first: String) -> String {
    let place =
      switch texts {
      case .barcodes: ""
      case .table: " of codesFrom"
      case .entries: " of codes"
      case .rows: ""
      }
    let step =
      texts == .rows ? "the program that wrote them: no mapping changes rows of codes" : "the step gtin" + place
    return switch state {
    case .sound, .none: "–"
    case .lostZero, .decorated: step
    case .exponent:
      WrittenCode(first).gtin == nil ? "an export of the cells as texts: digits are lost" : step
    case .several:
      if texts == .rows {
        step
      } else if texts != .barcodes, uncuttable == nil {
        "split \(Self.quoted(separator))\(place)"
      } else if let other = uncuttable {
        "whoever wrote them: split \(Self.quoted(separator)) would also cut \(other.onOneLine)"
      } else {
        "codes with split \(Self.quoted(separator)), which keeps them all"
      }
    case .wrongCheckDigit: "whoever wrote them: compare with the labels"
    case .text: "–, if labels have these texts"
    }
  }

  /// The separator of the first cell with several codes.
  private var separator: String {
    health.first(.several).flatMap { WrittenCode.separator(of: $0.text) }.map(String.init) ?? ";"
  }

  /// Another text of the column that ``separator`` would cut although it is no list of codes; `nil` if there is none.
  private var uncuttable: String? { separator.first.flatMap { health.separated[$0] } }

  /// Shows the rule of a mapping that mends what can be mended.
  private func sayStep() {
    if case .table(let from) = texts { return sayStep(of: from) }
    if rule.columns.isEmpty { return }
    if health[.several] > 0, uncuttable == nil {
      let codes = RowMapping.CodeRule(columns: rule.columns, split: separator, steps: [.gtin])
      Console.say(
        "  in a mapping (--map), the first code of a cell as the barcode and the others as codes: \"codes\":"
          + " [\(MappingFile.json(codes).text)]")
    }
    guard health[.lostZero] + health[.decorated] > 0 else { return }
    var better = rule
    if !better.steps.contains(.gtin) { better.steps.append(.gtin) }
    if better == rule { return }
    Console.say("  in the fields of a mapping (--map): \"barcode\": \(MappingFile.json(better).text)")
  }

  /// Shows what a mapping says of a table of codes to mend what can be mended.
  private func sayStep(of from: MappingFile.CodesFrom) {
    var map = MappingFile()
    var better = from
    if health[.several] > 0, uncuttable == nil { better.table.split = (better.table.split ?? "") + separator }
    let isMended = health[.lostZero] + health[.decorated] > 0
    if isMended, !better.table.steps.contains(.gtin) { better.table.steps.append(.gtin) }
    if better == from { return }
    map.codesFrom = better
    Console.say("  in a mapping (--map), for this table: \(map.textOfCodes)")
  }

  private static func quoted(_ text: String) -> String { JSONText.text(text).text }

  private static func remedy(_ reason: Scan.Unscannable) -> String {
    switch reason {
    case .address: "take the code out of it with a step capture of a mapping"
    case .symbologyIdentifier: "take it away with a step capture of a mapping: {\"capture\": \"^...(.*)\"}"
    case .length: "no symbol holds it; take another column"
    case .lineEnd: "split \"\\n\" in a mapping takes the first line"
    case .invisible: "a step capture of a mapping takes the visible part: {\"capture\": \"[!-~]+\"}"
    case .other: "'catalogctl explain' shows how it is read"
    }
  }
}

extension JSONText {
  fileprivate var text: String { String(decoding: bytes, as: UTF8.self) }
}
