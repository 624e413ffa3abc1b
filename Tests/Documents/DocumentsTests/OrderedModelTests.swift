import Bytes
import DocumentFormat
import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Documents

/// Random documents and random queries: a collection with ordered indexes gives the same documents in the same order as
/// one without any.
@Suite struct OrderedModelTests {
  /// Which values the documents have.
  enum Shape: String, CaseIterable, Sendable {
    /// One value at each path.
    case single
    /// Arrays, objects and missing values too.
    case any
  }

  private static let paths = ["a", "b", "c.d"].map { try! FieldPath(parsing: $0) }

  struct Random {
    var generator: SeededGenerator
    let shape: Shape

    mutating func int(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
    mutating func pick<T>(_ values: [T]) -> T { values[int(0..<values.count)] }

    mutating func scalar() -> DocumentValue {
      switch int(0..<16) {
      case 0: return .null
      case 1: return .bool(int(0..<2) == 0)
      case 2...4: return .integer(Int64(int(-3..<12)))
      case 5: return .double(Double(int(-6..<24)) / 2)
      case 6:
        return pick([.integer(1 << 53), .integer(1 << 53 + 1), .double(0x1p53), .unsigned(1 << 63), .double(.nan)])
      case 7: return .date(Date(timeIntervalSince1970: Double(int(0..<40)) / 4))
      case 8: return .bytes([UInt8](repeating: UInt8(int(0..<3)), count: int(0..<4)))
      case 9:
        // Texts that are equal as far as an index has them.
        return .text(
          String(repeating: "l", count: pick([251, 252, 253, 254, 300])) + pick(["", "a", "b", "\0", "\0\0"]))
      default: return .text(String((0..<int(0..<4)).map { _ in pick(["a", "b", "\0", "é"]) }.joined()))
      }
    }

    mutating func value() -> DocumentValue? {
      if shape == .single { return int(0..<12) == 0 ? nil : scalar() }
      switch int(0..<8) {
      case 0: return nil
      case 1: return .array((0..<int(0..<4)).map { _ in scalar() })
      case 2: return int(0..<3) == 0 ? .object([]) : scalar()
      default: return scalar()
      }
    }

    mutating func document(_ id: Int) -> DocumentValue {
      var fields: [DocumentValue.Field] = [.init("id", .integer(Int64(id)))]
      if let value = value() { fields.append(.init("a", value)) }
      if let value = value() { fields.append(.init("b", value)) }
      if let value = value() {
        let object = DocumentValue.object([.init("d", value)])
        fields.append(.init("c", shape == .any && int(0..<4) == 0 ? .array([object, object]) : object))
      }
      return .object(fields)
    }

    mutating func part() -> Condition {
      let path = pick(OrderedModelTests.paths)
      switch int(0..<10) {
      case 0...3: return .compare(path, pick(Condition.Comparison.allCases), scalar())
      case 4...5: return .compare(path, .equal, scalar())
      case 6: return .isIn(path, (0..<int(0..<4)).map { _ in scalar() })
      case 7:
        return .hasPrefix(
          path, pick(["", "a", "ab", "b", "\0", String(repeating: "l", count: 252)]), ignoringCase: false)
      case 8: return .like(path, pick(["a%", "a_", "%b", "ab", "l%a"]), ignoringCase: int(0..<2) == 0)
      default: return .isNull(path)
      }
    }

    mutating func condition() -> Condition {
      switch int(0..<8) {
      case 0: .always
      case 1...2: part()
      case 3...5: .and((0..<int(2..<4)).map { _ in part() })
      case 6: .or((0..<int(1..<4)).map { _ in part() })
      default: .and([.or([part(), part()]), .not(part())])
      }
    }

    mutating func ordering() -> Ordering {
      let isDescending = int(0..<2) == 0
      return Ordering(
        (0..<pick([0, 1, 1, 2, 2, 3])).map { _ in
          Ordering.Term(pick(OrderedModelTests.paths), isDescending: int(0..<5) == 0 ? !isDescending : isDescending)
        })
    }
  }

  private func indexes(_ random: inout Random) -> [IndexDescription] {
    let all =
      Self.paths.map { IndexDescription(ordered: [$0]) } + [
        IndexDescription(ordered: [Self.paths[0], Self.paths[1]]),
        IndexDescription(ordered: [Self.paths[1], Self.paths[2], Self.paths[0]]), IndexDescription(Self.paths[0]),
        IndexDescription(Self.paths[1], hasPrefixes: true),
      ]
    return all.shuffled(using: &random.generator).filter { _ in random.int(0..<3) > 0 }
  }

  private func results(
    _ collection: UntypedCollection, _ condition: Condition, _ ordering: Ordering, _ offset: Int, _ limit: Int?
  ) throws -> (ids: [DocumentValue], plan: QueryPlan) {
    var ids: [DocumentValue] = []
    let plan = try collection.query(condition, ordering: ordering, offset: offset, limit: limit) { id, _ in
      ids.append(id)
    }
    return (ids, plan)
  }

  /// All pages, one after another.
  private func pages(
    _ collection: UntypedCollection, _ condition: Condition, _ ordering: Ordering, limit: Int
  ) throws -> [DocumentValue] {
    var ids: [DocumentValue] = []
    var cursor: QueryCursor?
    repeat {
      let before = ids.count
      cursor = try collection.page(condition, ordering: ordering, limit: limit, after: cursor) { id, _ in
        ids.append(id)
      }
      #expect(ids.count - before <= limit && (cursor == nil || ids.count - before == limit))
      if let text = cursor?.description {
        #expect(QueryCursor(text) == cursor)
        #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
      }
    } while cursor != nil
    return ids
  }

