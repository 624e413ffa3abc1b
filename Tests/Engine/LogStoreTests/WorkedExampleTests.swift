import Foundation
import LogStore
import StoreTestSupport
import Testing

/// Ties FORMAT.md to the code: the store that it shows byte by byte is the one that is written here.
@Suite(.disabled(if: testsAreSealed, "the example is in clear")) struct WorkedExampleTests {
  private static let begin = "<!-- begin of the generated example -->"
  private static let end = "<!-- end of the generated example -->"

  private static func example() throws -> [UInt8] {
    let store = TestStore()
    let writer = try store.writer(Schema([TestSchema.plainItems]))
    _ = try writer.commit { transaction in
      try transaction.put("a1", "6901", shared: ["Gree"], body: "indoor")
      for id in 2...6 { try transaction.put("a\(id)", "6902", shared: ["Gree", ""], body: "unit") }
      transaction.state = Array("first".utf8)
    }
    _ = try writer.commit { transaction in
      try transaction.put("a1", "", body: "new")
      try transaction.delete(TestSchema.id, "a2")
      transaction.state = Array("second".utf8)
    }
    return store.log
  }

  private static var document: URL {
    URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
        "FORMAT.md")
  }

  @Test func `the example in the document is what the code writes`() throws {
    let dump = try LogDump(Self.example()).lines.dropFirst().joined(separator: "\n")
    let expected = "\n\n```\n\(dump)\n```\n\n"
    var text = try String(contentsOf: Self.document, encoding: .utf8)
    let first = try #require(text.range(of: Self.begin)).upperBound
    let last = try #require(text.range(of: Self.end)).lowerBound
    if ProcessInfo.processInfo.environment["SHELFMARK_RECORD"] == "1" {
      text.replaceSubrange(first..<last, with: expected)
      try text.write(to: Self.document, atomically: true, encoding: .utf8)
      return
    }
    #expect(text[first..<last] == expected, "set SHELFMARK_RECORD=1 to write the example again")
  }
}
