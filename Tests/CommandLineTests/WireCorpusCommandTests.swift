import Foundation
import Testing

/// Good and bad answers of a server, taken from files.
@Suite struct WireCorpusCommandTests {
  struct Case: CustomTestStringConvertible {
    var file: String
    var outcomes: [String]
    var products: Int?
    var relations: Int?
    var cursor: String?
    var testDescription: String { file }
  }

  static let cases: [Case] = ((try? Fixture.json("wire/manifest.json"))?.objects("cases") ?? []).map { entry in
    Case(
      file: entry.text("file") ?? "",
      outcomes: entry["accept"] as? [String] ?? [entry.text("expect") ?? ""],
      products: entry.number("products"), relations: entry.number("relations"), cursor: entry.text("updateTime"))
  }

  @Test func `the corpus is there`() { #expect(Self.cases.count == 47) }

  @Test(arguments: [false, true])
  func `every answer has the outcome of the manifest, and a refused one changes nothing`(onTop: Bool) throws {
    let start = try TestRoot(Fixture.url("series/00-first-full.response.json"))
    var root = try onTop ? start : TestRoot(answers: [])
    let verifier = try Conversation(["verify", "--batch"], root: root.path)
    func digest() throws -> String? {
      try verifier.say(root.path + "\n")
      return verifier.line()
    }
    var before = try (digest(), root.dump())
    for wire in Self.cases {
      let path = Fixture.url("wire/" + wire.file).path
      let run = try root.run("sync", "--from", path, "--threshold", "100000", "--json")
      #expect(run.isOrderly, "\(wire.file): \(run.words)")
      #expect(run.words.utf8.count < 1_000, "\(wire.file): \(run.words)")
      let after = try (digest(), root.dump())
      if run.code == 0 {
        #expect(wire.outcomes.contains("ok"), "\(wire.file)")
        #expect(try run.object().text("cursor") == wire.cursor, "\(wire.file)")
        if !onTop, wire.outcomes == ["ok"] {
          let statistics = try root.run("stat", "--json").object()
          #expect(statistics.number("products") == wire.products, "\(wire.file)")
          #expect(statistics.number("relations") == wire.relations, "\(wire.file)")
        }
        // The next case meets the state that this one met.
        root = try onTop ? root : TestRoot(answers: [])
        before = onTop ? after : try (digest(), root.dump())
      } else {
        #expect(run.code == 65, "\(wire.file): \(run.words)")
        #expect(wire.outcomes.contains("reject"), "\(wire.file): \(run.words)")
        #expect(run.words.contains(wire.file), "the message names the file: \(run.words)")
        #expect(run.output.isEmpty, "\(wire.file)")
        #expect(after == before, "\(wire.file)")
        #expect(after.0?.hasPrefix("ok ") == true)
      }
    }
    try verifier.hangUp()
    #expect(verifier.end() == 0)
  }
}
