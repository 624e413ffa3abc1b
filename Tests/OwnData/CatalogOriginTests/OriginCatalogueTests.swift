import Testing

@testable import CatalogOrigin

@Suite struct OriginCatalogueTests {
  /// The wall clock of these tests unless they say otherwise.
  let now = Stamp("2026-06-01 12:00:00")
  let january = "2026-01-01 00:00:00"
  let february = "2026-02-01 00:00:00"
  let march = "2026-03-01 00:00:00"

  func catalogue(_ products: [TestProduct], _ relations: [TestRelation] = []) throws -> OriginCatalogue {
    OriginCatalogue(try OriginRows(products, relations), now: now)
  }

  func reload(
    _ catalogue: inout OriginCatalogue, _ products: [TestProduct], _ relations: [TestRelation] = [],
    now: Stamp? = nil
  ) throws -> OriginCatalogue.Changes {
    let changes = catalogue.reload(try OriginRows(products, relations), now: now ?? self.now)
    catalogue.checkInvariants { Issue.record("\($0)") }
    return changes
  }

  func answer(_ catalogue: inout OriginCatalogue, _ cursor: String) throws -> RowCollector {
    try catalogue.answer(cursor: cursor, now: now).collected()
  }

  // MARK: Answers

  @Test func `an empty cursor gets every row and the newest stamp`() throws {
    let products = [
      TestProduct(id: "2", name: "b", updateTime: february),
      TestProduct(id: "1", name: "a", updateTime: january),
      TestProduct(id: "3", updateTime: january, delFlag: 1),
    ]
    let relations = [
      TestRelation(id: "r", productId: "1", subProductId: "2"), TestRelation(id: "s", productId: "nobody"),
    ]
    var catalogue = try catalogue(products, relations)
    let answer = catalogue.answer(cursor: "", now: now)
    #expect(answer.isFull)
    #expect(answer.updateTime == february)
    let rows = try answer.collected()
    #expect(rows.products.sorted { $0.id < $1.id } == products.sorted { $0.id < $1.id })
    #expect(rows.relations.sorted() == relations.sorted())
    #expect(catalogue.counts == .init(products: 3, relations: 2, tombstones: 0))
  }

  @Test func `a cursor gets what is later, with its relations`() throws {
    var catalogue = try catalogue(
      [
        TestProduct(id: "1", updateTime: january), TestProduct(id: "2", updateTime: february),
        TestProduct(id: "3", updateTime: march),
      ],
      [TestRelation(id: "r", productId: "1"), TestRelation(id: "s", productId: "3")])
    let rows = try answer(&catalogue, february)
    #expect(rows.products.map(\.id) == ["3"])
    #expect(rows.relations.map(\.id) == ["s"])
    #expect(try answer(&catalogue, march).products.isEmpty)
    #expect(try answer(&catalogue, january).products.map(\.id) == ["2", "3"])
  }

  @Test(arguments: [
    ("1", 2), ("2026-01-15", 1), ("2026-01-01 00:00:00", 1), ("tomorrow", 0), ("\u{10FFFF}", 0),
  ])
  func `any other text is a cursor by plain comparison`(cursor: String, count: Int) throws {
    var catalogue = try catalogue([
      TestProduct(id: "1", updateTime: january), TestProduct(id: "2", updateTime: february),
    ])
    #expect(try answer(&catalogue, cursor).products.count == count)
  }

  @Test func `rows without updateTime are served under the present time`() throws {
    var catalogue = try catalogue([TestProduct(id: "1")])
    #expect(catalogue.answer(cursor: "", now: now).updateTime == now.string)
    #expect(try answer(&catalogue, now.string).products.isEmpty)
  }

  @Test func `an empty catalogue has a cursor`() throws {
    var catalogue = try catalogue([])
    #expect(catalogue.answer(cursor: "", now: now).updateTime == now.string)
    #expect(try answer(&catalogue, "").products.isEmpty)
  }

  @Test func `an answer stays as it was when it was asked for`() throws {
    var catalogue = try catalogue([TestProduct(id: "1", name: "old", updateTime: january)])
    let answer = catalogue.answer(cursor: "", now: now)
    _ = try reload(&catalogue, [TestProduct(id: "2")])
    #expect(try answer.collected().products.map(\.name) == ["old"])
    #expect(answer.updateTime == january)
  }

