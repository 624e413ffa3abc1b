import Catalog
import Foundation
import LogStore
import Testing

@testable import Workspace

/// The changes of a user's catalogue, as users come and go.
@Suite(.timeLimit(.minutes(10))) struct CatalogueChangesTests {
  private let root = TemporaryRoot()
  private let interval = Duration.milliseconds(5)

  @Test func `a user's catalogue is observed from before its first commit, by any process`() async throws {
    let workspace = try root.open()
    try workspace.signIn("ana")
    let ana = try workspace.stores()
    var changes = ana.catalogueChanges(interval: interval).makeAsyncIterator()
    try root.fill("ana", 3)
    let first = try #require(try await changes.next())
    #expect(first.before.sequence == 0 && first.sequence == 1 && first.commits.count == 1)
    #expect(try first.differences().upsertedProducts.map(\.id) == ["0", "1", "2"])
    let writer = try ana.catalogueWriter()
    _ = try writer.beginIncrement().commit(cursor: "tuesday")
    writer.close()
    #expect(try await changes.next()?.after.cursor == "tuesday")
    // Commits to another catalogue of a user are not observed.
    try root.fill("bob", 1)
    try root.fill("ana", 4, cursor: "wednesday")
    let third = try #require(try await changes.next())
    #expect(third.after.cursor == "wednesday")
    #expect(try third.differences().upsertedProducts.map(\.id) == ["3"])
  }

  @Test(arguments: [false, true])
  func `changes end when their user is signed out, by this process or another`(byAnother: Bool) async throws {
    try root.fill("ana", 2)
    let (ours, theirs) = (try root.open(), try root.open())
    try ours.signIn("ana")
    let ana = try ours.stores()
    // This process is told at once, and another one finds out when it checks.
    var changes = ana.catalogueChanges(interval: byAnother ? interval : .seconds(86_400)).makeAsyncIterator()
    _ = try ana.catalogue()
    try (byAnother ? theirs : ours).signIn("bob")
    try root.fill("ana", 3, cursor: "after")
    #expect(try await changes.next() == nil)
    #expect(try await changes.next() == nil)
    // Old stores have no changes any more. The same user has new ones after a new sign-in.
    var late = ana.catalogueChanges(interval: interval).makeAsyncIterator()
    #expect(try await late.next() == nil)
    try theirs.signIn("ana")
    var again = try ours.stores().catalogueChanges(since: .empty, interval: interval).makeAsyncIterator()
    #expect(try await again.next()?.after.cursor == "after")
    ours.close()
    #expect(try await again.next() == nil)
  }

  @Test func `a request that sees a commit wakes an observer, and so does the end of the workspace`() async throws {
    try root.fill("ana", 2)
    let workspace = try root.open()
    try workspace.signIn("ana")
    let ana = try workspace.stores()
    let (cursors, seen) = AsyncStream<String>.makeStream()
    let observer = Task {
      for try await change in ana.catalogueChanges(since: .empty, interval: .seconds(86_400)) {
        seen.yield(change.after.cursor)
      }
    }
    var told = cursors.makeAsyncIterator()
    #expect(await told.next() == "monday")
    for cursor in ["tuesday", "wednesday"] {
      try root.fill("ana", 3, cursor: cursor)
      _ = try ana.catalogue()
      #expect(await told.next() == cursor)
    }
    workspace.close()
    try await observer.value
  }

  @Test func `a file that somebody puts back is a change, as it is for a request`() async throws {
    try root.fill("ana", 2)
    let workspace = try root.open()
    try workspace.signIn("ana")
    let ana = try workspace.stores()
    let directory = try #require(try root.names().first { $0.hasSuffix("catalogue.log") })
    let backup = try Data(contentsOf: root.url(directory))
    let writer = try ana.catalogueWriter()
    _ = try writer.beginIncrement().commit(cursor: "tuesday")
    writer.close()
    var changes = ana.catalogueChanges(interval: interval).makeAsyncIterator()
    try backup.write(to: root.url(directory), options: .atomic)
    let change = try #require(try await changes.next())
    #expect(change.isReplacement && change.sequence == 1 && change.after.cursor == "monday")
    #expect(try ana.catalogue().cursor == "monday")
  }

  @Test func `a damaged catalogue is an error, and the changes end`() async throws {
    try root.fill("ana", 2)
    let workspace = try root.open()
    try workspace.signIn("ana")
    let file = try #require(try root.names().first { $0.hasSuffix("catalogue.log") })
    try Data("nothing of a store".utf8).write(to: root.url(file), options: .atomic)
    var changes = try workspace.stores().catalogueChanges(interval: interval).makeAsyncIterator()
    do {
      _ = try await changes.next()
      Issue.record("the damage is not reported")
    } catch { #expect(error is StoreError) }
    #expect(try await changes.next() == nil)
  }
}