  @Test(arguments: Shape.allCases) func `queries give the same with and without ordered indexes`(_ shape: Shape) throws
  {
    var random = Random(generator: SeededGenerator(for: "OrderedModelTests, \(shape)"), shape: shape)
    var inOrder = 0
    var ranges = 0
    for round in 0..<4 {
      let documents = TestDocuments(seed: UInt64(round))
      let store = try documents.inspect()
      let plain = try store.untypedCollection("plain")
      let indexed = try store.untypedCollection("indexed")
      // Declared before the documents, or filled from them.
      if round % 2 == 0 { try indexed.declare(indexes(&random)) }
      for commit in 0..<6 {
        let new = (0..<random.int(1..<120)).map { _ in random.document(random.int(0..<400)) }
        for collection in [plain, indexed] { try collection.put(contentsOf: try new.map(collection.encode)) }
        let gone = DocumentValue.integer(Int64(random.int(0..<400)))
        for collection in [plain, indexed] { try collection.delete(gone) }
        if commit == 3 { try indexed.declare(indexes(&random)) }
        if commit == 4 { try store.compact() }
      }
      #expect(try plain.count() == indexed.count())
      for _ in 0..<120 {
        let condition = random.condition()
        let ordering = random.ordering()
        let offset = random.pick([0, 0, 3])
        let limit: Int? = random.pick([nil, nil, 0, 1, 5, 20])
        let expected = try results(plain, condition, ordering, offset, limit).ids
        let found = try results(indexed, condition, ordering, offset, limit)
        let words = "where \(condition) order by \(ordering) offset \(offset) limit \(limit ?? -1): \(found.plan)"
        // Without an order, lookups of several keys of a hash index go from key to key.
        if ordering.terms.isEmpty, found.plan.indexes.contains(where: { !$0.isOrdered }) {
          if limit == nil, offset == 0 {
            #expect(Set(found.ids.map(\.json)) == Set(expected.map(\.json)), Comment(rawValue: words))
          }
        } else {
          #expect(found.ids == expected, Comment(rawValue: words))
        }
        #expect(try indexed.count(condition) == plain.count(condition), Comment(rawValue: words))
        switch found.plan {
        case .inOrder: inOrder += 1
        case .lookups(let lookups): if lookups.contains(where: { $0.index.isOrdered }) { ranges += 1 }
        case .scan, .index: break
        }
        if random.int(0..<6) == 0 {
          let limit = random.pick([2, 7, 50])
          let all = try pages(indexed, condition, ordering, limit: limit)
          #expect(try all == pages(plain, condition, ordering, limit: 1000), Comment(rawValue: words))
          #expect(Set(all.map(\.json)) == Set(try results(plain, condition, ordering, 0, nil).ids.map(\.json)))
        }
      }
      #expect(try store.snapshot().verify().isEmpty)
      #expect(try Verification.run(documents.location)?.findings.isEmpty == true)
    }
    #expect(ranges > 50)
    #expect(inOrder > (shape == .single ? 100 : -1))
  }

  @Test(arguments: Shape.allCases) func `a transaction sees its changes through ordered indexes`(_ shape: Shape) throws
  {
    var random = Random(generator: SeededGenerator(for: "OrderedModelTests, transactions, \(shape)"), shape: shape)
    for round in 0..<4 {
      let documents = TestDocuments(seed: UInt64(round))
      let store = try documents.inspect()
      let plain = try store.untypedCollection("plain")
      let indexed = try store.untypedCollection("indexed")
      try indexed.declare(indexes(&random))
      let old = (0..<200).map { random.document($0) }
      for collection in [plain, indexed] { try collection.put(contentsOf: try old.map(collection.encode)) }
      try store.transaction { transaction in
        for _ in 0..<30 {
          let id = random.int(0..<220)
          let new = try plain.encode(random.document(id))
          let isDeletion = random.int(0..<3) == 0
          for collection in [plain, indexed] {
            if isDeletion {
              _ = try transaction.delete(collection.table, new.key)
            } else {
              transaction.put(collection.table, new.key, new.bytes)
            }
          }
        }
        for _ in 0..<80 {
          let request = QueryRequest(
            condition: random.condition(), ordering: random.ordering(), offset: random.pick([0, 2]),
            limit: random.pick([nil, 1, 10]))
          func found(_ collection: UntypedCollection) throws -> [[UInt8]] {
            let run = try transaction.run(request, collection.table)
            var trace = Trace(operation: .query, collection: "")
            return try run.documents(&trace).map { try run.content(of: $0).key }
          }
          func count(_ collection: UntypedCollection) throws -> Int {
            var trace = Trace(operation: .count, collection: "")
            return try transaction.run(request, collection.table).count(&trace)
          }
          let run = try transaction.run(request, indexed.table)
          let words = Comment(rawValue: "\(request.condition) order by \(request.ordering): \(run.plan)")
          #expect(try count(indexed) == count(plain), words)
          if request.ordering.terms.isEmpty, run.plan.indexes.contains(where: { !$0.isOrdered }) { continue }
          #expect(try found(indexed) == found(plain), words)
        }
      }
      #expect(try store.snapshot().verify().isEmpty)
    }
  }
}