  // MARK: Rows of a file

  @Test func `of several rows with one id the last counts`() throws {
    var catalogue = try catalogue(
      [
        TestProduct(id: "1", name: "a", updateTime: march),
        TestProduct(id: "1", name: "b", updateTime: january),
      ],
      [TestRelation(id: "r", productId: "2"), TestRelation(id: "r", productId: "1")])
    let rows = try answer(&catalogue, "")
    #expect(rows.products.map(\.name) == ["b"])
    #expect(rows.relations == [TestRelation(id: "r", productId: "1")])
    #expect(catalogue.newestStamp.string == january)
  }

  @Test func `relations without an id all count`() throws {
    var catalogue = try catalogue(
      [TestProduct(id: "1")],
      [
        TestRelation(id: "", productId: "1", subProductId: "a"),
        TestRelation(id: "", productId: "1", subProductId: "b"),
      ])
    #expect(try answer(&catalogue, "").relations.count == 2)
  }

  @Test func `ids that only look alike are two`() throws {
    var catalogue = try catalogue([TestProduct(id: "\u{E9}"), TestProduct(id: "e\u{301}")])
    #expect(try answer(&catalogue, "").products.count == 2)
  }

  @Test func `a product without an id is refused`() {
    #expect(throws: OriginRows.MissingID.self) { try OriginRows([TestProduct(id: "")]) }
  }

  // MARK: Changes

  @Test func `files that say the same change nothing`() throws {
    let products = [TestProduct(id: "1", updateTime: january), TestProduct(id: "2")]
    let relations = [TestRelation(id: "r", productId: "1")]
    var catalogue = try catalogue(products, relations)
    #expect(try reload(&catalogue, products.reversed(), relations).isEmpty)
    #expect(catalogue.newestStamp.string == january)
  }

  @Test func `a change keeps its own updateTime if that is later than the newest stamp`() throws {
    var catalogue = try catalogue([TestProduct(id: "1", updateTime: january)])
    let changed = TestProduct(id: "1", name: "new", updateTime: february)
    #expect(try reload(&catalogue, [changed]) == .init(updated: 1))
    #expect(catalogue.newestStamp.string == february)
    #expect(try answer(&catalogue, january).products == [changed])
  }

  @Test(arguments: ["2026-01-01 00:00:00", "2025-01-01 00:00:00", ""])
  func `any other change is stamped now and keeps its text`(updateTime: String) throws {
    var catalogue = try catalogue([TestProduct(id: "1", updateTime: january)])
    let changed = TestProduct(id: "1", name: "new", updateTime: updateTime)
    #expect(try reload(&catalogue, [changed]) == .init(updated: 1))
    #expect(catalogue.newestStamp == now)
    #expect(try answer(&catalogue, january).products == [changed])
    #expect(try answer(&catalogue, now.string).products.isEmpty)
  }

  @Test func `two changes within a second and a clock that goes back are still one after the other`() throws {
    var catalogue = try catalogue([TestProduct(id: "1")])
    var cursor = catalogue.newestStamp
    for (step, now) in [now, now, Stamp(january)].enumerated() {
      _ = try reload(&catalogue, [TestProduct(id: "1", name: "\(step)")], now: now)
      #expect(catalogue.newestStamp > cursor)
      #expect(try answer(&catalogue, cursor.string).products.map(\.name) == ["\(step)"])
      cursor = catalogue.newestStamp
    }
    #expect(cursor.string == "2026-06-01 12:00:03")
  }

  @Test func `all changes of a reload have one stamp`() throws {
    var catalogue = try catalogue([TestProduct(id: "1"), TestProduct(id: "2")])
    let before = catalogue.newestStamp.string
    let changes = try reload(&catalogue, [TestProduct(id: "2", name: "b"), TestProduct(id: "3")])
    #expect(changes == .init(inserted: 1, updated: 1, deleted: 1))
    #expect(try answer(&catalogue, before).products.map(\.id) == ["1", "2", "3"])
    #expect(catalogue.newestStamp.string == "2026-06-01 12:00:01")
  }

