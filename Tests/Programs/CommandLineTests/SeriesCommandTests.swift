import Foundation
import Testing

/// Recorded answers of a server, replayed on every way that leads into the catalogue.
@Suite struct SeriesCommandTests {
  struct Step {
    var number: Int
    var request: String
    var response: URL
    /// The answer to the second request, where the first one is too large for an increment.
    var fullResponse: URL?
    var products: Int
    var relations: Int
    var cursor: String
    var sha256: String
  }

  enum Way: CaseIterable { case apply, file, server }

  static let steps: [Step] = ((try? Fixture.json("series/series.json"))?.objects("steps") ?? []).map { step in
    let expect = step.object("expect")
    return Step(
      number: step.number("n") ?? -1, request: step.text("request") ?? "",
      response: Fixture.url("series/" + (step.text("response") ?? "")),
      fullResponse: step.text("full_response").map { Fixture.url("series/" + $0) },
      products: expect.number("products") ?? -1, relations: expect.number("relations") ?? -1,
      cursor: expect.text("updateTime") ?? "", sha256: expect.text("sha256") ?? "")
  }

  @Test func `the series is there`() {
    #expect(Self.steps.count == 14)
    #expect(Self.steps.count { $0.fullResponse != nil } == 1)
  }

  @Test(arguments: Way.allCases) func `the series leads to the expected dump at every step`(way: Way) throws {
    let root = try TestRoot(answers: [])
    let server = way == .server ? try HTTPServer(Self.script()) : nil
    for step in Self.steps {
      switch way {
      case .apply: try apply(step, to: root)
      case .file: try takeFiles(of: step, into: root)
      case .server: try synchronize(step, root, with: try #require(server))
      }
      let dump = try root.dump()
      let statistics = try root.run("stat", "--json").object()
      #expect(statistics.number("products") == step.products, "step \(step.number)")
      #expect(statistics.number("relations") == step.relations, "step \(step.number)")
      #expect(statistics.text("cursor") == step.cursor, "step \(step.number)")
      #expect(statistics.number("sequence") == step.number + 1, "step \(step.number)")
      let file = try root.folder.file("dump", dump)
      let digest = try Fixture.tool("{ \(Self.canonical) } | sha256sum", file.path)
      #expect(String(decoding: digest.prefix(64), as: UTF8.self) == step.sha256, "step \(step.number)")
    }
    let file = try root.folder.file("dump", root.dump())
    let final = try Fixture.tool("gzip -dc \"$1\"", Fixture.url("series/final.state.ndjson.gz").path)
    #expect(try Fixture.tool(Self.canonical, file.path) == final)
    if let server {
      let times = Self.steps.flatMap { $0.fullResponse == nil ? [$0.request] : [$0.request, ""] }
      let lines = times.map { time in
        let value = time.replacing(" ", with: "%20").replacing(":", with: "%3A")
        return "GET /catalogue?updateTime=\(value) HTTP/1.1"
      }
      #expect(server.requests.map { $0.replacing("+", with: "%20") } == lines)
    }
  }

  private func apply(_ step: Step, to root: TestRoot) throws {
    let mode = step.request.isEmpty || step.fullResponse != nil ? "full" : "incremental"
    let options = step.fullResponse == nil ? ["apply"] : ["apply", "--full"]
    let run = try root.run(options + [(step.fullResponse ?? step.response).path])
    #expect(run.code == 0, "step \(step.number): \(run.words)")
    let sequence = step.number + 1
    #expect(run.lines == ["begin \(sequence)", "committed \(sequence) \(mode) \(step.cursor)"])
  }

  private func takeFiles(of step: Step, into root: TestRoot) throws {
    let first = try root.run("sync", "--from", step.response.path, "--json")
    guard let fullResponse = step.fullResponse else {
      #expect(first.code == 0, "step \(step.number): \(first.words)")
      let report = try first.object()
      #expect(report.text("mode") == (step.request.isEmpty ? "full" : "incremental"), "step \(step.number)")
      #expect(report.text("cursor") == step.cursor, "step \(step.number)")
      return
    }
    #expect(first.code == 65)
    #expect(first.output.isEmpty)
    #expect(first.words.contains("full update"))
    #expect(try root.cursor() == step.request)
    let second = try root.run("sync", "--full", "--from", fullResponse.path, "--json")
    #expect(second.code == 0, "step \(step.number): \(second.words)")
    #expect(try second.object().text("mode") == "full")
  }

  private func synchronize(_ step: Step, _ root: TestRoot, with server: HTTPServer) throws {
    let run = try root.run("sync", "--url", server.url, "--json", "--attempts", "1")
    #expect(run.code == 0, "step \(step.number): \(run.words)")
    let isFull = step.request.isEmpty || step.fullResponse != nil
    #expect(try run.object().text("mode") == (isFull ? "full" : "incremental"), "step \(step.number)")
  }

  private static func script() throws -> [HTTPServer.Answer] {
    try steps.flatMap { step in
      try [step.response, step.fullResponse].compactMap { $0 }.map { .init(body: try Data(contentsOf: $0)) }
    }
  }

  /// Makes of a dump what the series has the digests of: other braces around the rows, and relations sorted as text.
  private static let canonical = #"""
    sed -n 's/^{"type":"product",\(.*\)/{"p":{\1}/p' "$1"; \
    sed -n 's/^{"type":"relation",\(.*\)/{"r":{\1}/p' "$1" | LC_ALL=C sort;
    """#
}
