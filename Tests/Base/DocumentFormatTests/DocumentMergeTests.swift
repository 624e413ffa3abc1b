import Bytes
import DocumentFormat
import Foundation
import RandomTestSupport
import Testing

@Suite struct DocumentMergeTests {
  private func merged(_ old: String, _ known: String, _ new: String) throws -> String {
    func bytes(_ json: String) throws -> [UInt8] { try DocumentValue(json: json).documentBytes }
    let merged = try DocumentMerge.keepingUnknownFields(old: bytes(old), oldAsKnown: bytes(known), new: bytes(new))
    return try DocumentValue(documentBytes: merged.rawSpan).json
  }

  @Test(arguments: [
    (#"{"a":1,"x":9}"#, #"{"a":1}"#, #"{"a":2}"#, #"{"a":2,"x":9}"#),
    // A known field that is gone was taken away on purpose.
    (#"{"a":1,"b":2,"x":9}"#, #"{"a":1,"b":2}"#, #"{"a":1}"#, #"{"a":1,"x":9}"#),
    (
      #"{"u":{"a":1,"x":[1]},"y":2}"#, #"{"u":{"a":1}}"#, #"{"u":{"a":3},"n":1}"#, #"{"u":{"a":3,"x":[1]},"n":1,"y":2}"#
    ),
    (#"{"u":{"a":1,"x":1}}"#, #"{"u":{"a":1}}"#, #"{}"#, #"{}"#), (#"{"x":1}"#, "{}", #"{"x":2}"#, #"{"x":2}"#),
    (
      #"{"l":[{"a":1,"x":1},{"a":2}]}"#, #"{"l":[{"a":1},{"a":2}]}"#, #"{"l":[{"a":5},{"a":6}]}"#,
      #"{"l":[{"a":5,"x":1},{"a":6}]}"#
    ),
    (
      #"{"l":[{"a":1,"x":1}],"y":0}"#, #"{"l":[{"a":1}]}"#, #"{"l":[{"a":5},{"a":6}]}"#,
      #"{"l":[{"a":5},{"a":6}],"y":0}"#
    ),
    (#"{"u":{"x":1}}"#, #"{"u":{}}"#, #"{"u":5}"#, #"{"u":5}"#), ("[1]", "[1]", "[2]", "[2]"),
    (#"{"b":1,"a":2}"#, #"{"a":2,"b":1}"#, #"{"b":3}"#, #"{"b":3}"#),
  ])
  func `fields that this program does not know are kept`(old: String, known: String, new: String, expected: String)
    throws
  {
    #expect(try merged(old, known, new) == expected)
  }

  @Test func `more fields than a short head counts`() throws {
    func document(_ range: Range<Int>) -> [UInt8] {
      DocumentValue.object(range.map { .init("f\($0)", .integer(Int64($0))) }).documentBytes
    }
    let merged = try DocumentMerge.keepingUnknownFields(
      old: document(0..<40), oldAsKnown: document(0..<20), new: document(0..<20))
    #expect(merged == document(0..<40))
  }

  /// The newer program's fields are those whose names begin with `x`; the older one drops them, and the merge brings
  /// them back.
  @Test func `a document that was read and written again is the same`() throws {
    var random = RandomDocuments(for: "merge")
    for _ in 0..<(1000 * depth) {
      let old = random.object()
      let unknown = Set((0..<random.int(0..<4)).map { _ in random.pick(RandomDocuments.names) })
      let known = dropping(unknown, old)
      let (oldBytes, knownBytes) = (old.documentBytes, known.documentBytes)
      let merged = try DocumentMerge.keepingUnknownFields(old: oldBytes, oldAsKnown: knownBytes, new: knownBytes)
      #expect(try DocumentValue(documentBytes: merged.rawSpan) == old, "\(old.json) \(unknown)")
      if known == old { #expect(merged == knownBytes) }
    }
  }

  private func dropping(_ names: Set<String>, _ value: DocumentValue) -> DocumentValue {
    switch value {
    case .object(let fields):
      .object(fields.filter { !names.contains($0.name) }.map { .init($0.name, dropping(names, $0.value)) })
    case .array(let elements): .array(elements.map { dropping(names, $0) })
    default: value
    }
  }
}
