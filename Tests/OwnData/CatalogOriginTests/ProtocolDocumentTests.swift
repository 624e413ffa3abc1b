import CatalogRows
import CatalogSources
import CurlClient
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import CatalogOrigin
import ServerAnswers

/// PROTOCOL.md against the code: its exchange is what the origin answers, and its tables have every field.
@Suite(.timeLimit(.minutes(10))) struct ProtocolDocumentTests {
  /// A fenced block: the words after its fence, and its lines.
  private struct Block {
    var words: [String]
    var text: String
  }

  private let text: String

  init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    text = try String(contentsOf: root.appending(path: "PROTOCOL.md"), encoding: .utf8)
  }

  /// The fenced blocks of the exchange, in their order.
  private func blocks() throws -> [Block] {
    let start = try #require(text.range(of: "## A complete exchange")).upperBound
    let parts = text[start...].components(separatedBy: "```")
    return stride(from: 1, to: parts.count, by: 2).map { index in
      let lines = parts[index].split(separator: "\n", omittingEmptySubsequences: false)
      return Block(
        words: lines[0].split(separator: " ").map(String.init), text: lines.dropFirst().joined(separator: "\n"))
    }
  }

  /// Runs an origin over two files for as long as `body` does.
  private func withOrigin(
    _ source: CatalogueSource, _ clock: OriginClock, _ body: (_ url: String, OriginStore) async throws -> Void
  ) async throws {
    let logger = LogRecorder().logger
    let store = try await OriginStore(source: source, clock: clock, logger: logger)
    var options = OriginServer.Options()
    options.port = 0
    options.watchInterval = .seconds(3_600)
    let (ports, report) = AsyncStream.makeStream(of: Int.self)
    options.onListening = { report.yield($0) }
    let server = OriginServer(store: store, options: options, logger: logger)
    let group = ServiceGroup(configuration: .init(services: [.init(service: server)], logger: logger))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      for await port in ports {
        try await body("http://127.0.0.1:\(port)", store)
        break
      }
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
  }

  /// The payload of an answer, which has to be an envelope as the page describes it.
  private func payload(of answer: [UInt8]) throws -> NSDictionary {
    let envelope = try #require(try JSONSerialization.jsonObject(with: Data(answer)) as? [String: Any])
    #expect(envelope.keys.sorted() == ["code", "data", "message"] && envelope["code"] as? Int == 1000)
    #expect(text.contains(#""message":"\#(envelope["message"] as? String ?? "")""#))
    var unpacker = try ResponseUnpacker()
    var bytes: [UInt8] = []
    try unpacker.consume(answer.span) { (chunk) throws(WireError) in
      for index in chunk.indices { bytes.append(chunk[index]) }
    }
    try unpacker.finish()
    return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
  }

  @Test func `the exchange of the page is what the origin answers`() async throws {
    let folder = try TestFolder()
    let source = CatalogueSource(
      serverRows: try folder.write("", to: "products"), relations: try folder.write("", to: "relations"),
      codes: try folder.write("", to: "codes"))
    var steps: [[Block]] = [[]]
    for block in try blocks() {
      steps[steps.count - 1].append(block)
      if block.words == ["json"] { steps.append([]) }
    }
    steps.removeLast()
    #expect(steps.count == 4, "full, increment, nothing new, codes")
    for block in steps[0] where block.words.first == "ndjson" {
      _ = try folder.write(block.text, to: block.words[1])
    }
    // 2026-03-01 10:00:00, when the files change.
    try await withOrigin(source, OriginClock { 1_772_359_200 }) { url, store in
      for (number, step) in steps.enumerated() {
        if number > 0 {
          for block in step where block.words.first == "ndjson" {
            try folder.write(block.text, to: block.words[1], atomically: true)
          }
          try await store.reloadIfChanged { _ in }
        }
        let request = try #require(step.first { $0.words == ["http"] }).text.split(separator: " ")
        #expect(request[0] == "GET" && request[2].hasPrefix("HTTP/1.1"))
        let answer = try HTTPClient(keepsConnections: false).begin(ClientRequest(url: url + request[1]))
        let body = try #require(try await answer.prefix(1 << 20, within: .seconds(600)))
        let expected = try #require(step.last).text
        let document = try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary
        #expect(try payload(of: body) == document, "step \(number + 1)")
      }
    }
  }

  /// The rows of the table after a heading: the first cell without its quotes, and the others.
  private func table(_ heading: String) throws -> [String: [String]] {
    let start = try #require(text.range(of: heading)).upperBound
    let section = text[start...].prefix { $0 != "#" }
    var rows: [String: [String]] = [:]
    for line in section.split(separator: "\n") where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      rows[cells[0].replacing("`", with: "")] = Array(cells.dropFirst())
    }
    return rows
  }

  @Test func `every field has its row, with the type and the default that the decoder has`() throws {
    let products = try table("### Fields of a product")
    #expect(products.keys.sorted() == (ProductField.allCases.map(\.key) + ["extra"]).sorted())
    for field in ProductField.allCases {
      let row = try #require(products[field.key])
      // What the decoder takes for the example is no default.
      var sink = RowCollectorOfFields()
      let example = row[3].replacing("`", with: "")
      var decoder = PayloadDecoder()
      let payload =
        #"{"appProductVOList":[{"\#(field.key)":\#(example)}],"appProductRelVOList":[],"updateTime":"t"}"#
      try decoder.consume(Array(payload.utf8).span, into: &sink)
      #expect(try decoder.finish().defaulted.total == 0, "\(field.key)")
      let type = row[0]
      #expect(type == "text" || field.text == nil, "\(field.key)")
      #expect(row[1] == Self.standard(field, type), "\(field.key)")
    }
    let relations = try table("### Fields of a relation")
    #expect(relations.keys.sorted() == RelationField.allCases.map(\.key).sorted())
    #expect(relations["groupNum"]?[1] == "`\(RelationRow().groupNum)`")
    let codes = try table("### Fields of a code")
    #expect(codes.keys.sorted() == CodeField.allCases.map(\.payloadKey).sorted())
    #expect(codes["quantity"]?[1] == "`\(CodeRow().quantity)`")
    for field in CodeField.allCases {
      var sink = RowCollector()
      let example = try #require(codes[field.payloadKey])[3].replacing("`", with: "")
      var decoder = PayloadDecoder()
      let payload =
        #"{"appProductVOList":[],"appProductRelVOList":[],"appProductCodeVOList":[{"\#(field.payloadKey)":\#(example)}],"#
        + #""updateTime":"t"}"#
      try decoder.consume(Array(payload.utf8).span, into: &sink)
      #expect(try decoder.finish().defaulted.total == 0 && sink.codes.count == 1, "\(field.key)")
    }
  }

  private static func standard(_ field: ProductField, _ type: String) -> String {
    switch type {
    case "text": "`\"\"`"
    case "boolean": "`false`"
    case "double": "`0`"
    default: field == .groupNum ? "`\(ProductRow().groupNum)`" : "`0`"
    }
  }

  private struct RowCollectorOfFields: RowSink {
    mutating func product(_ row: borrowing ProductRow) {}
    mutating func relation(_ row: borrowing RelationRow) {}
    mutating func code(_ row: borrowing CodeRow) {}
  }

  @Test func `the limits of the page are those of the decoder`() {
    let limits = WireLimits()
    for (value, words) in [
      (limits.cursorByteCount, "1,024 bytes"), (limits.nestingDepth, "512 levels"),
      (limits.tokenByteCount >> 20, "64 MiB"),
      (limits.unpackedByteCount >> 20, "256 MiB"), (limits.absoluteByteCount >> 30, "16 GiB"),
      (limits.rowCount, "1,000,000 rows"), (limits.absoluteRowCount, "50,000,000 rows"),
    ] {
      let number = words.split(separator: " ")[0].replacing(",", with: "")
      #expect(Int(number) == value && text.contains("| \(words)"), "\(words)")
    }
  }
}
