import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog

/// What an observer of a catalogue is told.
@Suite(.timeLimit(.minutes(10))) struct CatalogObservationTests {
  private static let interval = Duration.milliseconds(5)

  private func reader(_ catalogue: TestCatalogue) throws -> CatalogReader {
    try #require(try CatalogReader.open(catalogue.location))
  }

  /// Gives bytes the name of the catalogue's file, as another file.
  private func replaceFile(of catalogue: TestCatalogue, with bytes: [UInt8]) throws {
    try catalogue.folder.write(bytes, to: "other")
    try catalogue.folder.directory.rename("other", to: "catalog.log")
  }

  /// The error that the next call throws; `nil` if it throws none.
  private func failure(of iterator: inout CatalogObservation.Iterator) async -> (any Error)? {
    do {
      _ = try await iterator.next()
      return nil
    } catch { return error }
  }

  // MARK: Commits

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

  @Test func `commits that nobody waited for are one change, from what was told last to now`() async throws {
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

  @Test func `what another writer commits is told, and what happened before is not`() async throws {
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

  // MARK: New generations

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
    // The reader moves to the new file, and no change is told.
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

  // MARK: Files that are missing, replaced or damaged

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
    let writer = try CatalogWriter(StoreLocation(catalogue.folder.directory, name: "catalog"))
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
    let other = StoreLocation(catalogue.folder.directory, name: "other")
    let schema = Schema([Schema.Table("notes", keySpaces: [Schema.KeySpace("name", isUnique: true)])])
    let writer = try StoreWriter(other, schema: schema)
    for _ in 0..<3 { _ = try writer.commit { $0.state = [1, 2, 3] } }
    writer.close()
    var changes = CatalogObservation(other, interval: Self.interval).makeAsyncIterator()
    let error = await failure(of: &changes)
    #expect(error is CatalogError)
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

  @Test func `two observers of one reader are told the same, each at its own pace`() async throws {
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

  // MARK: Models

  @Test(arguments: 0..<4) func `what changes say, applied to a copy, gives the catalogue`(run: Int) async throws {
    var rows = RowGenerator("what changes say, applied to a copy, gives the catalogue", run: run)
    let catalogue = try TestCatalogue()
    var changes = CatalogObservation(catalogue.location, interval: .milliseconds(1)).makeAsyncIterator()
    var copy: [String: Product] = [:]
    var relations: [[UInt8]: Int] = [:]
    var told: UInt64 = 0
    for _ in 0..<30 * depth {
      for _ in 0..<Int.random(in: 1...3, using: &rows.random) { try step(catalogue, &rows) }
      let change = try #require(try await changes.next())
      #expect(change.before.sequence == told && !change.isReplacement)
      told = change.sequence
      let now = try catalogue.snapshot
      #expect(told == now.sequence)
      if change.hasAllCommits {
        #expect(change.commits.map(\.commit.sequence) == Array(change.before.sequence + 1...told))
      }
      let differences = try change.differences()
      for product in differences.upsertedProducts { copy[product.id] = product }
      for id in differences.deletedProductIDs { #expect(copy.removeValue(forKey: id) != nil) }
      for relation in differences.relations {
        if let before = relation.before { relations[before.content, default: 0] -= 1 }
        if let after = relation.after { relations[after.content, default: 0] += 1 }
      }
      let expected = try Dictionary(now.products.map { ($0.id, $0.canonicalLine) }) { one, _ in one }
      #expect(copy.mapValues(\.canonicalLine) == expected)
      let expectedRelations = try Dictionary(now.relations.map { ($0.content, 1) }, uniquingKeysWith: +)
      #expect(relations.filter { $0.value != 0 } == expectedRelations)
    }
  }

  /// Commits once, and perhaps compacts or opens the catalogue anew.
  private func step(_ catalogue: TestCatalogue, _ rows: inout RowGenerator) throws {
    let products = (0..<Int.random(in: 0..<6, using: &rows.random)).map { _ in
      Product("p\(rows.pick(Array(0..<9)))", rows.pick(["1", "2"]), delFlag: rows.chance(30) ? 1 : 0)
    }
    let relations = (0..<4).map { _ in
      Relation("p\(rows.pick(Array(0..<9)))", rows.pick(["x", "y"]), rows.pick([1, 2]), id: rows.pick(["", "r"]))
    }
    let sequences = try catalogue.writer.history().commits().map(\.commit.sequence)
    if rows.chance(15) {
      try catalogue.full(products, relations)
    } else if rows.chance(20), let sequence = sequences.randomElement(using: &rows.random) {
      _ = try catalogue.writer.rollback(to: sequence)
    } else {
      try catalogue.increment(products, relations)
    }
    if rows.chance(15) { try catalogue.writer.compact() }
    if rows.chance(10) { try catalogue.reopen() }
  }

  @Test func `an observer next to a busy writer ends with what is there, and saw each commit in order`() async throws {
    let catalogue = try TestCatalogue([Product("p0", "0")])
    let reader = try reader(catalogue)
    let first = try reader.snapshot()
    let last: UInt64 = 120
    let observer = Task {
      var ids = Set(["p0"])
      var commits: [UInt64] = []
      for try await change in reader.changes(since: first, interval: .milliseconds(1)) {
        commits += change.commits.map(\.commit.sequence)
        let differences = try change.differences()
        ids.formUnion(differences.upsertedProducts.map(\.id))
        ids.subtract(differences.deletedProductIDs)
        if change.sequence == last { break }
      }
      return (ids, commits)
    }
    for number in 2...last {
      if number % 20 == 0 {
        try catalogue.full((0..<number).map { Product("p\($0)", "full") })
      } else {
        try catalogue.increment([Product("p\(number)", "1"), Product("p\(number / 2)", delFlag: 1)])
      }
      if number % 15 == 0 { try catalogue.writer.compact() }
      await Task.yield()
    }
    let (ids, commits) = try await observer.value
    #expect(try ids == Set(catalogue.snapshot.products.map(\.id)))
    #expect(commits == commits.sorted() && Set(commits).count == commits.count && commits.last == last)
  }
}
