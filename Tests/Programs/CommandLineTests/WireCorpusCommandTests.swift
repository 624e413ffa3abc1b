import Foundation
import Testing

/// Good and bad answers of a server, taken from files.
@Suite struct WireCorpusCommandTests {
  struct Case: CustomTestStringConvertible {
    var file: String
    var outcomes: [String]
    var products: Int?
    var relations: Int?
    var codes: Int
    var cursor: String?
    var testDescription: String { file }
  }

  static let cases: [Case] = ((try? Fixture.json("wire/manifest.json"))?.objects("cases") ?? []).map { entry in
    Case(
      file: entry.text("file") ?? "",
      outcomes: entry["accept"] as? [String] ?? [entry.text("expect") ?? ""],
      products: rows(entry, "products"), relations: entry.number("relations"), codes: entry.number("codes") ?? 0,
      cursor: entry.text("updateTime"))
  }

  /// How many rows the catalogue has afterwards: of those with one id, the last one.
  private static func rows(_ entry: [String: Any], _ kind: String) -> Int? {
    let decoded = entry.object("decoded").objects(kind)
    return decoded.isEmpty ? entry.number(kind) : Set(decoded.map { $0.text("id") }).count
  }

  @Test func `the corpus is there`() { #expect(Self.cases.count == 55) }

  @Test func `every answer into an empty catalogue has the outcome of the manifest`() throws {
    let root = try TestRoot()
    for (index, wire) in Self.cases.enumerated() {
      let user = ["--user", "u\(index)"]
      let run = try root.run(command(wire) + user)
      check(run, wire)
      if run.code == 0 {
        let statistics = try root.run(["stat", "--json"] + user).object()
        #expect(statistics.text("cursor") == wire.cursor, "\(wire.file)")
        #expect(statistics.number("products") == wire.products, "\(wire.file)")
        #expect(statistics.number("relations") == wire.relations, "\(wire.file)")
        let codes = try root.run(["dump"] + user).lines.filter { $0.hasPrefix(#"{"type":"code""#) }
        #expect(codes.count == wire.codes, "\(wire.file)")
      } else {
        let dump = try root.run(["dump"] + user)
        #expect(dump.code == 0 && dump.output.isEmpty, "\(wire.file)")
      }
    }
    let users = try root.run("users", "--json")
    #expect(try users.objects().count == Self.cases.count)
  }

  @Test func `a refused answer on top of a catalogue changes nothing`() throws {
    let root = try TestRoot(answers: [])
    var start = Payload.products(50)
    for index in 1..<50 { start.relation("p0", "p\(index)") }
    #expect(try root.apply([root.payload(start)]).code == 0)
    let verifier = try Conversation(["verify", "--batch"], root: root.path)
    func digest() throws -> String? {
      try verifier.say(root.path + "\n")
      return verifier.line()
    }
    var before = try (digest(), root.dump())
    for wire in Self.cases {
      let run = try root.run(command(wire))
      check(run, wire)
      if run.code == 0 {
        before = try (digest(), root.dump())
      } else {
        #expect(try digest() == before.0, "\(wire.file)")
        #expect(try root.dump() == before.1, "\(wire.file)")
      }
      #expect(before.0?.hasPrefix("ok ") == true, "\(wire.file)")
    }
    try verifier.hangUp()
    #expect(verifier.end() == 0)
  }

  private func command(_ wire: Case) -> [String] {
    ["sync", "--from", Fixture.url("wire/" + wire.file).path, "--threshold", "100000", "--json"]
  }

  /// Checks what a run said and how it ended.
  private func check(_ run: ProgramRun, _ wire: Case) {
    #expect(run.isOrderly, "\(wire.file): \(run.words)")
    #expect(run.words.utf8.count < 1_000, "\(wire.file): \(run.words)")
    if run.code == 0 {
      #expect(wire.outcomes.contains("ok"), "\(wire.file)")
      #expect(throws: Never.self) { try run.object() }
    } else {
      #expect(run.code == 65, "\(wire.file): \(run.words)")
      #expect(wire.outcomes.contains("reject"), "\(wire.file): \(run.words)")
      #expect(run.words.contains(wire.file), "\(run.words)")
      #expect(run.output.isEmpty, "\(wire.file)")
    }
  }
}
