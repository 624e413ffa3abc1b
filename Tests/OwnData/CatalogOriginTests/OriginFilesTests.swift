import CatalogSources
import Foundation
import Testing

@testable import CatalogOrigin

@Suite struct OriginFilesTests {
  let folder: TestFolder
  let log = LogRecorder()

  init() throws { folder = try TestFolder() }

  /// Three products in two members.
  static let packed = Data(
    base64Encoded:
      "H4sIAAAAAAACA6tWykxRslIyVNJRykvMTQUyE5VquaohokZAJgAcERyZIQAAAB+LCAAAAAAAAgOrVspMUbJSMlaq5QIAdnWcvAsAAAA="
  )!

  func load(_ products: String, _ relations: String? = nil) async throws -> OriginStore.Counts {
    try await OriginStore(
      source: CatalogueSource(serverRows: products, relations: relations), logger: log.logger
    ).counts
  }

  @Test func `plain text is read`() async throws {
    let rows = try await load(
      folder.write("{\"id\":\"1\"}\n\n{\"id\":\"2\"}", to: "products"),
      folder.write("{\"id\":\"r\",\"productId\":\"1\"}\n", to: "relations"))
    #expect(rows.products == 2)
    #expect(rows.relations == 1)
  }

  @Test func `gzip is known by its content, with all its members`() async throws {
    #expect(try await load(folder.write(Self.packed, to: "products.txt")).products == 3)
  }

  @Test func `a dump may hold both kinds`() async throws {
    let text = """
      {"type":"product","id":"1"}
      {"type":"relation","id":"r","productId":"1"}
      """
    let rows = try await load(folder.write(text, to: "dump"))
    #expect(rows.products == 1)
    #expect(rows.relations == 1)
  }

  @Test func `values of the wrong type are counted`() async throws {
    let path = try folder.write(#"{"id":"1","name":7,"weight":"x"}"#, to: "products")
    _ = try await load(path)
    #expect(log.events.contains { $0.level == .warning && $0.text.contains("\"count\": 2") }, "\(log.events)")
  }

  @Test func `an empty file has no rows`() async throws {
    #expect(try await load(folder.write("", to: "products")).products == 0)
  }

  @Test func `a bad line is named with its file`() async throws {
    let path = try folder.write("{\"id\":\"1\"}\n{\"id\":", to: "products")
    let error = await #expect(throws: OriginError.self) { try await load(path) }
    guard case .sourceRefused = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect("\(error!)".hasPrefix("\(path): Line 2 "))
  }

  @Test func `a product without an id is refused`() async throws {
    let path = try folder.write("{\"ID\":\"1\"}\n", to: "products")
    let error = await #expect(throws: OriginError.self) { try await load(path) }
    #expect("\(error!)".contains("could not be taken: it has no id; give each product its own"), "\(error!)")
  }

  @Test func `a row that no catalogue can hold is refused with its size`() async throws {
    let barcode = String(repeating: "7", count: 70_000)
    let path = try folder.write("{\"id\":\"1\",\"barcode\":\"\(barcode)\"}\n", to: "products")
    let error = await #expect(throws: OriginError.self) { try await load(path) }
    #expect("\(error!)".contains("could not be taken: the keys of a row would take 70001 bytes"), "\(error!)")
  }

  @Test func `a device is read once`() async throws {
    let counts = try await load(folder.write("{\"id\":\"1\"}\n", to: "products"), "/dev/null")
    #expect(counts == .init(products: 1))
    let source = CatalogueSource(serverRows: "/dev/null", relations: nil)
    let store = try await OriginStore(source: source, logger: log.logger)
    #expect(try await store.reloadIfChanged { _ in } == nil)
  }

  @Test(arguments: [1, 2, 15, 30, packed.count - 1])
  func `gzip that ends early is refused`(byteCount: Int) async throws {
    let path = try folder.write(Self.packed.prefix(byteCount), to: "products")
    await #expect(throws: OriginError.self) { try await load(path) }
  }

  @Test func `gzip that is damaged is refused`() async throws {
    var packed = Self.packed
    packed[20] ^= 0xFF
    let path = try folder.write(packed, to: "products")
    await #expect(throws: OriginError.self) { try await load(path) }
  }

  @Test func `a file that is not there or is a folder is named`() async throws {
    for path in [folder.path("nothing"), folder.url.path] {
      let error = await #expect(throws: OriginError.self) { try await load(path) }
      guard case .sourceUnreadable(let cause) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(cause.path == path)
    }
  }

  @Test func `a change of either file is read, and one of neither is not`() async throws {
    let source = CatalogueSource(
      serverRows: try folder.write("{\"id\":\"1\"}\n", to: "products"),
      relations: try folder.write("", to: "relations"))
    let store = try await OriginStore(source: source, logger: log.logger)
    func reload() async throws -> OriginStore.Changes? { try await store.reloadIfChanged { _ in } }
    #expect(try await reload() == nil)
    try folder.write("{\"id\":\"r\",\"productId\":\"1\"}\n", to: "relations")
    #expect(try await reload() == .init(updated: 1))
    #expect(try await reload() == nil)
    try folder.write("{\"id\":\"2\"}\n", to: "products", atomically: true)
    #expect(try await reload() == .init(inserted: 1, deleted: 1))
    try FileManager.default.removeItem(atPath: folder.path("products"))
    try folder.write("{\"id\":\"2\"}\n{\"id\":\"3\"}\n", to: "others")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("products"), withDestinationPath: folder.path("others"))
    #expect(try await reload() == .init(inserted: 1))
  }
}
