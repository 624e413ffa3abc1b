import Foundation
import Testing

/// One row of `scans-sample.tsv`: the columns that a decoder determines, and what the matcher must then find.
struct SampleScan: Sendable, CustomTestStringConvertible {
  let number: Int
  let scan: String
  let aim: String
  let payload: String
  let kind: String
  let gtin14: String
  let check: String
  let ais: String
  /// The step of matching that finds the product in the sample's catalogue.
  let match: String
  /// The barcode of the catalogue that is found; several of them are joined by `|`.
  let barcode: String
  /// A different reading can be defended.
  let isAmbiguous: Bool

  var testDescription: String { "row \(number)" }

  static let all: [SampleScan] = load()

  private static func load() -> [SampleScan] {
    // Where the folder ends up depends on how the manifest names it.
    let folders = ["Resources", nil]
    let address = folders.lazy.compactMap {
      Bundle.module.url(forResource: "scans-sample", withExtension: "tsv", subdirectory: $0)
    }.first
    guard let address, let table = try? String(contentsOf: address, encoding: .utf8) else { return [] }
    let lines = table.split(separator: "\n")
    let names = lines[0].split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    return lines.dropFirst().map { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      let row = Dictionary(uniqueKeysWithValues: zip(names, fields))
      return SampleScan(
        number: Int(row["n"]!)!,
        scan: unquoted(row["scan"]!),
        aim: row["aim"]!,
        payload: unquoted(row["payload"]!),
        kind: row["kind"]!,
        gtin14: row["gtin14"]!,
        check: row["check"]!,
        ais: unquoted(row["ais"]!),
        match: row["match"]!,
        barcode: unquoted(row["barcode"]!),
        isAmbiguous: row["ambiguous"] == "1"
      )
    }
  }

  /// The text of a JSON string literal.
  private static func unquoted(_ literal: String) -> String {
    try! JSONDecoder().decode(String.self, from: Data(literal.utf8))
  }
}
