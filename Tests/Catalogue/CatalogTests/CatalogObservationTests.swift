import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// What is reported to an observer of a catalogue of commits, and how it ends.
@Suite(.timeLimit(.minutes(10))) struct CatalogObservationTests: ObservingSuite {
  @Test func `each commit is a change with its number, its counts and its rows`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1"), Product("b", "2")], [Relation("a", "b")])
    var changes = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    try catalogue.increment(
      [Product("c", "3"), Product("a", "1", name: "new")], [Relation("c", "a"), Relation("c", "b")])
    let first = try #require(try await changes.next())
    #expect(first.sequence == 2 && first.before.sequence == 1 && first.commits.map(\.commit.sequence) == [2])
    #expect(first.counts.productsUpserted == 2 && first.counts.productsDeleted == 0)
    #expect(first.counts.relationsWritten == 2 && first.counts.relationsDeleted == 1)
    #expect(first.isWithinGeneration && !first.isReplacement && first.hasAllCommits)
    let rows = try first.differences()
    #expect(rows.upsertedProducts.map(\.id) == ["a", "c"] && rows.deletedProductIDs.isEmpty)
    #expect(rows.products.first?.before?.name == "" && rows.products.first?.after?.name == "new")
    #expect(rows.relations.map(\.name) == ["removed", "added", "added"])
    try catalogue.increment([Product("b", delFlag: 1)])
    let second = try #require(try await changes.next())
    #expect(second.sequence == 3 && second.counts.productsDeleted == 1 && second.counts.productsUpserted == 0)
    #expect(try second.differences().deletedProductIDs == ["b"])
    _ = try catalogue.writer.rollback(to: 1)
    let third = try #require(try await changes.next())
    #expect(third.sequence == 4 && third.commits.map(\.state.mode) == [.rollback])
    #expect(try third.differences().upsertedProducts.map(\.id) == ["a", "b"])
    #expect(try third.differences().deletedProductIDs == ["c"])
  }

  @Test func `commits that nobody waited for are one change, from what was reported last to now`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1"), Product("b", "2")])
    var changes = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    try catalogue.increment([Product("a", "1", name: "first"), Product("c", "3")])
    try catalogue.increment([Product("a", "1", name: "second"), Product("c", delFlag: 1)])
    try catalogue.increment([Product("b", "2", name: "other"), Product("d", "4")])
    try catalogue.increment([Product("b", "2")])
    let change = try #require(try await changes.next())
    #expect(change.before.sequence == 1 && change.sequence == 5)
    #expect(change.commits.map(\.commit.sequence) == [2, 3, 4, 5] && change.hasAllCommits)
    // The counts are those of the commits, the rows those that differ.
    #expect(change.counts.productsUpserted == 6 && change.counts.productsDeleted == 1)
    let rows = try change.differences()
    #expect(rows.upsertedProducts.map(\.id) == ["a", "d"] && rows.deletedProductIDs.isEmpty)
    #expect(rows.upsertedProducts.first?.name == "second")
  }

  @Test func `a commit that moves only the cursor is a change in which no row differs`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    var changes = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    try catalogue.increment([], cursor: "tuesday")
    let change = try #require(try await changes.next())
    #expect(change.sequence == 2 && change.after.cursor == "tuesday" && change.counts.productsUpserted == 0)
    #expect(try change.differences().isEmpty)
  }

  @Test func `what another writer commits is reported, and what happened before is not`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    try catalogue.increment([Product("b", "2")])
    catalogue.writer.close()
    var changes = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    for number in 3..<6 {
      let writer = try CatalogWriter(catalogue.location)
      defer { writer.close() }
      var increment = writer.beginIncrement()
      try increment.take([Product("\(number)")], [])
      _ = try increment.commit(cursor: "\(number)")
      let change = try #require(try await changes.next())
      #expect(change.sequence == UInt64(number))
      #expect(try change.differences().upsertedProducts.map(\.id) == ["\(number)"])
    }
  }

  @Test func `an iteration can begin after a state that was read before`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    let reader = try reader(catalogue)
    let known = try reader.snapshot()
    try catalogue.increment([Product("b", "2")])
    try catalogue.increment([Product("c", "3")])
    try reader.refresh()
    var fromKnown = reader.changes(since: known, interval: Self.interval).makeAsyncIterator()
    #expect(try await fromKnown.next()?.differences().upsertedProducts.map(\.id) == ["b", "c"])
    // Without it, the iteration begins with what the reader shows.
    var fromNow = reader.changes(interval: Self.interval).makeAsyncIterator()
    try catalogue.increment([Product("d", "4")])
    #expect(try await fromNow.next()?.differences().upsertedProducts.map(\.id) == ["d"])
    #expect(try await fromKnown.next()?.differences().upsertedProducts.map(\.id) == ["d"])
    // A state that the reader has not reached yet.
    var ahead = try self.reader(catalogue).changes(since: catalogue.snapshot, interval: Self.interval)
      .makeAsyncIterator()
    try catalogue.increment([Product("e", "5")])
    #expect(try await ahead.next()?.before.sequence == 4)
  }

  @Test func `who refreshes the reader wakes its observers, whatever their interval`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    let reader = try reader(catalogue)
    var changes = reader.changes(interval: .seconds(86_400)).makeAsyncIterator()
    for sequence in 2..<5 as Range<UInt64> {
      try catalogue.increment([Product("\(sequence)")])
      #expect(try reader.refresh())
      #expect(try await changes.next()?.sequence == sequence)
    }
  }

  // MARK: The end

  @Test func `cancellation ends the wait, and nothing else does`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    let reader = try reader(catalogue)
    let (started, continuation) = AsyncStream<Void>.makeStream()
    let task = Task {
      var seen: [UInt64] = []
      for try await change in reader.changes(interval: .milliseconds(1)) {
        seen.append(change.sequence)
        continuation.yield()
      }
      return seen
    }
    var isStarted = started.makeAsyncIterator()
    // It may begin after the first commit.
    while true {
      try catalogue.increment([Product("b", "2")])
      if try catalogue.snapshot.sequence > 100 { break }
      await Task.yield()
    }
    _ = await isStarted.next()
    task.cancel()
    let seen = try await task.value
    #expect(!seen.isEmpty && seen == seen.sorted() && Set(seen).count == seen.count)
    // A task that was cancelled before it began sees nothing.
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      var iterator = reader.changes(since: .empty, interval: .milliseconds(1)).makeAsyncIterator()
      return try await iterator.next()?.sequence
    }
    late.cancel()
    #expect(try await late.value == nil)
  }

  @Test func `two observers of one reader get the same, each at its own pace`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    let reader = try reader(catalogue)
    var quick = reader.changes(interval: Self.interval).makeAsyncIterator()
    var slow = reader.changes(interval: .seconds(3600)).makeAsyncIterator()
    for sequence in 2...4 as ClosedRange<UInt64> {
      try catalogue.increment([Product("\(sequence)")])
      #expect(try await quick.next()?.sequence == sequence)
    }
    #expect(try await slow.next()?.commits.map(\.commit.sequence) == [2, 3, 4])
  }
}
