import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// History across a full update.
@Suite struct CatalogPreviousGenerationTests {
  /// Three commits, and a full update after them that went wrong.
  private func replaced() throws -> TestCatalogue {
    let catalogue = try TestCatalogue([Product("a", "1111"), Product("b", "2222")], [Relation("a", "b")])
    try catalogue.increment([Product("c", "3333")], [Relation("c", "a"), Relation("c", "b", 2)], cursor: "t1")
    try catalogue.increment([Product("b", "2222", name: "renamed")], cursor: "t2")
    try catalogue.full([Product("b", "2222"), Product("x", "9999")], cursor: "wrong")
    return catalogue
  }

  @Test func `all commits are listed, those from before the full update marked`() throws {
    let catalogue = try replaced()
    let commits = try catalogue.writer.history().commits()
    #expect(commits.map(\.commit.sequence) == [4, 3, 2, 1])
    #expect(commits.map(\.isPrevious) == [false, true, true, true])
    #expect(commits.map(\.state.cursor) == ["wrong", "t2", "t1", "full"])
    let reader = try #require(try CatalogReader.open(catalogue.location))
    let history = try reader.history()
    #expect(try history.at(2)?.cursor == "t1" && history.at(4)?.cursor == "wrong" && history.at(5) == nil)
    #expect(history.previousFailure == nil)
  }

  @Test func `a rollback across a full update brings rows and cursor back, and can be undone`() throws {
    let catalogue = try replaced()
    let (wrong, right) = try (
      catalogue.snapshot.canonicalDump, #require(try catalogue.writer.history().at(3)).canonicalDump
    )
    let report = try #require(try catalogue.writer.rollback(to: 3))
    #expect(report.sequence == 5 && report.generation == 3 && report.mode == .rollback && report.cursor == "t2")
    // a and c come back, b is renamed again, x goes; three relations come back.
    #expect(report.counts.productsUpserted == 3 && report.counts.productsDeleted == 1)
    #expect(report.counts.relationsWritten == 3 && report.counts.relationsDeleted == 0)
    #expect(try catalogue.snapshot.canonicalDump == right)
    try catalogue.reopen()
    #expect(try catalogue.snapshot.canonicalDump == right && catalogue.snapshot.cursor == "t2")
    #expect(try catalogue.writer.history().commits().map(\.commit.sequence) == [5, 4])
    let undo = try #require(try catalogue.writer.rollback(to: 4))
    #expect(undo.sequence == 6 && undo.cursor == "wrong")
    #expect(try catalogue.snapshot.canonicalDump == wrong)
    // What is no longer kept is a plain no.
    #expect(try catalogue.writer.rollback(to: 1) == nil)
  }

  @Test func `an increment goes on from the cursor that came back`() throws {
    let catalogue = try replaced()
    _ = try catalogue.writer.rollback(to: 3)
    try catalogue.increment([Product("d", "4444")], cursor: "t3")
    #expect(try catalogue.snapshot.products.map(\.id) == ["a", "b", "c", "d"])
    #expect(try catalogue.writer.history().commits().map(\.state.mode) == [.incremental, .rollback, .full])
  }

