import Foundation
import Testing

/// Documentation/ScanComparison.md names a test of ours for each capability.
@Suite struct ScanComparisonTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The rows of the table of capabilities, as their cells.
  private static func rows() throws -> [[String]] {
    let page = try String(contentsOf: root.appending(path: "Documentation/ScanComparison.md"), encoding: .utf8)
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
    let head = try #require(lines.firstIndex { $0.hasPrefix("| capability |") })
    return lines[(head + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  @Test func `each capability names a test that exists`() throws {
    var functions = ""
    let tests = Self.root.appending(path: "Tests")
    let paths = try #require(FileManager.default.enumerator(atPath: tests.path))
    for case let path as String in paths where path.hasSuffix(".swift") {
      functions += try String(contentsOf: tests.appending(path: path), encoding: .utf8)
    }
    let rows = try Self.rows()
    #expect(rows.count > 20)
    for row in rows {
      #expect(row.count == 8, "\(row)")
      let name = row.last ?? ""
      #expect(functions.contains("func `\(name)`("), "there is no test '\(name)'")
    }
  }

  @Test func `each other program is answered with yes, partly, no or what is not known, and a source`() throws {
    let page = try String(contentsOf: Self.root.appending(path: "Documentation/ScanComparison.md"), encoding: .utf8)
    for row in try Self.rows() {
      for cell in row[1...6] {
        #expect(["yes", "partly", "no", "unknown"].contains { cell.hasPrefix($0) }, "\(row[0]): \(cell)")
      }
      for cell in row[2...6] {
        let note = try #require(cell.firstMatch(of: /\[([a-z][0-9]+)\]/), "\(row[0]): \(cell) has no source")
        #expect(page.contains("\n- [\(note.1)] "), "\(row[0]): the source \(note.1) is not listed")
      }
    }
  }
}
