import DocumentFormat
import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Documents

/// What queries read and keep, and that the short ways say the same as the long ones.
@Suite struct QueryCostTests {
  private struct Item: Codable, Identifiable, Equatable {
    let id: Int
    var name: String?
    var isNew: Bool
    var tags: [String]
    var weight: Double
    var date: Date?
  }

  private static let indexes: [Index<Item>] = [
    Index(\.name, prefixes: true), Index(\.isNew), Index(\.tags), Index(\.weight), Index(\.date),
  ]

  private static func item(_ id: Int, _ random: inout SeededGenerator) -> Item {
    let long = String(repeating: "long ", count: 8)
    let seconds = Double.random(in: 0..<4, using: &random)
    return Item(
      id: id, name: [nil, "", "a", "ab", "abc", "b\(id % 50)", long + "1", long + "2"].randomElement(using: &random)!,
      isNew: Bool.random(using: &random), tags: (0..<Int.random(in: 0..<4, using: &random)).map { "t\($0 % 3)" },
      weight: [0, -0.0, 1, 1.5, 1e300][Int.random(in: 0..<5, using: &random)],
      date: id % 3 == 0 ? nil : Date(timeIntervalSince1970: (seconds * 1e7).rounded() / 1e7))
  }

  private func collections(
    _ trace: Tracer? = nil
  ) throws -> (indexed: DocumentCollection<Item>, plain: DocumentCollection<Item>) {
    var options = DocumentStore.Options()
    options.trace = trace
    let location = StoreLocation.test(
      SimulatedDevice().directory, name: "documents", environment: FixedEnvironment().environment())
    let store = try DocumentStore.open(location, options: options)
    return (try store.collection("indexed", indexes: Self.indexes), try store.collection("plain"))
  }

  @Test func `a conjunction reads the documents of its rarest value, in whatever order it is written`() throws {
    let traces = Traces()
    let (items, _) = try collections(Tracer { traces.add($0) })
    try items.insert(
      contentsOf: (0..<6000).map {
        Item(id: $0, name: "n\($0 % 1000)", isNew: $0 % 2 == 0, tags: ["t"], weight: 1, date: nil)
      })
    for filter: Where<Item> in [
      \.isNew == true && \.name == "n10", \.name == "n10" && \.isNew == true,
      \.isNew == true && .hasPrefix(\.name, "n10") && .contains(\.tags, "t"),
    ] {
      let found = try items.query(filter).fetch()
      #expect(found.allSatisfy { $0.isNew && $0.name?.hasPrefix("n10") == true })
      #expect(found.count == (try items.query(filter).explain().description.contains("prefix") ? 36 : 6))
      let read = try #require(traces.last?.documentsRead)
      #expect(read <= 700)
      #expect(try items.query(filter).explain().description.contains("index on name"))
    }
  }

  @Test func `a count by keys is that of a scan, and reads nothing`() throws {
    let traces = Traces()
    let (indexed, plain) = try collections(Tracer { traces.add($0) })
    var random = SeededGenerator(for: "QueryCostTests, counts")
    let first = (0..<600).map { Self.item($0, &random) }
    try indexed.insert(contentsOf: first)
    try plain.insert(contentsOf: first)
    let long = String(repeating: "long ", count: 8)
    let day = try #require(first.compactMap(\.date).first)
    let filters: [Where<Item>] = [
      \.name == "ab", \.name == nil, \.name == "", \.name == long + "1", .hasPrefix(\.name, "a"),
      .hasPrefix(\.name, "abc"),
      .hasPrefix(\.name, "long long "), \.isNew == true, .contains(\.tags, "t0"), \.weight == 0, \.weight == 1,
      \.weight == 1e300, \.date == day, \.date == nil, .in(\.name, ["ab"]), .in(\.name, ["ab", "b1"]),
      \.isNew == true && \.name == "a", !(\.isNew == true),
    ]
    for round in 0..<3 * depth {
      for filter in filters {
        let count = try indexed.query(filter).count()
        #expect(try count == plain.query(filter).count())
        #expect(try count == indexed.query(filter).fetch().count)
        #expect(try indexed.query(filter).offset(2).limit(5).count() == min(5, max(0, count - 2)))
      }
      _ = try indexed.query(\.isNew == true).count()
      #expect(traces.last?.documentsRead == 0)
      for id in stride(from: round, to: 600, by: 7) {
        let item = Self.item(id, &random)
        for collection in [indexed, plain] {
          if id % 2 == 0 { try collection.upsert(item) } else { try collection.delete(id) }
        }
      }
    }
  }

  @Test func `an order with a limit is the beginning of the order without`() throws {
    let (items, _) = try collections()
    var random = SeededGenerator(for: "QueryCostTests, order")
    let all = (0..<5000).map { id in
      Item(
        id: id, name: "name \(Int.random(in: 0..<300, using: &random))", isNew: id % 2 == 0, tags: [],
        weight: Double(Int.random(in: 0..<50, using: &random)), date: nil)
    }
    try items.insert(contentsOf: all)
    let names = all.sorted { (-$0.weight, $0.name!, $0.id) < (-$1.weight, $1.name!, $1.id) }.map(\.id)
    let query = items.query().order(by: \.weight, descending: true).order(by: \.name)
    #expect(try query.fetch().map(\.id) == names)
    for (offset, limit) in [(0, 1), (0, 20), (10, 20), (0, 0), (3, 0), (4990, 100), (6000, 5), (0, 2500), (100, 4000)] {
      let part = try query.offset(offset).limit(limit).fetch().map(\.id)
      #expect(part == Array(names.dropFirst(offset).prefix(limit)))
    }
    #expect(try query.offset(4000).fetch().map(\.id) == Array(names.dropFirst(4000)))
    let found = try items.query(.in(\.name, ["name 1", "name 2"])).order(by: \.id).limit(7).fetch().map(\.id)
    #expect(found == all.filter { ["name 1", "name 2"].contains($0.name) }.prefix(7).map(\.id))
  }
}
