import Catalog
import CatalogHTTP
import Foundation
import LogStore
import Testing

@Suite struct DocumentationTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let examples = root.appending(path: "Tests/DocumentationTests/Examples")

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// A directory that is gone when `body` returns.
  private func withDirectory<Result>(
    _ body: (String) async throws -> Result
  ) async throws -> Result {
    let directory = NSTemporaryDirectory() + "documentation-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try await body(directory)
  }

  private func answer() throws -> [UInt8] {
    [UInt8](try Data(contentsOf: Self.root.appending(path: "Tests/CatalogWireTests/Resources/wire/plain.response")))
  }

  @Test(arguments: try FileManager.default.contentsOfDirectory(atPath: examples.path).sorted())
  func `each example in the documentation is one that is compiled here`(file: String) throws {
    let source = try Self.text("Tests/DocumentationTests/Examples/" + file)
    let firstLine = source.prefix { $0 != "\n" }
    let page = String(firstLine.dropFirst("// The example of ".count))
    let example = source.dropFirst(firstLine.count + 1)
    let shown = try Self.text(page)
    #expect(shown.contains("```swift\n" + example + "```"), "\(page) shows something else")
  }

  @Test func `the example in the README answers scans`() async throws {
    let answer = try answer()
    try await withDirectory { directory in
      let matches = try example(
        directory: directory, answer: answer, scans: ["6910884277922", "6910884277922-A7", "1"])
      #expect(matches == ["exact: 商品 1", "head: 商品 1", "none: "])
      let location = try StoreLocation.creating(directory, name: "catalogue")
      let found = try answers(to: ["6910884277922", "6910884277922-A7"], from: location)
      #expect(found == ["0.0 kg", "head: 1"])
    }
  }

  @Test func `the example of a user's stores finds the cart and the messages`() async throws {
    try await withDirectory { directory in
      for (name, barcodes) in [("Wang", ["1", "2"]), ("Li", ["2"]), ("Ada", ["3"])] {
        let cart = Cart(id: UUID(), customer: .init(name: name), barcodes: barcodes)
        let (customers, messages) = try await visit(directory, cart, looking: "2") { page, _ in
          [Message(id: page, text: "hello")]
        }
        #expect(customers == (name == "Wang" ? ["Wang"] : ["Li", "Wang"]))
        #expect(messages.map(\.text) == ["hello"])
      }
    }
  }

  @Test func `a store remembers, and the newer text replaces the older one`() async throws {
    try await withDirectory { directory in
      for drink in ["tea", "coffee"] {
        let remembered = try remember(drink, as: "drink", in: directory)
        #expect(remembered == drink)
      }
    }
  }

  @Test func `readings are uploaded once, and those that the server refuses are parked`() async throws {
    try await withDirectory { directory in
      let readings = (1...4).map { Reading(id: $0, code: "code \($0)") }
      let counts = try await upload(readings, in: directory) { code, _ in code == "code 2" ? 422 : 201 }
      #expect(counts.delivered == 3)
      #expect(counts.parked == 1)
    }
  }

  @Test func `scans are described`() {
    #expect(describe("0078000202403") == "GTIN 00078000202403")
    #expect(describe("(01)00078000202403(21)A7") == "GTIN 00078000202403, serial number A7")
    #expect(describe(" KFR-35GW ") == "text KFR-35GW")
  }

  @Test func `rows are decoded while an answer arrives`() throws {
    let answer = try answer()
    var sink = NameCollector()
    let cursor = try decode([Array(answer.prefix(100)), Array(answer.dropFirst(100))], into: &sink)
    #expect(cursor == "2023-05-13 10:00:00")
    #expect(sink.names.first == "商品 1")
  }

  @Test func `a catalogue is synchronised from answers`() async throws {
    let answer = try answer()
    try await withDirectory { directory in
      let writer = try CatalogWriter(StoreLocation.creating(directory, name: "catalogue"))
      defer { writer.close() }
      let done = try await synchronise(writer, with: Answers(answers: ["": answer]))
      #expect(done == "full, 2023-05-13 10:00:00")
      await #expect(throws: TransportError.self) { _ = try await synchronise(writer, from: "http://[") }
    }
  }
}
