import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// What is reported to an observer of a catalogue when a new generation of the file takes the place of the last one.
@Suite(.timeLimit(.minutes(10))) struct CatalogObservationGenerationTests: ObservingSuite {
  @Test func `a compaction alone is no change, and one after a commit hides no row`() async throws {
    let catalogue = try TestCatalogue((0..<20).map { Product("\($0)", "\($0)") }, [Relation("1", "2")])
    var changes = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    try catalogue.writer.compact()
    try catalogue.increment([Product("x", "9"), Product("3", delFlag: 1)])
    let first = try #require(try await changes.next())
    #expect(first.sequence == 2 && first.commits.map(\.commit.sequence) == [2] && first.hasAllCommits)
    #expect(!first.isWithinGeneration && !first.isReplacement && first.counts.productsDeleted == 1)
    #expect(try first.differences().upsertedProducts.map(\.id) == ["x"])
    #expect(try first.differences().deletedProductIDs == ["3"])
    #expect(try first.differences().relations.isEmpty)
    // The commits that the compaction drops are still in the file that it replaced.
    try catalogue.increment([Product("y", "8")])
    try catalogue.increment([Product("4", delFlag: 1)])
    try catalogue.writer.compact()
    try catalogue.increment([Product("z", "7")])
    let second = try #require(try await changes.next())
    #expect(second.commits.map(\.commit.sequence) == [3, 4, 5] && second.hasAllCommits)
    #expect(second.counts.productsUpserted == 2 && second.counts.productsDeleted == 1)
    #expect(try second.differences().upsertedProducts.map(\.id) == ["y", "z"])
    #expect(try second.differences().deletedProductIDs == ["4"])
  }

  @Test func `a compaction that is seen alone leaves the next change a cheap one`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    let reader = try reader(catalogue)
    try catalogue.writer.compact()
    let waiting = Task {
      var changes = reader.changes(interval: .milliseconds(1)).makeAsyncIterator()
      return try await changes.next()
    }
    // The reader moves to the new file, and no change is reported.
    while try reader.snapshot().generation < 2 { await Task.yield() }
    try catalogue.increment([Product("b", "2")])
    let change = try #require(try await waiting.value)
    #expect(change.sequence == 2 && change.isWithinGeneration)
    #expect(try change.differences().upsertedProducts.map(\.id) == ["b"])
  }

  @Test func `after a full update the rows are those whose content differs`() async throws {
    let products = (0..<50).map { Product("\($0)", "C\($0)", name: "\($0 % 7)") }
    let relations = [Relation("1", "2"), Relation("1", "3"), Relation("4", "5", 2)]
    let catalogue = try TestCatalogue(products, relations)
    var changes = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    try catalogue.increment([Product("50", "C50")])
    try catalogue.full(products.dropLast().reversed() + [Product("new")], Array(relations.dropLast()), cursor: "again")
    let change = try #require(try await changes.next())
    // The commit before the full update is listed too: it is in the file that was replaced.
    #expect(change.commits.map(\.state.mode) == [.incremental, .full] && change.hasAllCommits)
    #expect(change.counts.productsUpserted == 1 + 50 && change.counts.productsDeleted == nil)
    #expect(change.counts.relationsWritten == 2 && change.counts.relationsDeleted == nil)
    #expect(!change.isWithinGeneration && !change.isReplacement)
    let rows = try change.differences()
    #expect(rows.upsertedProducts.map(\.id) == ["new"] && rows.deletedProductIDs == ["49"])
    #expect(rows.relations.map(\.name) == ["removed"])
    // The same once more is a change in which no row differs.
    try catalogue.full(products.dropLast() + [Product("new")], Array(relations.dropLast()), cursor: "same")
    let same = try #require(try await changes.next())
    #expect(same.sequence == 4)
    #expect(try same.differences().isEmpty)
  }

  @Test func `a rollback across a full update is a change back`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1"), Product("b", "2")])
    try catalogue.full([Product("a", "1"), Product("c", "3")], cursor: "wrong")
    var changes = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    _ = try catalogue.writer.rollback(to: 1)
    let change = try #require(try await changes.next())
    #expect(change.sequence == 3 && change.after.generation == 3 && !change.isReplacement)
    #expect(change.counts.productsUpserted == 1 && change.counts.productsDeleted == 1)
    #expect(try change.differences().upsertedProducts.map(\.id) == ["b"])
    #expect(try change.differences().deletedProductIDs == ["c"])
  }

  @Test func `commits in a file that came and went unseen are missing, and so are the counts`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    var changes = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    try catalogue.increment([Product("b", "2")])
    try catalogue.writer.compact()
    try catalogue.increment([Product("c", "3")])
    try catalogue.increment([Product("d", "4")])
    try catalogue.writer.compact()
    let change = try #require(try await changes.next())
    #expect(change.sequence == 4 && change.commits.map(\.commit.sequence) == [2, 4])
    #expect(!change.hasAllCommits && change.counts == ChangeCounts())
    #expect(try change.differences().upsertedProducts.map(\.id) == ["b", "c", "d"])
  }

  @Test func `a change is read from its own files while others replace them`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1"), Product("b", "2")])
    var changes = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    try catalogue.increment([Product("a", "1", name: "new"), Product("b", delFlag: 1)])
    let change = try #require(try await changes.next())
    try catalogue.full([Product("x")], cursor: "other")
    try catalogue.full([Product("y")], cursor: "another")
    catalogue.writer.close()
    for name in try catalogue.folder.directory.names() { _ = try catalogue.folder.directory.remove(name) }
    let rows = try change.differences()
    #expect(rows.upsertedProducts.map(\.name) == ["new"] && rows.deletedProductIDs == ["b"])
    #expect(try change.before.products.count == 2 && change.after.products.count == 1)
  }
}
