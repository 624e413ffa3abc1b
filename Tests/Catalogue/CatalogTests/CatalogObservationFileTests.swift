import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// What is reported to an observer of a catalogue of files that are missing, replaced or damaged.
@Suite(.timeLimit(.minutes(10))) struct CatalogObservationFileTests: ObservingSuite {
  @Test func `a catalogue that does not exist yet is waited for`() async throws {
    let catalogue = try TestCatalogue()
    #expect(try CatalogReader.open(catalogue.location) == nil)
    var changes = CatalogObservation(catalogue.location, interval: Self.interval).makeAsyncIterator()
    try catalogue.full([Product("a", "1"), Product("b", "2")], [Relation("a", "b")])
    try catalogue.increment([Product("b", delFlag: 1)])
    let change = try #require(try await changes.next())
    #expect(change.before.sequence == 0 && change.sequence == 2)
    #expect(change.commits.map(\.commit.sequence) == [1, 2] && change.hasAllCommits)
    #expect(!change.isReplacement && !change.isWithinGeneration)
    let rows = try change.differences()
    #expect(rows.upsertedProducts.map(\.id) == ["a"] && rows.deletedProductIDs.isEmpty)
    #expect(rows.relations.map(\.name) == ["added"])
    try catalogue.increment([Product("c", "3")])
    #expect(try await changes.next()?.isWithinGeneration == true)
  }

  @Test func `a file that is removed ends a reader's changes, and is waited for by name`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    var ofReader = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    var ofName = CatalogObservation(catalogue.location, interval: Self.interval).makeAsyncIterator()
    catalogue.writer.close()
    #expect(try catalogue.folder.directory.remove("catalog.log"))
    let removal = await failure(of: &ofReader) as? StoreError
    guard case .replaced? = removal else {
      Issue.record("a removed file is not reported, but \(String(describing: removal))")
      return
    }
    #expect(try await ofReader.next() == nil)
    // Another catalogue begins again with commit 1.
    let writer = try CatalogWriter(StoreLocation.test(catalogue.folder.directory, name: "catalog"))
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    try update.take([Product("b", "2")], [])
    _ = try update.commit(cursor: "other")
    let change = try #require(try await ofName.next())
    #expect(change.isReplacement && change.sequence == 1 && change.before.sequence == 1)
    #expect(change.commits.map(\.commit.sequence) == [1] && change.counts == ChangeCounts())
    #expect(try change.differences().upsertedProducts.map(\.id) == ["b"])
    #expect(try change.differences().deletedProductIDs == ["a"])
  }

  @Test func `a removed file whose generation before is kept is damage, by any way of looking`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    try catalogue.full([Product("b", "2")])
    var ofReader = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    var ofName = CatalogObservation(catalogue.location, interval: Self.interval).makeAsyncIterator()
    catalogue.writer.close()
    #expect(try catalogue.folder.directory.remove("catalog.log"))
    let readerError = await failure(of: &ofReader)
    #expect(readerError is StoreError)
    let nameError = await failure(of: &ofName)
    #expect(nameError is StoreError)
  }

  @Test func `a backup that is put back ends a reader's changes, and is a change by name`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1"), Product("b", "2")])
    let backup = try catalogue.logBytes
    try catalogue.increment([Product("b", delFlag: 1), Product("c", "3")])
    try catalogue.increment([Product("d", "4")])
    var ofReader = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    var ofName = CatalogObservation(catalogue.location, interval: Self.interval).makeAsyncIterator()
    catalogue.writer.close()
    try replaceFile(of: catalogue, with: backup)
    let readerError = await failure(of: &ofReader)
    #expect(readerError is StoreError)
    let change = try #require(try await ofName.next())
    #expect(change.isReplacement && change.before.sequence == 3 && change.sequence == 1)
    #expect(!change.hasAllCommits && change.commits.map(\.commit.sequence) == [1])
    #expect(try change.differences().upsertedProducts.map(\.id) == ["b"])
    #expect(try change.differences().deletedProductIDs == ["c", "d"])
    // From there it goes on.
    try catalogue.reopen()
    try catalogue.increment([Product("e", "5")])
    let next = try #require(try await ofName.next())
    #expect(!next.isReplacement && next.isWithinGeneration && next.sequence == 2)
    #expect(try next.differences().upsertedProducts.map(\.id) == ["e"])
  }

  @Test func `a backup that grew past the file before it is compared by content`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1"), Product("b", "2")])
    let backup = try catalogue.logBytes
    try catalogue.increment([Product("c", "3")])
    var changes = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    catalogue.writer.close()
    try replaceFile(of: catalogue, with: backup)
    try catalogue.reopen()
    try catalogue.increment([Product("d", "4")])
    try catalogue.increment([Product("a", delFlag: 1)])
    let change = try #require(try await changes.next())
    #expect(change.isReplacement && !change.isWithinGeneration && change.sequence == 3)
    #expect(try change.differences().upsertedProducts.map(\.id) == ["d"])
    #expect(try change.differences().deletedProductIDs == ["a", "c"])
  }

  @Test(arguments: [false, true])
  func `damage is thrown once and ends the sequence, which can begin again after a repair`(byName: Bool) async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    let reader = try reader(catalogue)
    let known = try reader.snapshot()
    func changes() -> CatalogObservation {
      byName
        ? CatalogObservation(catalogue.location, since: known, interval: Self.interval)
        : reader.changes(since: known, interval: Self.interval)
    }
    var iterator = changes().makeAsyncIterator()
    try catalogue.increment([Product("b", "2")])
    catalogue.writer.close()
    var bytes = try catalogue.logBytes
    // The footer of the last commit.
    bytes[bytes.count - 20] ^= 1
    try replaceFile(of: catalogue, with: bytes)
    let damage = await failure(of: &iterator) as? StoreError
    #expect(damage?.isDamage == true)
    #expect(try await iterator.next() == nil)
    #expect(try CatalogRepair.run(catalogue.location)?.damagedPath != nil)
    iterator = changes().makeAsyncIterator()
    let change = try #require(try await iterator.next())
    #expect(change.commits.last?.state.mode == .repair && change.sequence > 2)
    #expect(change.counts.productsDeleted == nil)
    #expect(try change.differences().upsertedProducts.allSatisfy { $0.id == "b" })
  }

  @Test func `a file that is truncated is damage, even without a new commit`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    var ofReader = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    var ofName = CatalogObservation(catalogue.location, interval: Self.interval).makeAsyncIterator()
    catalogue.writer.close()
    let file = try #require(try catalogue.location.directory.open("catalog.log", .write))
    try file.truncate(to: file.size() - 1)
    let readerError = await failure(of: &ofReader) as? StoreError
    let nameError = await failure(of: &ofName) as? StoreError
    #expect(readerError?.isDamage == true && nameError?.isDamage == true)
  }

  @Test(arguments: [[], Array("nothing of a store".utf8), [UInt8](repeating: 0, count: 20_000)])
  func `a file that is no catalogue is an error, also for who begins with it`(bytes: [UInt8]) async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    var ofReader = try reader(catalogue).changes(interval: Self.interval).makeAsyncIterator()
    var ofName = CatalogObservation(catalogue.location, interval: Self.interval).makeAsyncIterator()
    catalogue.writer.close()
    try replaceFile(of: catalogue, with: bytes)
    let readerError = await failure(of: &ofReader)
    #expect(readerError is StoreError)
    let nameError = await failure(of: &ofName)
    #expect(nameError is StoreError)
    var late = CatalogObservation(catalogue.location, interval: Self.interval).makeAsyncIterator()
    let lateError = await failure(of: &late)
    #expect(lateError is StoreError)
    #expect(try await late.next() == nil)
  }

  @Test func `a store of another kind is an error`() async throws {
    let catalogue = try TestCatalogue([Product("a", "1")])
    let other = StoreLocation.test(catalogue.folder.directory, name: "other")
    let schema = Schema([Schema.Table("notes", keySpaces: [Schema.KeySpace("name", isUnique: true)])])
    let writer = try StoreWriter(other, schema: schema)
    for _ in 0..<3 { _ = try writer.commit { $0.state = [1, 2, 3] } }
    writer.close()
    var changes = CatalogObservation(other, interval: Self.interval).makeAsyncIterator()
    let error = await failure(of: &changes)
    #expect(error is CatalogError)
  }
}
