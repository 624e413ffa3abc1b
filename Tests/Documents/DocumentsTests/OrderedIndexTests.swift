import Bytes
import DocumentFormat
import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Documents

/// Ordered indexes of collections: declaring them, what queries do with them, pages, and damage.
@Suite struct OrderedIndexTests {
  /// A sighting of a device at a site.
  struct Sighting: Codable, Identifiable, Equatable, Sendable {
    var id: String
    var site: String
    var at: Date
    var level: Double?
    var tags: [String] = []

    init(_ number: Int, site: String = "a", tags: [String] = []) {
      id = "s\(number)"
      self.site = site
      at = Date(timeIntervalSince1970: Double(number / 3))
      level = number % 4 == 0 ? nil : Double(number) / 2
      self.tags = tags
    }
  }

  private let documents = TestDocuments()

  private func sightings(
    _ indexes: [Index<Sighting>], count: Int = 300
  ) throws -> DocumentCollection<Sighting> {
    let sightings = try documents.store().collection("sightings", indexes: indexes)
    if try sightings.count() == 0 {
      try sightings.insert(contentsOf: (0..<count).map { Sighting($0, site: ["a", "b", "c"][$0 % 3]) })
    }
    return sightings
  }

  @Test func `an explanation names the index, the range, the order and what is tested`() throws {
    let sightings = try sightings([
      Index(\.at, .ordered), Index(\.site, \.at, .ordered), Index(\.level, .ordered), Index(\.site),
    ])
    let start = Date(timeIntervalSince1970: 20)
    func steps(_ query: Query<Sighting>) throws -> [String] { try query.explanation().steps }
    #expect(try steps(sightings.query(\.at >= start)) == ["ordered index on at (at >= ?)"])
    #expect(
      try steps(sightings.query(\.at >= start && \.at < start.addingTimeInterval(9)).order(by: \.at))
        == ["ordered index on at (at >= ? && at < ?) in its order"])
    #expect(
      try steps(sightings.query().order(by: \.at, descending: true).limit(20))
        == ["ordered index on at (all) in its reverse order", "end after 20 documents"])
    #expect(
      try steps(sightings.query(\.site == "b").order(by: \.at, descending: true).limit(1))
        == ["ordered index on site, at (site == ?) in its reverse order", "end after 1 document"])
    #expect(
      try steps(sightings.query(\.site == "b" && \.at > start))
        == ["ordered index on site, at (site == ? && at > ?)"])
    #expect(try steps(sightings.query(\.site == "b")) == ["index on site (1 key, by value)", "test site == ?"])
    #expect(
      try steps(sightings.query(\.at > start.addingTimeInterval(70) && .hasPrefix(\.id, "s2")).order(by: \.id))
        == ["ordered index on at (at > ?)", "test id hasprefix ?", "sort by id"])
    #expect(
      try steps(sightings.query(\.level == nil).order(by: \.id))
        == ["ordered index on level (level is null)", "sort by id"])
    #expect(
      try steps(sightings.query(\.level > 3 || \.at < start))
        == ["ordered index on level (level > ?) and ordered index on at (at < ?)"])
    #expect(try steps(sightings.query().order(by: \.tags)) == ["scan all documents", "sort by tags"])
    #expect(
      try steps(sightings.query(\.level < 3).order(by: \.level).order(by: \.id))
        == ["ordered index on level (level < ?) in its order"])
    #expect(
      try sightings.query().order(by: \.at).order(by: \.site, descending: true).explain().description
        == "ordered index on at (all) in its order")
    // Most of the documents, of which something else is tested: a scan.
    #expect(try sightings.query(\.level > 1 && .hasPrefix(\.id, "s2")).explain() == .scan)
    let untyped = try documents.inspect().untypedCollection("sightings")
    #expect(
      try untyped.explanation(Condition(parsing: "level >= 140"), ordering: Ordering(parsing: "-level"), limit: 3)
        .description
        == "ordered index on level (level >= ?) in its reverse order; end after 3 documents")
  }

  @Test func `a query in order reads what it finds and nothing else`() throws {
    let traces = Traces()
    var options = DocumentStore.Options()
    options.trace = Tracer { traces.add($0) }
    let sightings = try documents.store(options).collection(
      "sightings", of: Sighting.self, indexes: [Index(\.at, .ordered), Index(\.level, .ordered)])
    try sightings.insert(contentsOf: (0..<3000).map { Sighting($0) })
    let latest = try sightings.query(\.site == "a").order(by: \.at, descending: true).limit(5).fetch()
    #expect(latest.map(\.id) == ["s2997", "s2998", "s2999", "s2994", "s2995"])
    #expect(traces.last?.documentsRead == 5 && traces.last?.documentsAffected == 5)
    #expect(try sightings.query(\.level > 10 && \.level <= 20).count() == 15)
    #expect(traces.last?.documentsRead == 0)
    #expect(try sightings.query(\.level == nil).count() == 750)
    #expect(traces.last?.documentsRead == 0)
    try sightings.delete("s24")
    #expect(try sightings.query(\.level == nil).count() == 749)
  }

  @Test func `a few of very many documents without an order are found by a scan`() throws {
    let sightings = try sightings([Index(\.at, .ordered)], count: 4000)
    let late = sightings.query(\.at >= Date(timeIntervalSince1970: 100))
    #expect(try late.limit(3).explain() == .scan)
    #expect(try late.limit(3).fetch().map(\.id) == ["s300", "s301", "s302"])
    #expect(try late.explain().description == "ordered index on at (at >= ?)")
    #expect(try late.order(by: \.at).limit(3).explain().description == "ordered index on at (at >= ?) in its order")
  }

  @Test func `an ordered index comes and goes in a commit of its own, next to another one of its field`() throws {
    let plain = try sightings([Index(\.site)])
    let before = try documents.store().snapshot()
    #expect(before.description.format != 3 && before.store?.orderedIndexes(of: 0) == [])
    let written = documents.bytes.count
    var sightings = try sightings([Index(\.site), Index(\.site, .ordered)])
    // No document was written again.
    #expect(documents.bytes.count - written < 20_000)
    let state = try #require(try documents.store().snapshot().store?.state)
    #expect(try DocumentDecoder().decode(StoreDescription.self, from: state).format == 3)
    #expect(try documents.inspect().untypedCollection("sightings").indexes().map(\.isOrdered) == [false, true])
    #expect(try sightings.query(\.site == "a").explain().description == "index on site (1 key, by value)")
    #expect(try sightings.query(\.site > "a").count() == 200)
    // From equality to order, and back.
    sightings = try self.sightings([Index(\.site, .ordered)])
    #expect(try sightings.query(\.site == "a").explain().description == "ordered index on site (site == ?)")
    #expect(try sightings.query(\.site == "a").fetch() == plain.query(\.site == "a").fetch())
    try sightings.upsert(Sighting(1000, site: "aa"))
    sightings = try self.sightings([Index(\.site)])
    let after = try documents.store().snapshot()
    #expect(after.store?.orderedIndexes(of: 0) == [])
    #expect(try DocumentDecoder().decode(StoreDescription.self, from: after.store?.state ?? []).format == 2)
    #expect(try sightings.query(\.site == "aa").count() == 1)
    #expect(try after.verify().isEmpty)
    // Declared before the first document.
    let early = try documents.store().collection("early", of: Sighting.self, indexes: [Index(\.at, .ordered)])
    try early.insert(Sighting(1))
    #expect(try early.query().order(by: \.at).explain().description == "ordered index on at (all) in its order")
    #expect(try early.query().order(by: \.at).fetch() == [Sighting(1)])
  }

  @Test func `arrays are found by each element, and end the use of the index for order`() throws {
    let sightings = try sightings([Index(\.tags, .ordered), Index(\.site, \.level, .ordered)], count: 60)
    #expect(try sightings.query().order(by: \.tags).explain() == .scan)
    try sightings.upsert(Sighting(100, tags: ["b", "x"]))
    let tagged = sightings.query(Where<Sighting>(try Condition(parsing: "tags > 'c' && tags < 'c'")))
    #expect(try tagged.fetch().map(\.id) == ["s100"])
    #expect(try tagged.explanation().steps.count == 2)
    #expect(try sightings.query(Where(try Condition(parsing: "tags >= 'b'"))).count() == 1)
    // One value in each field so far.
    let query = sightings.query(\.site == "a").order(by: \.level)
    #expect(try query.explain().description == "ordered index on site, level (site == ?) in its order")
    let other = try documents.inspect().untypedCollection("sightings")
    try other.put(try DocumentValue(json: #"{"id":"odd","site":"a","at":0,"level":[1,2],"tags":[]}"#))
    #expect(
      try other.explanation(Condition(parsing: "site == 'a'"), ordering: Ordering(parsing: "level")).plan == .scan)
    #expect(try other.count(Condition(parsing: "site == 'a' && level == 2")) == 1 + 0)
    #expect(try documents.inspect().snapshot().verify().isEmpty)
    #expect(throws: DocumentStoreError.self) {
      try documents.store().collection(
        "c", of: Sighting.self, indexes: [Index(\.site, \.at, .ordered, paths: ("place", "at"))]
      )
      .insert(Sighting(1))
    }
  }

  @Test(arguments: [true, false]) func `pages have each document once, whatever other commits do`(
    _ isIndexed: Bool
  ) throws {
    var random = SeededGenerator(for: "OrderedIndexTests, pages, \(isIndexed)")
    let sightings = try sightings(isIndexed ? [Index(\.at, .ordered)] : [], count: 0)
    try sightings.insert(contentsOf: (0..<400).map { Sighting($0, site: "\($0 % 2)") })
    for isDescending in [false, true] {
      let query = sightings.query(\.site == "0").order(by: \.at, descending: isDescending).limit(7)
      let wanted = try Set(sightings.query(\.site == "0").fetch().map(\.id))
      var seen: [String] = []
      var times: [Date] = []
      var cursor: QueryCursor?
      var extra = 1000
      repeat {
        let page = try query.page(after: cursor)
        let found = try page.results.map { try $0.get() }
        seen += found.map(\.id)
        times += found.map(\.at)
        cursor = page.next.flatMap { QueryCursor($0.description) }
        // Rows move, documents of the other kind come and go, and the file is written anew.
        for _ in 0..<5 {
          let id = wanted.randomElement(using: &random)!
          try sightings.update(id) { $0.tags.append("again") }
        }
        extra += 1
        try sightings.upsert(Sighting(extra, site: "1"))
        if let id = try sightings.query(\.site == "1").fetch().randomElement(using: &random)?.id {
          try sightings.delete(id)
        }
        if extra % 9 == 0 { try sightings.store.compact() }
      } while cursor != nil
      #expect(seen.count == wanted.count && Set(seen) == wanted)
      #expect(times == (isDescending ? times.sorted(by: >) : times.sorted()))
    }
    let plan = try sightings.query(\.site == "0").order(by: \.at).limit(7).explanation().sorting
    #expect((plan == nil) == isIndexed)
  }

  @Test func `a cursor is refused by another order, and what is no cursor by its text`() throws {
    let sightings = try sightings([Index(\.at, .ordered), Index(\.site, \.at, .ordered)])
    let cursor = try #require(try sightings.query().order(by: \.at).limit(3).page().next)
    for query in [
      sightings.query(), sightings.query().order(by: \.at, descending: true), sightings.query().order(by: \.id),
    ] {
      let error = #expect(throws: DocumentStoreError.self) { try query.limit(3).page(after: cursor) }
      #expect(error?.description.contains("begin again with the first page") == true)
    }
    for text in ["", "x", "AAAA", "!!!", String(repeating: "A", count: 40), cursor.description + "=", "é"] {
      #expect(QueryCursor(text) == nil, "\(text)")
    }
    // A cursor whose position is cut off anywhere, or followed by anything, is a position or an error.
    let position = cursor.position
    for count in position.indices {
      let cut = QueryCursor(Ordering([Ordering.Term(try FieldPath(\Sighting.at))]), position: Array(position[..<count]))
      _ = try? sightings.query().order(by: \.at).limit(2).page(after: cut)
    }
    // Under another condition the place in the order is the same.
    let order = sightings.query(\.site == "a").order(by: \.site).order(by: \.at).limit(4)
    let next = try #require(try order.page().next)
    let others = sightings.query(\.site == "b").order(by: \.site).order(by: \.at).limit(1000)
    #expect(try others.page(after: next).results.count == 100)
    let last = try #require(try sightings.query(\.site == "c").order(by: \.site).order(by: \.at).limit(4).page().next)
    #expect(try others.page(after: last).results.count == 0)
    #expect(try sightings.query().limit(0).page().next == nil)
    #expect(try sightings.query().page().results.count == 300)
  }

  @Test func `verification tells keys that are not those of the documents`() throws {
    let sightings = try sightings([Index(\.at, .ordered)])
    let declared = try documents.inspect().snapshot().declaredIndexes(of: sightings.table)
    #expect(try documents.inspect().snapshot().verify().isEmpty)
    let document = try DocumentEncoder().encode(Sighting(7))
    let key = try DocumentTable.key("s7")
    let writer = try StoreWriter(documents.location, schema: Schema([]))
    _ = try writer.commit { transaction in
      var draft = RecordDraft()
      draft.addKey(key.rawSpan)
      draft.addKeys([])
      draft.body = document
      let table = try transaction.table(sightings.table.schema(declared))
      draft.orderedKeys.add(0, [1].rawSpan)
      try transaction.put(table, draft)
    }
    writer.close()
    let findings = try documents.inspect().snapshot().verify()
    #expect(findings.count == 1 && findings[0].description.contains("ordered/0"))
  }

  @Test func `an index that a repair lost is not used, and filled again when it is declared`() throws {
    let indexes: [Index<Sighting>] = [Index(\.at, .ordered), Index(\.site)]
    let sightings = try sightings(indexes)
    // A program that writes rows without knowing the index leaves it out.
    let writer = try StoreWriter(documents.location, schema: Schema([]))
    _ = try writer.commit { transaction in
      transaction.removeOrderedIndex(try transaction.table(sightings.table.schema([])), named: "ordered/0")
    }
    writer.close()
    let store = try documents.store()
    let opened = DocumentCollection<Sighting>(store, sightings.table, indexes)
    #expect(try opened.query().order(by: \.at).explain() == .scan)
    #expect(try opened.query().order(by: \.at).limit(2).fetch().map(\.id) == ["s0", "s1"])
    try opened.upsert(Sighting(500))
    #expect(try store.untypedCollection("sightings").indexes().count == 1)
    let again = try self.sightings(indexes)
    #expect(try again.query().order(by: \.at, descending: true).limit(1).explain().indexes.count == 1)
    #expect(try again.query().order(by: \.at, descending: true).limit(1).fetch().map(\.id) == ["s500"])
    #expect(try store.snapshot().verify().isEmpty)
  }
}
