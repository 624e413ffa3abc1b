import Documents
import RemoteLists
import Testing

@testable import Workspace

/// The cached pages of a user, as users come and go.
@Suite(.timeLimit(.minutes(10))) struct PagesTests {
  private let root = TemporaryRoot()

  private struct Note: Codable, Identifiable, Sendable, Equatable {
    let id: Int
    var text: String
  }

  private struct NoNetwork: Error {}

  private func notes(_ store: PageStore, from owner: String?) -> PageCache<String, Note> {
    PageCache("notes", in: store, pageSize: 2) { page, _ in
      guard let owner else { throw NoNetwork() }
      return [Note(id: page, text: owner)]
    }
  }

  @Test func `a page that one user fetched is nobody else's, and is there without a network when that one is back`()
    async throws
  {
    let workspace = try root.open()
    for id in ["ana", "bo"] {
      try workspace.signIn(id)
      let answer = try await notes(try workspace.stores().pages(), from: id).load()
      #expect(answer.source == .network)
      #expect(answer.items == [Note(id: 1, text: id)])
      #expect(answer.notStored == nil)
    }
    for id in ["ana", "bo"] {
      try workspace.switch(to: id)
      let answer = try await notes(try workspace.stores().pages(), from: nil).load()
      #expect(answer.source == .local)
      #expect(answer.items == [Note(id: 1, text: id)])
    }
  }

  @Test func `several lists of the user who is signed in are cleared at once`() async throws {
    let workspace = try root.open()
    #expect(throws: WorkspaceError.self) { try workspace.pages() }
    for id in ["ana", "bo"] {
      try workspace.signIn(id)
      for key in ["top", "list", "other"] {
        let list = PageCache(key, in: try workspace.pages(), pageSize: 2) { page, _ in [Note(id: page, text: id)] }
        #expect(try await list.load().notStored == nil)
      }
    }
    #expect(try workspace.pages().clear(["top", "list"]).map(\.name) == ["list", "top"])
    #expect(try workspace.pages().statistics().lists == 1)
    #expect(try workspace.defaultStores.pages().clear(["top", "list"]).isEmpty)
    try workspace.switch(to: "ana")
    #expect(try workspace.pages().statistics().lists == 3)
  }

  @Test func `pages that an application keeps are closed when their user is signed out`() async throws {
    let workspace = try root.open()
    try workspace.signIn("ana")
    let stores = try workspace.stores()
    let kept = notes(try stores.pages(), from: "ana")
    _ = try await kept.load()
    try workspace.signOut()
    await #expect(throws: DocumentStoreError.self) { try await kept.load() }
    await #expect(throws: DocumentStoreError.self) { try await kept.refresh() }
    #expect(throws: DocumentStoreError.self) { try kept.contents() }
    #expect(throws: DocumentStoreError.self) { try kept.clear() }
    #expect(throws: WorkspaceError.self) { try stores.pages() }
    for await _ in kept.values { Issue.record("a closed store shows a list") }
    // Nobody's pages are as before.
    _ = try await notes(try workspace.defaultStores.pages(), from: "device").load()
  }
}