  @Test func `a row that vanished is sent with delFlag 1 and its stamp`() throws {
    var catalogue = try catalogue(
      [TestProduct(id: "1", name: "a", updateTime: january), TestProduct(id: "2")],
      [TestRelation(id: "r", productId: "1")])
    #expect(try reload(&catalogue, [TestProduct(id: "2")]) == .init(deleted: 1))
    let rows = try answer(&catalogue, january)
    #expect(rows.products == [TestProduct(id: "1", name: "a", updateTime: now.string, delFlag: 1)])
    #expect(rows.relations.isEmpty)
    #expect(try answer(&catalogue, "").products.map(\.id) == ["2"])
    #expect(catalogue.counts == .init(products: 1, relations: 0, tombstones: 1))
  }

  @Test func `a row that comes back is a new one`() throws {
    let product = TestProduct(id: "1", updateTime: january)
    var catalogue = try catalogue([product, TestProduct(id: "2")])
    _ = try reload(&catalogue, [TestProduct(id: "2")])
    let cursor = catalogue.newestStamp.string
    #expect(try reload(&catalogue, [product, TestProduct(id: "2")]) == .init(inserted: 1))
    #expect(try answer(&catalogue, cursor).products == [product])
  }

  @Test func `a product whose relations changed is sent again with all of them`() throws {
    let products = [TestProduct(id: "1", updateTime: january), TestProduct(id: "2", updateTime: january)]
    let relations = [TestRelation(id: "r", productId: "1"), TestRelation(id: "s", productId: "2")]
    var catalogue = try catalogue(products, relations)
    let more = relations + [TestRelation(id: "t", productId: "1")]
    #expect(try reload(&catalogue, products, more) == .init(updated: 1))
    let rows = try answer(&catalogue, january)
    #expect(rows.products.map(\.id) == ["1"])
    #expect(rows.relations.map(\.id) == ["r", "t"])
    #expect(try reload(&catalogue, products, []) == .init(updated: 2))
    #expect(try answer(&catalogue, now.string).relations.isEmpty)
  }

  @Test func `a relation that moves to another product moves both`() throws {
    let products = [TestProduct(id: "1"), TestProduct(id: "2")]
    var catalogue = try catalogue(products, [TestRelation(id: "r", productId: "1")])
    #expect(try reload(&catalogue, products, [TestRelation(id: "r", productId: "2")]) == .init(updated: 2))
  }

  @Test func `relations wait for their product`() throws {
    let relations = [TestRelation(id: "r", productId: "2")]
    var catalogue = try catalogue([TestProduct(id: "1")], relations)
    _ = try reload(&catalogue, [TestProduct(id: "1"), TestProduct(id: "2")], relations)
    let rows = try answer(&catalogue, now.string)
    #expect(rows.products.map(\.id) == ["2"])
    #expect(rows.relations == relations)
  }

  @Test func `a product that the file marks as deleted is deleted by an increment, without relations`() throws {
    let relations = [TestRelation(id: "r", productId: "1")]
    var catalogue = try catalogue([TestProduct(id: "1", updateTime: january)], relations)
    _ = try reload(&catalogue, [TestProduct(id: "1", updateTime: february, delFlag: 1)], relations)
    let rows = try answer(&catalogue, january)
    #expect(rows.products == [TestProduct(id: "1", updateTime: february, delFlag: 1)])
    #expect(rows.relations.isEmpty)
  }

  // MARK: Cursors of an earlier process

  @Test func `a change is stamped after a credible cursor that a client showed`() throws {
    var catalogue = try catalogue([TestProduct(id: "1", updateTime: january)])
    let cursor = "2026-06-01 18:00:00"
    #expect(try answer(&catalogue, cursor).products.isEmpty)
    _ = try reload(&catalogue, [TestProduct(id: "1", name: "new", updateTime: march)])
    #expect(try answer(&catalogue, cursor).products.map(\.name) == ["new"])
    #expect(catalogue.newestStamp.string == "2026-06-01 18:00:01")
  }

  @Test(arguments: ["9999-01-01 00:00:00", "zzzz", "2026-06-02 12:00:01"])
  func `an invented cursor does not move the stamps`(cursor: String) throws {
    var catalogue = try catalogue([TestProduct(id: "1", updateTime: january)])
    #expect(try answer(&catalogue, cursor).products.isEmpty)
    _ = try reload(&catalogue, [TestProduct(id: "1", name: "new")])
    #expect(catalogue.newestStamp == now)
  }
}
