import DocumentFormat
import Foundation
import Testing

/// The examples of the documentation, compiled and run.
@Suite struct ExampleTests {
  @Test func `the examples of the documentation do what they say`() throws {
    // Values
    let bytes = try DocumentEncoder().encode(["name": "Ada", "city": "London"])
    let decoded = try DocumentDecoder().decode([String: String].self, from: bytes)
    let value = try DocumentValue(json: #"{"id":1,"user":{"name":"Ada","tags":["x","y"]}}"#)
    let name = value["user"]?["name"]
    let json = value.json
    #expect(decoded == ["name": "Ada", "city": "London"] && name == .text("Ada"))
    #expect(json == #"{"id":1,"user":{"name":"Ada","tags":["x","y"]}}"#)

    // Fields
    let path = try FieldPath(parsing: "user.tags")
    let document = value.documentBytes
    var kinds: [DocumentKind] = []
    try DocumentView(document.rawSpan).forEachValue(at: path) { view throws(DocumentError) in
      kinds.append(try view?.kind() ?? .null)
      return true
    }
    #expect(kinds == [.text, .text])

    // Conditions
    let condition = try Condition(parsing: "user.name like 'a%' nocase && !(user.tags in ['z'])")
    let isMatch = try condition.matches(DocumentView(document.rawSpan))
    let online = try Condition(parsing: "user.isOnline && !user.isBlocked")  // a field alone means == true
    let plan = try Condition(parsing: "user.tags == 'x'").plan([IndexDescription(path)])
    let order = try Ordering(parsing: "user.name, id desc")
    let key = try order.sortKey(of: DocumentView(document.rawSpan))
    #expect(isMatch && plan.keyCount == 1 && !key.isEmpty)
    #expect(try !online.matches(DocumentView(document.rawSpan)))

    // What is not known
    let known = try DocumentValue(json: #"{"id":1}"#).documentBytes
    let changed = try DocumentValue(json: #"{"id":2}"#).documentBytes
    let merged = try DocumentMerge.keepingUnknownFields(old: document, oldAsKnown: known, new: changed)
    #expect(try DocumentValue(documentBytes: merged.rawSpan)["user"]?["name"] == .text("Ada"))
  }

  @Test func `each line of the documentation's examples is one that is compiled here`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    func lines(_ path: String) throws -> [Substring] {
      try String(contentsOf: root.appending(path: path), encoding: .utf8).split(separator: "\n")
    }
    func trimmed(_ line: Substring) -> String { line.trimmingCharacters(in: .whitespaces) }
    let compiled = Set(try lines("Tests/Base/DocumentFormatTests/ExampleTests.swift").map(trimmed))
    let shown = try lines("Sources/Base/DocumentFormat/DocumentFormat.docc/DocumentFormat.md").filter {
      $0.hasPrefix("    ")
    }
    .map(trimmed)
    #expect(shown.count > 15)
    #expect(shown.filter { !compiled.contains($0) } == [])
  }
}
