import Foundation
import Testing

@testable import Barcodes

/// The tables of Documentation/Scanning.md are those of the program. The tests write one file, so they take turns.
@Suite(.serialized) struct ScanningPageTests {
  private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Documentation/Scanning.md")

  @Test func `every application identifier is in the table of names`() throws {
    let rows = ApplicationIdentifier.all.map { identifier in
      let name = identifier.type == .internal ? "internal.*identifier*" : identifier.name
      let words = Self.words(identifier)
      return "| \(identifier.range) | \(identifier.title) | `\(name)` | \(words) | `\(identifier.format)` |"
    }
    try compare(rows, withTableAfter: "<!-- application identifiers")
  }

  @Test func `every data identifier is in the table of names`() throws {
    let rows = DataIdentifier.table.map { identifier in
      "| \(identifier.identifier) | \(identifier.title) | `\(identifier.name)` | \(Self.words(identifier.type)) |"
    }
    try compare(rows, withTableAfter: "<!-- data identifiers")
  }

  @Test func `every kind of code is on the page`() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    for kind in CodeKind.allCases { #expect(text.contains("`\(kind.rawValue)`"), "\(kind)") }
  }

  /// Compares the rows of a table. With `SHELFMARK_RECORD=1` it is written instead.
  private func compare(_ rows: [String], withTableAfter marker: String) throws {
    var lines = try String(contentsOf: Self.page, encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    let start = try #require(lines.firstIndex { $0.hasPrefix(marker) }) + 3
    let end = lines[start...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
    if ProcessInfo.processInfo.environment["SHELFMARK_RECORD"] == "1", Array(lines[start..<end]) != rows {
      lines.replaceSubrange(start..<end, with: rows)
      try lines.joined(separator: "\n").write(to: Self.page, atomically: true, encoding: .utf8)
    } else {
      #expect(Array(lines[start..<end]) == rows)
    }
  }

  private static func words(_ identifier: ApplicationIdentifier) -> String {
    switch identifier.type {
    case .text, .url, .internal: "text"
    case .encoded: "text, decoded"
    case .number: "number"
    case .percent: "number, percent"
    case .flag: "yes or no"
    case .date: "date"
    case .dates: "date, or an object: `from`, `to`"
    case .dateTime: "date and time"
    case .measure(let unit), .temperature(let unit): "quantity in \(unit)"
    case .money: "money"
    case .currencyMoney: "money with currency"
    case .country: "country"
    case .countries: "list of countries"
    case .countryAndPostalCode: "an object: `country`, `postalCode`"
    case .countryAndText: "an object: `country`, `id`"
    case .certificate: "an object: `scheme`, `reference`"
    case .position: "an object: `latitude`, `longitude`"
    case .piece: "an object: `gtin`, `piece`, `total`"
    case .roll: "an object: `width`, `length`, `coreDiameter`, `winding`, `splices`"
    }
  }

  private static func words(_ type: LabelValueType) -> String {
    switch type {
    case .text, .gtin, .ppn: "text"
    case .number: "number"
    case .numberAndUnit: "quantity"
    case .quantity(let unit): "quantity in \(unit)"
    case .money: "money with currency"
    case .pieceOfTotal: "an object: `piece`, `total`"
    case .date, .qualifiedDate: "date"
    case .dateTime: "date and time"
    case .country: "country"
    }
  }
}
