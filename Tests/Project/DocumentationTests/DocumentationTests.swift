import Barcodes
import Catalog
import CatalogHTTP
import CatalogRows
import CatalogSync
import Documents
import Foundation
import LogStore
import Logging
import RemoteLists
import ScanInputs
import ServiceLifecycle
import Synchronization
import Testing
import UploadQueue
import Workspace

@Suite struct DocumentationTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let examples = root.appending(path: "Tests/Project/DocumentationTests/Examples")

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
    [UInt8](
      try Data(contentsOf: Self.root.appending(path: "Tests/Server/ServerAnswersTests/Resources/wire/plain.response")))
  }

  @Test(arguments: try FileManager.default.contentsOfDirectory(atPath: examples.path).sorted())
  func `each example in the documentation is one that is compiled here`(file: String) throws {
    let source = try Self.text("Tests/Project/DocumentationTests/Examples/" + file)
    let firstLine = source.prefix { $0 != "\n" }
    let page = String(firstLine.dropFirst("// The example of ".count))
    let example = source.dropFirst(firstLine.count + 1)
    let shown = try Self.text(page)
    #expect(shown.contains("```swift\n" + example + "```"), "\(page) shows something else")
  }

  @Test func `the examples of the catalogue answer scans`() async throws {
    let answer = try answer()
    try await withDirectory { directory in
      let matches = try example(
        directory: directory, answer: answer, scans: ["6910884277922", "6910884277922-A7", "1"])
      #expect(matches == ["exact: 商品 1", "head: 商品 1", "none: "])
      let location = try StoreLocation.creating(directory, name: "catalogue")
      let found = try answers(to: ["6910884277922", "6910884277922-A7"], from: location)
      #expect(found == ["0.0 kg", "head: 1"])
      let snapshot = try #require(try CatalogReader.open(location)).snapshot()
      let (names, next) = try findByWords("商品 1", in: snapshot)
      #expect(names.first == "商品 1" && next == nil)
      #expect(try undoFullUpdate(at: location) == 0)
      let writer = try CatalogWriter(location)
      let before = try writer.snapshot().productCount
      _ = try writer.beginFullUpdate().commit(cursor: "wrong")
      writer.close()
      #expect(try undoFullUpdate(at: location) == before)
    }
  }

  @Test func `an observer of the catalogue reports the products of each commit`() async throws {
    let answer = try answer()
    try await withDirectory { directory in
      let location = try StoreLocation.creating(directory, name: "catalogue")
      let writer = try CatalogWriter(location)
      defer { writer.close() }
      _ = try writer.beginFullUpdate().commit(cursor: "")
      let reader = try #require(try CatalogReader.open(location))
      let (reports, reported) = AsyncStream<String>.makeStream()
      let following = Task { try await follow(reader) { reported.yield($0) } }
      var lines = reports.makeAsyncIterator()
      var update = try AnswerImport(writer, .full)
      try update.consume(answer.span)
      _ = try update.finish()
      #expect(await lines.next() == "commit 2")
      let count = try writer.snapshot().productCount
      var products: [String] = []
      while products.count < count { products.append(await lines.next() ?? "") }
      #expect(products.contains { $0.hasSuffix(" is 商品 1") })
      _ = try writer.rollback(to: 1)
      #expect(await lines.next() == "commit 3")
      #expect(await lines.next()?.hasSuffix(" is gone") == true)
      following.cancel()
      try await following.value
    }
  }

  @Test func `the example of queries describes a catalogue`() async throws {
    try await withDirectory { directory in
      try fill(StoreLocation.creating(directory, name: "catalogue"))
      let reader = try #require(try CatalogReader.open(StoreLocation.creating(directory, name: "catalogue")))
      #expect(
        try inventory(of: reader.snapshot()) == [
          "Boiler: 80.5 kg", "Lamp: 11.0 kg", "6903 has no name", "\"\": 1, at most 0.0 kg",
          "\"GREE\": 2, at most 80.5 kg",
        ])
    }
  }

  /// Fills a catalogue with three products.
  private func fill(_ location: StoreLocation) throws {
    let writer = try CatalogWriter(location)
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    var row = ProductRow()
    for (id, barcode, name, brand, weight) in [
      ("1", "6901", "Lamp", "GREE", 11), ("2", "6902", "Boiler", "GREE", 80.5), ("3", "6903", "", "", 0),
    ] {
      var product = Product()
      (product.id, product.barcode, product.name) = (id, barcode, name)
      (product.brand, product.weight, product.isSaleProduct) = (brand, weight, true)
      product.fill(&row)
      try update.product(row)
    }
    _ = try update.commit(cursor: "monday")
  }

  @Test func `the example of the README finds the product of the user who is signed in`() async throws {
    let answer = try answer()
    try await withDirectory { directory in
      let workspace = try Workspace.open(directory)
      defer { workspace.close() }
      try workspace.signIn("ana")
      #expect(try lookUp(root: directory) == [nil, nil, nil])
      let writer = try workspace.stores().catalogueWriter()
      defer { writer.close() }
      var update = try AnswerImport(writer, .full)
      try update.consume(answer.span)
      let report = try update.finish()
      #expect("\(report)".hasPrefix("full update, commit 1: "), "\(report)")
      #expect(try lookUp(root: directory) == ["商品 1", "商品 1", "商品 1"])
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

  @Test func `the examples of the page cache remember an empty answer for a while, and forget lists`() async throws {
    try await withDirectory { directory in
      let cache = try openCache(in: directory + "/cache")
      #expect(cache.options.emptyPageLifetime == .seconds(5))
      let workspace = try Workspace.open(directory + "/root")
      defer { workspace.close() }
      try workspace.signIn("ana")
      for key in ["top", "list", "other"] {
        let list = PageCache(key, in: try workspace.pages(), pageSize: 20) { _, _ in [Message(id: 1, text: "hello")] }
        _ = try await list.load()
      }
      #expect(try forget(["top", "list", "nothing"], in: workspace) == ["list", "top"])
      #expect(try forget(["top", "list"], in: workspace).isEmpty)
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

  @Test func `parcels are uploaded once, and those that the server refuses are parked`() async throws {
    try await withDirectory { directory in
      let parcels = (1...4).map { Parcel(id: $0, code: "code \($0)") }
      let counts = try await upload(parcels, in: directory) { code, _ in code == "code 2" ? 422 : 201 }
      #expect(counts.delivered == 3)
      #expect(counts.parked == 1)
    }
  }

  @Test func `uploads go over HTTP, each kind to its place, and what the server has counts as arrived`() async throws {
    try await withDirectory { directory in
      let queue = try UploadQueue(in: DocumentStore.open(StoreLocation.creating(directory, name: "documents")))
      let id = try await queue.enqueue("a", kind: "parcel", orderKey: "o")
      _ = try await queue.enqueue("b", kind: "picture", orderKey: "o")
      let (number, port) = try Peers.listen()
      defer { close(number) }
      async let requests = Peers.run { [try Peers.answer(number, with: 409), try Peers.answer(number, with: 201)] }
      let counts = try await send(queue, to: "http://127.0.0.1:\(port)", token: "t")
      #expect(counts.delivered == 2 && counts.count == 0)
      let got = try await requests
      #expect(got.map(\.line) == ["POST /uploads/parcel HTTP/1.1", "POST /uploads/picture HTTP/1.1"])
      #expect(got.first?.id == id.text)
    }
  }

  @Test func `a program gets an answer to each code that it writes to an input`() async throws {
    try await withDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let path = directory + "/in"
      let reading = Task { try await tally(device: directory + "/no-scanner", socket: path) }
      for count in 1...2 {
        let answer = try await Peers.run { try Peers.ask(#"{"code":"690"}"#, at: path) }
        #expect(answer == "{\"count\":\(count)}\n")
      }
      reading.cancel()
      _ = try? await reading.value
    }
  }

  @Test func `a daemon answers over HTTP at a socket`() async throws {
    try await withDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let serving = Task { try await serve(directory + "/root", at: directory + "/http") }
      let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r"
      let answer = try await Peers.run { try Peers.ask(request, at: directory + "/http") }
      #expect(answer.hasPrefix("HTTP/1.1 200 "))
      serving.cancel()
      _ = try? await serving.value
    }
  }

  @Test func `the example of a request for products escapes its condition, and is answered`() async throws {
    let target = productPage(where: "weight > 10 && name != '100 % + more'", offset: 0)
    #expect(
      target.hasPrefix("/v1/products?where=weight%20%3E%2010%20%26%26%20name%20%21%3D%20%27100%20%25%20%2B%20more%27&"))
    try await withDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      try fill(WorkspaceDirectory(root: directory + "/root").makeCatalogue(of: "ana"))
      let workspace = try Workspace.open(directory + "/root")
      try workspace.signIn("ana")
      workspace.close()
      let serving = Task { try await serve(directory + "/root", at: directory + "/http") }
      let request = "GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r"
      let answer = try await Peers.run { try Peers.ask(request, at: directory + "/http") }
      #expect(answer.hasPrefix("HTTP/1.1 200 "))
      serving.cancel()
      _ = try? await serving.value
    }
  }

  @Test func `what a camera sees is answered, and what nobody knows is in the journal`() async throws {
    /// A document of `scan.misses`, as `Documentation/Format/Daemon.md` has it.
    struct Missed: Codable, Identifiable {
      let id: String
      var count: Int
      var first: Double
      var last: Double
      var input: String
    }
    try await withDirectory { directory in
      // A catalogue without products: without any, nobody would know what is missing in it.
      let writer = try CatalogWriter(WorkspaceDirectory(root: directory).makeCatalogue(of: "ana"))
      _ = try writer.beginFullUpdate(.open).commit(cursor: "monday")
      writer.close()
      let (codes, seen) = AsyncStream<String>.makeStream()
      for code in ["6901", "6901", "690\u{1D}2"] { seen.yield(code) }
      seen.finish()
      let shown = Mutex<[String]>([])
      try await watch(codes, for: "ana", in: directory) { line in shown.withLock { $0.append(line) } }
      let lines = shown.withLock { $0 }
      #expect(lines.count == 2, "a second look at the same code is none")
      #expect(lines.allSatisfy { $0.contains("\"match\":\"none\"") && $0.contains("\"user\":\"ana\"") })
      let place = try #require(try WorkspaceDirectory(root: directory).store("documents", of: "ana"))
      let missed = try DocumentStore.inspect(place).collection("scan.misses", of: Missed.self)
      #expect(try missed.get("6901").map { $0.count == 1 && $0.first == $0.last && $0.input == "camera" } == true)
      #expect(try missed.count() == 2)
    }
  }

  @Test func `scans are described`() throws {
    let today = try #require(ScanDate(year: 2026, month: 11, day: 23))
    #expect(describe("0078000202403", today: today) == "GTIN 00078000202403")
    #expect(
      describe("(01)00078000202403(10)A7(17)261200(3103)001250", today: today)
        == "GTIN 00078000202403, lot A7, good until 2026-12-31, 1.25 kg")
    #expect(
      describe("(01)00078000202403(17)260101(15)261332", today: today)
        == "GTIN 00078000202403, expired 2026-01-01, '261332' is no date: there is no month 13")
    #expect(describe("(00)340123450000000017", today: today) == "sscc (00)340123450000000017")
    #expect(describe(" KFR-35GW ", today: today) == "text KFR-35GW")
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
      let location = try StoreLocation.creating(directory, name: "catalogue")
      let done = try await synchronise(location, with: Answers(answers: ["": answer]))
      #expect(done == "full, 2023-05-13 10:00:00")
      await #expect(throws: TransportError.self) { _ = try await synchronise(location, from: "http://[") }
    }
  }
}
