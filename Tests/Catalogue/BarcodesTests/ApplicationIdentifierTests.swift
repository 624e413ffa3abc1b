import Foundation
import Testing

@testable import Barcodes

/// The table of application identifiers.
@Suite struct ApplicationIdentifierTests {
  /// The Syntax Dictionary of GS1, where it lies beside the project.
  private static let dictionary = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(
      path: "shared/data/gs1/gs1-syntax-dictionary.txt")

  private struct Row: Equatable {
    var range: Substring
    var flags: Substring
    var format: String
    var key: Substring?
    var title: String
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: dictionary.path)))
  func `the table agrees with the Syntax Dictionary of GS1`() throws {
    let text = try String(contentsOf: Self.dictionary, encoding: .utf8)
    let rows = text.split(separator: "\n").compactMap { Self.row($0) }
    #expect(rows.count > 200)
    #expect(rows.map(\.range) == ApplicationIdentifier.all.map { Substring($0.range) })
    for (row, identifier) in zip(rows, ApplicationIdentifier.all) {
      let label = Comment(rawValue: identifier.range)
      #expect(row.format == identifier.format, label)
      #expect(row.flags.contains("*") == identifier.isPredefined, label)
      #expect(row.flags.contains("?") == identifier.isLinkAttribute, label)
      let qualifiers = identifier.linkQualifiers.map { $0.map { $0.joined(separator: ",") }.joined(separator: "|") }
      #expect(row.key.map(String.init) == qualifiers, label)
      if !row.title.isEmpty { #expect(row.title == identifier.title, label) }
    }
  }

  /// Reads a line of the dictionary; `nil` for a comment.
  private static func row(_ line: Substring) -> Row? {
    guard line.first?.isNumber == true else { return nil }
    let halves = line.split(separator: "#", maxSplits: 1)
    var words = halves[0].split(separator: " ")
    let range = words.removeFirst()
    let flags = words[0].allSatisfy { "*?".contains($0) } ? words.removeFirst() : ""
    let format = words.prefix { !$0.contains("=") && $0 != "dlpkey" }
    let key = words.first { $0.hasPrefix("dlpkey") }.map { $0 == "dlpkey" ? "" : $0.dropFirst("dlpkey=".count) }
    let checks = format.joined(separator: " ").replacing(",gcppos1", with: "").replacing(",gcppos2", with: "")
    // The dictionary gives some rows no title, and (8110) and (8112) none either.
    let title = halves.count > 1 ? halves[1].trimmingCharacters(in: .whitespaces) : ""
    return Row(range: range, flags: flags, format: checks, key: key, title: title == "INTERNAL" ? "INTERNAL" : title)
  }

  @Test func `each identifier is found by its digits, and no other`() throws {
    var count = 0
    for identifier in ApplicationIdentifier.all {
      for number in identifier.first...identifier.last {
        let digits = String(repeating: "0", count: identifier.digitCount - String(number).count) + String(number)
        #expect(try #require(ApplicationIdentifier(digits)).title == identifier.title)
        count += 1
      }
    }
    #expect(count > 500)
    for text in ["", "0", "05", "018", "3106", "31", "999", "1A", "8888", "00000", "٠١"] {
      #expect(ApplicationIdentifier(text) == nil)
    }
  }

  @Test func `names are in camel case, and only values of one kind share one`() {
    for identifier in ApplicationIdentifier.all {
      #expect(
        identifier.name.split(separator: ".").allSatisfy { part in
          part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } && part.first?.isUppercase == false
        })
      #expect(identifier.minimumLength <= identifier.maximumLength && identifier.maximumLength <= 90)
      #expect(identifier.leadingDigitCount <= identifier.maximumLength)
    }
  }
}
