import DocumentFormat
import Foundation
import LogStore
import RandomTestSupport
import Testing

@testable import Documents

/// Groups and aggregates, by index and by scan.
@Suite struct GroupingTests {
  private struct Order: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var city: String?
    var isPaid = false
    var price = 0.0
    var pieces = 0
    var tags: [String] = []
    var day: Date?
  }

  private func orders(
    _ orders: [Order], indexes: [Index<Order>] = [], _ trace: Tracer? = nil
  ) throws -> DocumentCollection<Order> {
    var options = DocumentStore.Options()
    options.trace = trace
    let collection = try TestDocuments().store(options).collection("orders", indexes: indexes)
    try collection.insert(contentsOf: orders)
    return collection
  }

  private static let few = [
    Order(id: 1, city: "Oslo", isPaid: true, price: 2.5, pieces: 3, tags: ["a", "b"]),
    Order(id: 2, city: "Bergen", isPaid: false, price: 1, pieces: 1, tags: ["a", "a"]),
    Order(id: 3, city: "Oslo", isPaid: false, price: 4, pieces: 2),
    Order(id: 4, city: nil, isPaid: true, price: 8, pieces: 10, tags: ["b"]),
  ]

  @Test func `documents are counted by the value of a field, and null is a group`() throws {
    for indexes in [[], [Index(\Order.city)]] {
      let orders = try orders(Self.few, indexes: indexes)
      let counts = try orders.query().grouped(by: \.city).count()
      #expect(counts.map(\.key) == [nil, "Bergen", "Oslo"] && counts.map(\.value) == [1, 1, 2])
      let paid = try orders.query(\.isPaid == true).grouped(by: \.city).count()
      #expect(paid.map(\.key) == [nil, "Oslo"] && paid.map(\.value) == [1, 1])
      #expect(try orders.query().distinct(\.city) == [nil, "Bergen", "Oslo"])
      #expect(try orders.query().order(by: \.price).distinct(\.city) == ["Bergen", "Oslo", nil])
    }
  }

  @Test func `sums, means, least and greatest values of each group`() throws {
    let orders = try orders(Self.few)
    let groups = orders.query().grouped(by: \.city)
    #expect(try groups.sum(\.pieces).map(\.value) == [10, 1, 5])
    #expect(try groups.sum(\.price).map(\.value) == [8, 1, 6.5])
    #expect(try groups.average(\.price).map(\.value) == [8, 1, 3.25])
    #expect(try groups.minimum(\.price).map(\.value) == [8, 1, 2.5])
    #expect(try groups.maximum(\.pieces).map(\.value) == [10, 1, 3])
    #expect(try groups.maximum(\.day).map(\.value) == [nil, nil, nil])
    let all = try groups.aggregates([.count, .sum(FieldPath(parsing: "pieces")), .maximum(FieldPath(parsing: "id"))])
    #expect(all[2].value == [.integer(2), .integer(5), .integer(3)])
    #expect(try orders.query().sum(\.pieces) == 16 && orders.query().average(\.pieces) == 4)
    #expect(try orders.query().minimum(\.city) == "Bergen" && orders.query().maximum(\.price) == 8)
    #expect(try orders.query(\.city == "Rome").sum(\.pieces) == 0)
    #expect(try orders.query(\.city == "Rome").average(\.pieces) == nil)
  }

  @Test func `groups by several fields, ordered by an aggregate, and limited`() throws {
    let orders = try orders(Self.few)
    let groups = try orders.query().grouped(by: \.city, \.isPaid).count()
    #expect(groups.map(\.key.0) == [nil, "Bergen", "Oslo", "Oslo"])
    #expect(groups.map(\.key.1) == [true, false, false, true] && groups.allSatisfy { $0.value == 1 })
    let byCity = orders.query().grouped(by: \.city)
    #expect(try byCity.order(by: .value, descending: true).count().map(\.key) == ["Oslo", nil, "Bergen"])
    #expect(try byCity.order(by: .value, descending: true).limit(1).sum(\.price).map(\.key) == [nil])
    #expect(try byCity.order(by: .key, descending: true).count().map(\.key) == ["Oslo", "Bergen", nil])
    #expect(try orders.query().order(by: \.id).limit(2).grouped(by: \.city).count().map(\.value) == [1, 1])
  }

  @Test func `a document belongs to the group of each element of an array`() throws {
    for indexes in [[], [Index(\Order.tags)]] {
      let orders = try orders(Self.few, indexes: indexes)
      let counts = try orders.query().grouped(byElementsOf: \.tags).count()
      #expect(counts.map(\.key) == ["a", "b"] && counts.map(\.value) == [2, 2])
    }
  }

  @Test func `an index alone counts the groups of its field, and reads no document`() throws {
    let traces = Traces()
    let many = (0..<3000).map { id in
      Order(id: id, city: id == 2900 ? "rare" : "c\(id % 5)", isPaid: id % 2 == 0, tags: ["t\(id % 3)"])
    }
    let orders = try orders(
      many, indexes: [Index(\.city, prefixes: true), Index(\.isPaid), Index(\.tags)], Tracer { traces.add($0) })
    for _ in 0..<2 {
      #expect(try orders.query().grouped(by: \.isPaid).count().map(\.value) == [1500, 1500])
      #expect(traces.last?.documentsRead == 0 && traces.last?.plan?.description == "index on isPaid alone")
      #expect(try orders.query().grouped(by: \.city).count().count == 6)
      #expect(traces.last?.documentsRead == 0)
      #expect(try orders.query().distinct(\.city).last == .some("rare"))
      #expect(try orders.query().grouped(byElementsOf: \.tags).count().map(\.value) == [1000, 1000, 1000])
      #expect(traces.last?.documentsRead == 0)
      try orders.store.compact()
    }
    try orders.query(\.city == "c1").delete()
    #expect(try orders.query().grouped(by: \.isPaid).count().map(\.value) == [1200, 1200])
    _ = try orders.query().grouped(by: \.price).count()
    #expect(traces.last?.documentsRead == 2400 && traces.last?.plan == .scan)
  }

  @Test func `a store whose indexes do not say whether documents have one value each is grouped the same`() throws {
    let documents = TestDocuments()
    let store = try documents.store()
    let orders = try store.collection("orders", of: Order.self, indexes: [Index(\.city)])
    try orders.insert(contentsOf: Self.few)
    try store.commit { transaction in
      for index in transaction.description.collections["orders"]!.indexes.indices {
        transaction.description.collections["orders"]!.indexes[index].isSingleValued = nil
      }
    }
    #expect(try orders.query().grouped(by: \.city).count().map(\.value) == [1, 1, 2])
    #expect(try store.snapshot().verify().isEmpty)
  }

  @Test func `dates closer than their index distinguishes, and long texts, are groups of their own`() throws {
    let long = String(repeating: "x", count: 40)
    let days = [0, 1e-7, 1].map { Date(timeIntervalSince1970: 1_700_000_000 + $0) }
    var all: [Order] = []
    for (id, day) in (days + days.prefix(2)).enumerated() {
      all.append(Order(id: id, city: long + "\(id % 2)", day: day))
    }
    for indexes in [[], [Index(\Order.day), Index(\.city)]] {
      let orders = try orders(all, indexes: indexes)
      let distinct = Set(days).count
      #expect(try orders.query().grouped(by: \.day).count().count == distinct)
      #expect(try orders.query().grouped(by: \.city).count().map(\.value) == [3, 2])
    }
  }

  @Test func `random groups by index are those of a scan`() throws {
    var random = SeededGenerator(for: "groups by index")
    for _ in 0..<(20 * depth) {
      let store = try TestDocuments().store()
      let indexed = try store.collection(
        "indexed", of: Member.self,
        indexes: [
          Index(\.user.name, prefixes: true), Index(\.user.tags), Index(\.user.age), Index(\.user.score),
          Index(\.user.joined),
        ])
      let plain = try store.collection("plain", of: Member.self)
      for id in 0..<Int.random(in: 0..<60, using: &random) {
        let member = Member(id % 40, &random)
        try indexed.upsert(member)
        try plain.upsert(member)
        if id % 7 == 3 {
          try indexed.delete(id / 2)
          try plain.delete(id / 2)
        }
      }
      for path in [
        "user.name", "user.tags", "user.age", "user.score", "user.joined", "user.devices.build", "user.none",
      ] {
        let field = try FieldPath(parsing: path)
        let groups = try ["indexed", "plain"].map { name in
          try store.untypedCollection(name).groups(by: [field], [.count]).map {
            "\($0.keys[0].json): \($0.values[0].json)"
          }
        }
        #expect(groups[0] == groups[1], "\(path)")
      }
      #expect(try indexed.query().grouped(by: \.user.name).count().map(\.value).reduce(0, +) == plain.count())
      #expect(try store.snapshot().verify().isEmpty)
    }
  }
}
