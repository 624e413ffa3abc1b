import Testing

@testable import CatalogOrigin

@Suite struct OriginChangesTests {
  /// The wall clock of these tests unless they say otherwise.
  let now = Stamp("2026-06-01 12:00:00")
  let january = "2026-01-01 00:00:00"
  let february = "2026-02-01 00:00:00"
  let march = "2026-03-01 00:00:00"

  func origin(_ products: [TestProduct], _ relations: [TestRelation] = []) async throws -> TestOrigin {
    try await TestOrigin(products, relations, now: now)
  }

  func reload(
    _ origin: TestOrigin, _ products: [TestProduct], _ relations: [TestRelation] = [], now: Stamp? = nil
  ) async throws -> OriginStore.Changes {
    try await origin.reload(products, relations, now: now ?? self.now)
  }

  func answer(_ origin: TestOrigin, _ cursor: String) throws -> RowCollector {
    try origin.answer(cursor, now: now).collected()
  }

  // MARK: Answers

  @Test func `an empty cursor gets every row and the newest stamp`() async throws {
    let products = [
      TestProduct(id: "2", name: "b", updateTime: february),
      TestProduct(id: "1", name: "a", updateTime: january),
      TestProduct(id: "3", updateTime: january, delFlag: 1),
    ]
    let relations = [
      TestRelation(id: "r", productId: "1", subProductId: "2"), TestRelation(id: "s", productId: "nobody"),
    ]
    let origin = try await origin(products, relations)
    let answer = try origin.answer("")
    #expect(answer.isFull)
    #expect(answer.updateTime == february)
    let rows = try answer.collected()
    #expect(rows.products.sorted { $0.id < $1.id } == products.sorted { $0.id < $1.id })
    #expect(rows.relations.sorted() == relations.sorted())
    #expect(origin.store.counts == .init(products: 3, relations: 2, tombstones: 0))
  }

  @Test func `a cursor gets what is later, with its relations`() async throws {
    let origin = try await origin(
      [
        TestProduct(id: "1", updateTime: january), TestProduct(id: "2", updateTime: february),
        TestProduct(id: "3", updateTime: march),
      ],
      [TestRelation(id: "r", productId: "1"), TestRelation(id: "s", productId: "3")])
    let rows = try answer(origin, february)
    #expect(rows.products.map(\.id) == ["3"])
    #expect(rows.relations.map(\.id) == ["s"])
    #expect(try answer(origin, march).products.isEmpty)
    #expect(try answer(origin, january).products.map(\.id) == ["2", "3"])
  }

  @Test(arguments: [
    ("1", 2), ("2026-01-15", 1), ("2026-01-01 00:00:00", 1), ("tomorrow", 0), ("\u{10FFFF}", 0),
  ])
  func `any other text is a cursor by plain comparison`(cursor: String, count: Int) async throws {
    let origin = try await origin([
      TestProduct(id: "1", updateTime: january), TestProduct(id: "2", updateTime: february),
    ])
    #expect(try answer(origin, cursor).products.count == count)
  }

  @Test func `rows without updateTime are served under the present time`() async throws {
    let origin = try await origin([TestProduct(id: "1")])
    #expect(try origin.answer("").updateTime == now.string)
    #expect(try answer(origin, now.string).products.isEmpty)
  }

  @Test func `an empty catalogue has a cursor`() async throws {
    let origin = try await origin([])
    #expect(try origin.answer("").updateTime == now.string)
    #expect(try answer(origin, "").products.isEmpty)
  }

  @Test func `an answer stays as it was when it was asked for`() async throws {
    let origin = try await origin([TestProduct(id: "1", name: "old", updateTime: january)])
    let answer = try origin.answer("")
    _ = try await reload(origin, [TestProduct(id: "2")])
    #expect(try answer.collected().products.map(\.name) == ["old"])
    #expect(answer.updateTime == january)
  }

  // MARK: Rows of a file

