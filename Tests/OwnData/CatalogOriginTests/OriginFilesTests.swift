import Foundation
import Testing

@testable import CatalogOrigin

@Suite struct OriginFilesTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// Three products in two members.
  static let packed = Data(
    base64Encoded:
      "H4sIAAAAAAACA6tWykxRslIyVNJRykvMTQUyE5VquaohokZAJgAcERyZIQAAAB+LCAAAAAAAAgOrVspMUbJSMlaq5QIAdnWcvAsAAAA="
  )!

  func load(_ products: String, _ relations: String? = nil) throws -> OriginRows {
    try OriginFiles(products: products, relations: relations).load().rows
  }

  @Test func `plain text is read`() throws {
    let rows = try load(
      folder.write("{\"id\":\"1\"}\n\n{\"id\":\"2\"}", to: "products"),
      folder.write("{\"id\":\"r\",\"productId\":\"1\"}\n", to: "relations"))
    #expect(rows.productCount == 2)
    #expect(rows.relationCount == 1)
  }

  @Test func `gzip is known by its content, with all its members`() throws {
    #expect(try load(folder.write(Self.packed, to: "products.txt")).productCount == 3)
  }

  @Test func `a dump may hold both kinds`() throws {
    let text = """
      {"type":"product","id":"1"}
      {"type":"relation","id":"r","productId":"1"}
      """
    let rows = try load(folder.write(text, to: "dump"))
    #expect(rows.productCount == 1)
    #expect(rows.relationCount == 1)
  }

  @Test func `values of the wrong type are counted`() throws {
    let path = try folder.write(#"{"id":"1","name":7,"weight":"x"}"#, to: "products")
    #expect(try OriginFiles(products: path).load().defaultedCount == 2)
  }

  @Test func `an empty file has no rows`() throws {
    #expect(try load(folder.write("", to: "products")).productCount == 0)
  }

  @Test func `a bad line is named with its file`() throws {
    let path = try folder.write("{\"id\":\"1\"}\n{\"id\":", to: "products")
    let error = #expect(throws: OriginError.self) { try load(path) }
    guard case .lineRefused(path, .lineNotJSON(_, line: 2)) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect("\(error!)".hasPrefix("\(path): Line 2 "))
  }

  @Test func `a product without an id is refused`() throws {
    let path = try folder.write("{\"ID\":\"1\"}\n", to: "products")
    let error = #expect(throws: OriginError.self) { try load(path) }
    #expect("\(error!)".contains("has no id"))
  }

  @Test(arguments: [1, 2, 15, 30, packed.count - 1])
  func `gzip that ends early is refused`(byteCount: Int) throws {
    let path = try folder.write(Self.packed.prefix(byteCount), to: "products")
    #expect(throws: OriginError.self) { try load(path) }
  }

  @Test func `gzip that is damaged is refused`() throws {
    var packed = Self.packed
    packed[20] ^= 0xFF
    let path = try folder.write(packed, to: "products")
    #expect(throws: OriginError.self) { try load(path) }
  }

  @Test func `a file that is not there or is a folder is named`() throws {
    for path in [folder.path("nothing"), folder.url.path] {
      let error = #expect(throws: OriginError.self) { try load(path) }
      guard case .fileUnreadable(path, _) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
  }

  @Test func `a signature tells files apart by content, place and existence`() throws {
    let files = OriginFiles(products: folder.path("products"), relations: folder.path("relations"))
    var signatures = [OriginFiles.Signature(files)]
    func look() { signatures.append(OriginFiles.Signature(files)) }
    try folder.write("1", to: "products")
    look()
    try folder.write("22", to: "products")
    look()
    try folder.write("33", to: "products", atomically: true)
    look()
    try folder.write("1", to: "relations")
    look()
    try FileManager.default.removeItem(atPath: files.products)
    try FileManager.default.createSymbolicLink(atPath: files.products, withDestinationPath: files.relations!)
    look()
    for (one, other) in zip(signatures, signatures.dropFirst()) { #expect(one != other) }
    #expect(OriginFiles.Signature(files) == signatures.last)
  }
}
