import Foundation
import Testing

/// Payloads whose handling is a decision.
@Suite struct EdgeCommandTests {
  static let names = ((try? Fixture.json("edge/edge.json"))?.objects("cases") ?? []).compactMap { $0.text("name") }

  @Test func `the cases are there`() { #expect(Self.names.count == 9) }

  @Test(arguments: names) func `an edge case ends as the reference says`(name: String) throws {
    let cases = try Fixture.json("edge/edge.json").objects("cases")
    let edge = try #require(cases.first { $0.text("name") == name })
    let files = (edge["has_start"] as? Bool == true ? ["start", "next"] : ["next"]).map {
      Fixture.url("edge/\(name).\($0).json")
    }
    let root = try TestRoot(answers: [])
    let run = try root.apply(files)
    #expect(run.code == 0, "\(run.words)")
    let reference = edge.object("reference")
    #expect(
      try rows(root.run("dump", "--products").objects()) == rows(reference.objects("products")))
    #expect(
      try rows(root.run("dump", "--relations").objects()) == rows(reference.objects("relations")))
  }

  /// Rows as JSON with sorted keys, sorted.
  private func rows(_ objects: [[String: Any]]) throws -> [String] {
    try objects.map { object in
      let row = object.filter { $0.key != "type" }
      return String(decoding: try JSONSerialization.data(withJSONObject: row, options: .sortedKeys), as: UTF8.self)
    }.sorted()
  }
}