  @Test func `of several rows with one id the last counts`() async throws {
    let origin = try await origin(
      [
        TestProduct(id: "1", name: "a", updateTime: march),
        TestProduct(id: "1", name: "b", updateTime: january),
      ])
    #expect(try answer(origin, "").products.map(\.name) == ["b"])
    #expect(origin.store.stamps.newest.string == january)
  }

  @Test func `relations without an id all count`() async throws {
    let origin = try await origin(
      [TestProduct(id: "1")],
      [
        TestRelation(id: "", productId: "1", subProductId: "a"),
        TestRelation(id: "", productId: "1", subProductId: "b"),
      ])
    #expect(try answer(origin, "").relations.count == 2)
  }

  @Test func `ids that only look alike are two`() async throws {
    let origin = try await origin([TestProduct(id: "\u{E9}"), TestProduct(id: "e\u{301}")])
    #expect(try answer(origin, "").products.count == 2)
  }

  @Test func `a product without an id is refused`() async throws {
    let error = await #expect(throws: OriginError.self) { try await origin([TestProduct(id: "")]) }
    #expect(error?.description.contains("has no id") == true)
  }

  // MARK: Changes

  @Test func `files that say the same change nothing`() async throws {
    let products = [TestProduct(id: "1", updateTime: january), TestProduct(id: "2")]
    let relations = [TestRelation(id: "r", productId: "1")]
    let origin = try await origin(products, relations)
    #expect(try await reload(origin, products.reversed(), relations).isEmpty)
    #expect(origin.store.stamps.newest.string == january)
  }

  @Test func `a change keeps its own updateTime if that is later than the newest stamp`() async throws {
    let origin = try await origin([TestProduct(id: "1", updateTime: january)])
    let changed = TestProduct(id: "1", name: "new", updateTime: february)
    #expect(try await reload(origin, [changed]) == .init(updated: 1))
    #expect(origin.store.stamps.newest.string == february)
    #expect(try answer(origin, january).products == [changed])
  }

  @Test(arguments: ["2026-01-01 00:00:00", "2025-01-01 00:00:00", ""])
  func `any other change is stamped now and keeps its text`(updateTime: String) async throws {
    let origin = try await origin([TestProduct(id: "1", updateTime: january)])
    let changed = TestProduct(id: "1", name: "new", updateTime: updateTime)
    #expect(try await reload(origin, [changed]) == .init(updated: 1))
    #expect(origin.store.stamps.newest == now)
    #expect(try answer(origin, january).products == [changed])
    #expect(try answer(origin, now.string).products.isEmpty)
  }

  @Test func `two changes within a second and a clock that goes back are still one after the other`() async throws {
    let origin = try await origin([TestProduct(id: "1")])
    var cursor = origin.store.stamps.newest
    for (step, now) in [now, now, Stamp(january)].enumerated() {
      _ = try await reload(origin, [TestProduct(id: "1", name: "\(step)")], now: now)
      #expect(origin.store.stamps.newest > cursor)
      #expect(try answer(origin, cursor.string).products.map(\.name) == ["\(step)"])
      cursor = origin.store.stamps.newest
    }
    #expect(cursor.string == "2026-06-01 12:00:03")
  }

  @Test func `all changes of a reload have one stamp`() async throws {
    let origin = try await origin([TestProduct(id: "1"), TestProduct(id: "2")])
    let before = origin.store.stamps.newest.string
    let changes = try await reload(origin, [TestProduct(id: "2", name: "b"), TestProduct(id: "3")])
    #expect(changes == .init(inserted: 1, updated: 1, deleted: 1))
    #expect(try answer(origin, before).products.map(\.id) == ["1", "2", "3"])
    #expect(origin.store.stamps.newest.string == "2026-06-01 12:00:01")
  }

