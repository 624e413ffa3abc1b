import Foundation
import Testing

@Suite struct ReadmeTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  @Test func `the example in the README is the one that is compiled here`() throws {
    let source = try text("Tests/ReadmeTests/EmbeddingExample.swift")
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    let example = lines.dropFirst().prefix { !$0.hasPrefix("// End") }.joined(separator: "\n")
    #expect(try text("README.md").contains("```swift\n" + example + "\n```"))
  }

  @Test func `the example answers scans`() throws {
    let directory = NSTemporaryDirectory() + "readme-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let answer = try Data(
      contentsOf: Self.root.appending(path: "Tests/CatalogWireTests/Resources/wire/plain.response"))
    let answers = try example(
      directory: directory, answer: [UInt8](answer), scans: ["6910884277922", "6910884277922-A7", "1"])
    #expect(answers == ["exact: 商品 1", "head: 商品 1", "none: "])
  }
}