  @Test func `the difference across a full update is that of the contents`() throws {
    let catalogue = try replaced()
    let history = try catalogue.writer.history()
    let changes = try history.current.changes(since: #require(try history.at(3)))
    #expect(changes.products.map(\.name) == ["removed", "changed", "removed", "added"])
    #expect(changes.products.map { $0.before?.id ?? $0.after?.id } == ["a", "b", "c", "x"])
    #expect(changes.relations.map(\.name) == ["removed", "removed", "removed"])
    let back = try #require(try history.at(3)).changes(since: history.current)
    #expect(back.products.map(\.name) == ["added", "changed", "added", "removed"])
  }

  @Test func `rows that a full update sent again as they were make no difference`() throws {
    let products = (0..<200).map { Product("\($0)", "C\($0)", name: "\($0 % 7)") }
    let relations = (0..<50).flatMap { [Relation("\($0)", "\($0 + 1)"), Relation("\($0)", "\($0 + 1)")] }
    let catalogue = try TestCatalogue(products, relations)
    try catalogue.full(products.reversed(), relations.shuffled(), cursor: "again")
    let history = try catalogue.writer.history()
    #expect(try history.current.changes(since: #require(try history.at(1))).isEmpty)
    // One of two equal relations less is a difference.
    try catalogue.full(products, Array(relations.dropLast()), cursor: "less")
    let changes = try catalogue.snapshot.changes(since: #require(try catalogue.writer.history().at(2)))
    #expect(changes.products.isEmpty && changes.relations.map(\.name) == ["removed"])
  }

  @Test func `differences across generations are those that a model finds`() throws {
    var random = SeededGenerator(for: "CatalogPreviousGenerationTests model")
    for _ in 0..<20 * depth {
      func rows() -> [Product] {
        (0..<30).filter { _ in Bool.random(using: &random) }.map {
          Product("\($0)", "B\($0)", name: "n\(Int.random(in: 0..<3, using: &random))")
        }
      }
      let (old, new) = (rows(), rows())
      let catalogue = try TestCatalogue(old)
      try catalogue.full(new, cursor: "new")
      let history = try catalogue.writer.history()
      let changes = try history.current.changes(since: #require(try history.at(1)))
      var expected: [String: (Product?, Product?)] = [:]
      for product in old { expected[product.id, default: (nil, nil)].0 = product }
      for product in new { expected[product.id, default: (nil, nil)].1 = product }
      expected = expected.filter { $0.value.0 != $0.value.1 }
      #expect(changes.products.count == expected.count)
      for change in changes.products {
        let id = try #require(change.before?.id ?? change.after?.id)
        #expect(change.before == expected[id]?.0 && change.after == expected[id]?.1)
      }
    }
  }

  @Test func `a catalogue whose log was removed is refused while its previous generation is kept`() throws {
    let catalogue = try replaced()
    let right = try #require(try catalogue.writer.history().at(3)).canonicalDump
    catalogue.writer.close()
    let location = catalogue.location
    _ = try location.directory.remove("catalog.log")
    #expect(throws: StoreError.self) { try CatalogReader.open(location) }
    #expect(throws: StoreError.self) { try CatalogWriter(location) }
    let repair = try #require(try CatalogRepair.run(location))
    #expect(try repair.snapshot.canonicalDump == right && repair.source?.kind == .previous)
    // Its number is none that a commit had before.
    #expect(repair.snapshot.sequence > 4)
    #expect(try CatalogReader.open(location)?.snapshot().canonicalDump == right)
  }

  @Test func `what takes the place of a damaged log leaves the previous generation, and is compared with it`() throws {
    let products = (0..<2000).map { Product("\($0)", "C\($0)") }
    let catalogue = try TestCatalogue(products)
    try catalogue.full(products, cursor: "again")
    let dump = try catalogue.snapshot.canonicalDump
    catalogue.writer.close()
    let location = catalogue.location
    try catalogue.folder.write([], to: "catalog.log")
    func replace(_ lossLimit: LossLimit) throws -> UpdateReport {
      let writer = try CatalogWriter(location, replacesDamaged: true)
      defer { writer.close() }
      var update = try writer.beginFullUpdate(lossLimit)
      try update.take([Product("x", "9999")], [])
      return try update.commit(cursor: "new")
    }
    #expect { try replace(LossLimit()) } throws: {
      if case CatalogError.wouldLose(2000, 2000, _) = $0 { true } else { false }
    }
    let report = try replace(.open)
    #expect(report.counts.productsDeleted == 2000)
    let history = try #require(try CatalogReader.open(location)).history()
    #expect(try history.at(1)?.canonicalDump == dump)
    #expect(try location.directory.names().contains { $0.contains("damaged-1") })
  }

  @Test(.disabled(if: testsAreSealed, "it looks for a row in clear"))
  func `a full update replaces a catalogue of which a row is rotten, if it may`() throws {
    let catalogue = try TestCatalogue([Product("a", "1111"), Product("b", "2222", name: "rotten")])
    catalogue.writer.close()
    let location = catalogue.location
    var bytes = try catalogue.logBytes
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("rotten".utf8)) })
    bytes[place] ^= 1
    try catalogue.folder.write(bytes, to: "catalog.log")
    func update(replacesDamaged: Bool) throws -> String? {
      let writer = try CatalogWriter(location, replacesDamaged: replacesDamaged)
      defer { writer.close() }
      var update = try writer.beginFullUpdate()
      try update.take([Product("x", "9999")], [])
      _ = try update.commit(cursor: "new")
      return writer.damagedPath
    }
    #expect(throws: StoreError.self) { try update(replacesDamaged: false) }
    let damaged = try #require(try update(replacesDamaged: true))
    #expect(damaged.hasSuffix(".damaged-1"))
    let reader = try #require(try CatalogReader.open(location))
    #expect(try reader.snapshot().products.map(\.id) == ["x"] && reader.history().previous == nil)
  }

  @Test(arguments: [4096, 8192, 12288, 16384, 40960])
  func `a log that was cut off inside its base goes back to the previous generation`(byteCount: Int) throws {
    let products = (0..<2000).map { Product("\($0)", "C\($0)") }
    let catalogue = try TestCatalogue(products)
    let dump = try catalogue.snapshot.canonicalDump
    try catalogue.full(products.reversed(), cursor: "again")
    catalogue.writer.close()
    let bytes = try catalogue.logBytes
    try #require(bytes.count > byteCount)
    try catalogue.folder.write(Array(bytes.prefix(byteCount)), to: "catalog.log")
    let repair = try #require(try CatalogRepair.run(catalogue.location))
    #expect(repair.source?.kind == .previous && repair.snapshot.cursor == "full")
    #expect(try repair.snapshot.canonicalDump == dump)
    #expect(repair.snapshot.sequence > 2 && repair.snapshot.generation > 2)
  }

  @Test func `a rollback reaches a generation that is past its time and still there`() throws {
    let catalogue = try replaced()
    catalogue.writer.close()
    let location = catalogue.location
    try location.directory.setModificationTime(of: "catalog.previous", to: 1)
    let writer = try CatalogWriter(location, previousLifetime: .seconds(86_400))
    #expect(try writer.rollback(to: 2)?.cursor == "t1")
    writer.close()
    // The next commit deletes what is past its time.
    try location.directory.setModificationTime(of: "catalog.previous", to: 1)
    let next = try CatalogWriter(location, previousLifetime: .seconds(86_400))
    defer { next.close() }
    #expect(try location.previousByteCount() > 0)
    var increment = next.beginIncrement()
    try increment.take([Product("n", "5555")], [])
    _ = try increment.commit(cursor: "t4")
    #expect(try location.previousByteCount() == 0)
  }

  @Test func `a previous generation that cannot be read is reported where it matters`() throws {
    let catalogue = try replaced()
    try catalogue.folder.write([1, 2, 3], to: "catalog.previous")
    let history = try catalogue.writer.history()
    #expect(history.previousFailure != nil && history.previous == nil)
    #expect(try history.commits().map(\.commit.sequence) == [4])
    #expect(throws: CatalogError.self) { try history.at(2) }
    #expect(throws: CatalogError.self) { try catalogue.writer.rollback(to: 2) }
    #expect(try history.at(9) == nil)
  }

  @Test func `another kind of store in its place is named`() throws {
    let folder = try TemporaryDirectory()
    let location = StoreLocation.test(folder.directory, name: "catalogue")
    for (table, words) in [("documents/members", "a store of documents"), ("settings", "a store of settings")] {
      let writer = try StoreWriter(
        location, schema: Schema([Schema.Table(table, keySpaces: [Schema.KeySpace("id", isUnique: true)])]))
      _ = try writer.replace { $0.state = [] }
      writer.close()
      #expect {
        try CatalogReader.open(location)?.snapshot()
      } throws: {
        "\($0)".contains("is not a catalogue, but \(words)")
      }
      #expect(throws: StoreError.self) { try CatalogWriter(location) }
      _ = try folder.directory.remove("catalogue.log")
    }
  }
}
