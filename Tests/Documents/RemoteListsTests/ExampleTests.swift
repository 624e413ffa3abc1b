import Foundation
import LogStore
import RemoteLists
import StoreTestSupport
import Testing

struct Message: Codable, Identifiable, Sendable, Equatable { let id: Int }

struct MessageServer: Sendable {
  func messages(page: Int, size: Int) async throws -> [Message] {
    (0..<50).dropFirst((page - 1) * size).prefix(size).map { Message(id: $0) }
  }
}

/// The example of the module's documentation.
@Suite struct ExampleTests {
  private typealias Server = MessageServer

  // Begin of the example in RemoteLists.md
  private func example(directory: String, server: Server) async throws -> [Message] {
    let store = PageStore(try StoreLocation.creating(directory, name: "cache"))
    let inbox = PageCache("inbox", in: store, pageSize: 20, lifetime: .seconds(300)) { page, size in
      try await server.messages(page: page, size: size)
    }
    let first = try await inbox.load(page: 1)  // from the file, or fetched and stored
    if first.source == .stale { print("offline since", first.age, first.fetchError as Any) }
    _ = try await inbox.refresh()  // replaces the entire list with a new page 1, or changes nothing
    _ = try await inbox.loadOlder()  // the next page
    return try inbox.contents().items  // all pages as one list, each id once
  }
  // End of the example in RemoteLists.md

  @Test func `the example in the documentation is the one that is compiled here, and works`() async throws {
    let directory = try TemporaryDirectory()
    let items = try await example(directory: directory.path, server: Server())
    #expect(items == (0..<40).map { Message(id: $0) })
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    func lines(_ path: String) throws -> [Substring] {
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false)
    }
    let compiled = try lines("Tests/Documents/RemoteListsTests/ExampleTests.swift")
    let begin = try #require(compiled.firstIndex { $0.hasSuffix("// Begin of the example in RemoteLists.md") })
    let example = compiled[(begin + 1)...].prefix { !$0.hasSuffix("// End of the example in RemoteLists.md") }
    let shown = example.map {
      $0.isEmpty ? "" : "  " + $0.replacing("  private func", with: "  func", maxReplacements: 1)
    }
    let page = try lines("Sources/Documents/RemoteLists/RemoteLists.docc/RemoteLists.md").joined(separator: "\n")
    #expect(page.contains(shown.joined(separator: "\n")))
  }
}