  @Test func `a row that vanished is sent with delFlag 1 and its stamp`() async throws {
    let origin = try await origin(
      [TestProduct(id: "1", name: "a", updateTime: january), TestProduct(id: "2")],
      [TestRelation(id: "r", productId: "1")])
    #expect(try await reload(origin, [TestProduct(id: "2")]) == .init(deleted: 1))
    let rows = try answer(origin, january)
    #expect(rows.products == [TestProduct(id: "1", name: "a", updateTime: now.string, delFlag: 1)])
    #expect(rows.relations.isEmpty)
    #expect(try answer(origin, "").products.map(\.id) == ["2"])
    #expect(origin.store.counts == .init(products: 1, relations: 0, tombstones: 1))
  }

  @Test func `a row that comes back is a new one`() async throws {
    let product = TestProduct(id: "1", updateTime: january)
    let origin = try await origin([product, TestProduct(id: "2")])
    _ = try await reload(origin, [TestProduct(id: "2")])
    let cursor = origin.store.stamps.newest.string
    #expect(try await reload(origin, [product, TestProduct(id: "2")]) == .init(inserted: 1))
    #expect(try answer(origin, cursor).products == [product])
  }

  @Test func `a product whose relations changed is sent again with all of them`() async throws {
    let products = [TestProduct(id: "1", updateTime: january), TestProduct(id: "2", updateTime: january)]
    let relations = [TestRelation(id: "r", productId: "1"), TestRelation(id: "s", productId: "2")]
    let origin = try await origin(products, relations)
    let more = relations + [TestRelation(id: "t", productId: "1")]
    #expect(try await reload(origin, products, more) == .init(updated: 1))
    let rows = try answer(origin, january)
    #expect(rows.products.map(\.id) == ["1"])
    #expect(rows.relations.map(\.id) == ["r", "t"])
    #expect(try await reload(origin, products, []) == .init(updated: 2))
    #expect(try answer(origin, now.string).relations.isEmpty)
  }

  @Test func `a relation that moves to another product moves both`() async throws {
    let products = [TestProduct(id: "1"), TestProduct(id: "2")]
    let origin = try await origin(products, [TestRelation(id: "r", productId: "1")])
    #expect(try await reload(origin, products, [TestRelation(id: "r", productId: "2")]) == .init(updated: 2))
  }

  @Test func `relations wait for their product`() async throws {
    let relations = [TestRelation(id: "r", productId: "2")]
    let origin = try await origin([TestProduct(id: "1")], relations)
    _ = try await reload(origin, [TestProduct(id: "1"), TestProduct(id: "2")], relations)
    let rows = try answer(origin, now.string)
    #expect(rows.products.map(\.id) == ["2"])
    #expect(rows.relations == relations)
  }

  @Test func `a product that the file marks as deleted is deleted by an increment, without relations`() async throws {
    let relations = [TestRelation(id: "r", productId: "1")]
    let origin = try await origin([TestProduct(id: "1", updateTime: january)], relations)
    _ = try await reload(origin, [TestProduct(id: "1", updateTime: february, delFlag: 1)], relations)
    let rows = try answer(origin, january)
    #expect(rows.products == [TestProduct(id: "1", updateTime: now.string, delFlag: 1)])
    #expect(rows.relations.isEmpty)
  }

  // MARK: Cursors of an earlier process

  @Test func `a change is stamped after a credible cursor that a client showed`() async throws {
    let origin = try await origin([TestProduct(id: "1", updateTime: january)])
    let cursor = "2026-06-01 18:00:00"
    #expect(try answer(origin, cursor).products.isEmpty)
    _ = try await reload(origin, [TestProduct(id: "1", name: "new", updateTime: march)])
    #expect(try answer(origin, cursor).products.map(\.name) == ["new"])
    #expect(origin.store.stamps.newest.string == "2026-06-01 18:00:01")
  }

  @Test(arguments: ["9999-01-01 00:00:00", "zzzz", "2026-06-02 12:00:01"])
  func `an invented cursor does not move the stamps`(cursor: String) async throws {
    let origin = try await origin([TestProduct(id: "1", updateTime: january)])
    #expect(try answer(origin, cursor).products.isEmpty)
    _ = try await reload(origin, [TestProduct(id: "1", name: "new")])
    #expect(origin.store.stamps.newest == now)
  }
}
