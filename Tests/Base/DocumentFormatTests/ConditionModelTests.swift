import DocumentFormat
import Foundation
import RandomTestSupport
import Testing

@Suite struct ConditionModelTests {
  /// Indexes over half of the paths that conditions name.
  private func indexes(_ random: inout RandomDocuments) -> [IndexDescription] {
    (0..<6).map { _ in IndexDescription(random.path(), hasPrefixes: random.int(0..<2) == 0) }
  }

  @Test func `evaluation on bytes says what the model says on trees, and plans miss nothing`() throws {
    var random = RandomDocuments(for: "conditions against the model")
    var matchCount = 0
    var lookupCount = 0
    for _ in 0..<(400 * depth) {
      let condition = random.condition()
      let compiled = CompiledCondition(condition)
      let indexes = indexes(&random)
      let plan = condition.plan(indexes)
      if case .lookups = plan { lookupCount += 1 }
      for _ in 0..<25 {
        let document = random.object()
        try withView(document.documentBytes) { view throws in
          let isMatch = ConditionModel.matches(condition, document)
          #expect(try compiled.matches(view) == isMatch, "\(condition) on \(document.json)")
          if isMatch {
            matchCount += 1
            #expect(try isFound(view, plan), "\(condition) on \(document.json) by \(plan)")
          }
        }
      }
    }
    #expect(matchCount > 500 * depth)
    #expect(lookupCount > 20 * depth)
  }

  /// Whether one of the plan's keys is among the document's keys.
  private func isFound(_ view: borrowing DocumentView, _ plan: QueryPlan) throws -> Bool {
    guard case .lookups(let lookups) = plan else { return true }
    for lookup in lookups {
      var isFound = false
      try view.forEachIndexKey(at: lookup.index.path, withPrefixes: lookup.index.hasPrefixes) { key in
        if lookup.keys.contains(key) { isFound = true }
      }
      if isFound { return true }
    }
    return false
  }

  @Test func `a condition is written so that reading it gives the same`() throws {
    var random = RandomDocuments(for: "conditions as text")
    for _ in 0..<(2000 * depth) {
      let condition = random.condition()
      #expect(try Condition(parsing: condition.description) == condition, "\(condition)")
    }
  }

  @Test func `a field alone, in any spelling, is its comparison with true`() throws {
    var random = RandomDocuments(for: "fields as conditions")
    for _ in 0..<(500 * depth) {
      let comparison = Condition.compare(random.path(), .equal, .bool(true))
      let text = String("\(comparison)".dropLast(" == true".count))
      #expect(try Condition(parsing: text) == comparison, "\(text)")
      #expect(try Condition(parsing: "!(\(text)) && (\(text))") == .and([.not(comparison), comparison]), "\(text)")
    }
  }

  @Test func `parsing arbitrary text never traps`() throws {
    var random = RandomDocuments(for: "hostile conditions")
    let pieces = [
      "a", ".", "\\", "'", "\"", "(", ")", "!", "&&", "or", "==", "1", "-", "e", "in", "[", "]", ",", " ", "like",
      "date", "\\u{", "é", "<",
    ]
    var parsed = 0
    for _ in 0..<(3000 * depth) {
      let text = (0..<random.int(0..<12)).map { _ in random.pick(pieces) }.joined()
      do {
        _ = try Condition(parsing: text)
        parsed += 1
      } catch {
        #expect(error.column >= 1 && error.column <= text.unicodeScalars.count + 2, "\(text): \(error)")
      }
      _ = try? Ordering(parsing: text)
    }
    #expect(throws: QuerySyntaxError.self) { try Condition(parsing: String(repeating: "(", count: 100_000)) }
    #expect(throws: QuerySyntaxError.self) { try Condition(parsing: String(repeating: "!", count: 100_000)) }
  }

  @Test func `sort keys are in the order of the values`() throws {
    var random = RandomDocuments(for: "sort keys")
    let path = try FieldPath(names: ["a"])
    for _ in 0..<(3000 * depth) {
      let values = [random.pick(RandomDocuments.scalars), random.pick(RandomDocuments.scalars)]
      let rest = [random.pick(RandomDocuments.scalars), random.pick(RandomDocuments.scalars)]
      for isDescending in [false, true] {
        let ordering = Ordering([.init(path, isDescending: isDescending), .init(try FieldPath(names: ["b"]))])
        let keys = try (0..<2).map { index in
          let document = DocumentValue.object([.init("a", values[index]), .init("b", rest[index])])
          return try withView(document.documentBytes) { view throws in try ordering.sortKey(of: view) }
        }
        var expected = order(values[0], values[1])
        if isDescending { expected = -expected }
        if expected == 0 { expected = order(rest[0], rest[1]) }
        let found = keys[0] == keys[1] ? 0 : keys[0].lexicographicallyPrecedes(keys[1]) ? -1 : 1
        #expect(found == expected, "\(values), \(rest), descending: \(isDescending)")
      }
    }
  }

  private func order(_ a: DocumentValue, _ b: DocumentValue) -> Int {
    let ranks: [DocumentKind] = [.null, .bool, .number, .date, .text, .bytes]
    let (x, y) = (ranks.firstIndex(of: a.kind)!, ranks.firstIndex(of: b.kind)!)
    return x == y ? ConditionModel.order(a, b)!.rawValue : x < y ? -1 : 1
  }

  @Test func `equal values have equal keys, and unequal short ones do not`() {
    for a in RandomDocuments.scalars {
      for b in RandomDocuments.scalars {
        #expect((IndexKey(a) == IndexKey(b)) == (a == b), "\(a), \(b)")
      }
    }
  }
}
