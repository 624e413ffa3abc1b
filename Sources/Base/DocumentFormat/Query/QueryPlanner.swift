package import Bytes

/// An index as the planner sees it.
package struct PlannedIndex: Sendable {
  let description: IndexDescription
  /// Whether every document has exactly one key in the index, which is its sort key.
  let isSingleValued: Bool

  package init(description: IndexDescription, isSingleValued: Bool) {
    self.description = description
    self.isSingleValued = isSingleValued
  }
}

/// Chooses the indexes that find the documents of a query.
///
/// Queries of products do not use it: they have fixed indexes, whose keys are not sort keys of values.
package struct QueryPlanner<Failure: Error> {
  /// What is known of the documents.
  package struct Statistics {
    /// The number of documents.
    let documentCount: Int
    /// An estimate of the number of documents with a key of an index.
    let keyCount: (IndexDescription, IndexKey) throws(Failure) -> Int
    /// An estimate of the number of documents in a range of an ordered index.
    let rangeCount: (IndexDescription, KeyRange) throws(Failure) -> Int

    package init(
      documentCount: Int, keyCount: @escaping (IndexDescription, IndexKey) throws(Failure) -> Int,
      rangeCount: @escaping (IndexDescription, KeyRange) throws(Failure) -> Int
    ) {
      self.documentCount = documentCount
      self.keyCount = keyCount
      self.rangeCount = rangeCount
    }
  }

  private let indexes: [PlannedIndex]
  private let statistics: Statistics?

  package init(_ indexes: [PlannedIndex], _ statistics: Statistics?) {
    self.indexes = indexes
    self.statistics = statistics
  }

  // MARK: Conditions

  /// Plans how to find the documents that match a condition.
  package func plan(_ condition: Condition) throws(Failure) -> QueryPlan {
    switch condition {
    case .compare(let path, .equal, let value):
      guard let key = IndexKey(value) else { return .lookups([]) }
      return try cheapest([lookup(path, [key])] + ranges([condition], condition))
    case .isIn(let path, let values):
      return try cheapest(
        [lookup(path, Self.distinct(values.compactMap(IndexKey.init)))] + ranges([condition], condition))
    case .isNull(let path): return try cheapest([lookup(path, [.null])] + ranges([condition], condition))
    case .hasPrefix(let path, let prefix, ignoringCase: false):
      return try cheapest([prefixLookup(path, prefix)] + ranges([condition], condition))
    case .like(let path, let pattern, ignoringCase: false):
      let (head, rest) = LikePiece.literalHead(of: pattern)
      let plan = rest.isEmpty ? lookup(path, [IndexKey(.text(Array(head.utf8)))]) : prefixLookup(path, head)
      return try cheapest([plan] + ranges([condition], condition))
    case .compare: return try cheapest(ranges([condition], condition))
    case .and(let parts):
      // First the ranges that all parts give together, which leave less to test.
      var plans = ranges(parts, condition)
      for part in parts { plans.append(Self.testing(condition, try plan(part))) }
      return try cheapest(plans)
    case .or(let parts):
      var lookups: [QueryPlan.Lookup] = []
      for part in parts {
        guard case .lookups(let more) = try plan(part) else { return .scan }
        lookups += more
      }
      return .lookups(lookups)
    case .contains, .hasPrefix, .like, .not: return .scan
    }
  }

  private func lookup(_ path: FieldPath, _ keys: [IndexKey]) -> QueryPlan {
    if keys.isEmpty { return .lookups([]) }
    guard let index = indexes.first(where: { !$0.description.isOrdered && $0.description.path == path }) else {
      return .scan
    }
    return .lookups([QueryPlan.Lookup(index.description, keys: keys, isPrefix: false)])
  }

  private func prefixLookup(_ path: FieldPath, _ prefix: String) -> QueryPlan {
    guard let key = IndexKey.ofTexts(beginningWith: prefix),
      let index = indexes.first(where: { $0.description.path == path && $0.description.hasPrefixes })
    else { return .scan }
    return .lookups([QueryPlan.Lookup(index.description, keys: [key], isPrefix: true)])
  }

  private static func distinct(_ keys: [IndexKey]) -> [IndexKey] {
    var known: Set<IndexKey> = []
    return keys.filter { known.insert($0).inserted }
  }

  /// The plan of a part of a conjunction, as one of the whole: a document in a range is tested with all of it.
  private static func testing(_ condition: Condition, _ plan: QueryPlan) -> QueryPlan {
    guard case .lookups(let lookups) = plan else { return plan }
    return .lookups(
      lookups.map { lookup in
        var lookup = lookup
        lookup.filter = condition
        return lookup
      })
  }

  /// The plan that finds the fewest documents.
  private func cheapest(_ plans: [QueryPlan]) throws(Failure) -> QueryPlan {
    let usable = plans.filter { $0 != .scan }
    guard usable.count > 1 else { return usable.first ?? .scan }
    var best: (plan: QueryPlan, rows: Int, cost: Int)?
    for plan in usable {
      let (rows, cost) = (try rowCount(plan), plan.cost)
      if let best, (best.rows, best.cost) <= (rows, cost) { continue }
      best = (plan, rows, cost)
    }
    return best?.plan ?? .scan
  }

  /// An estimate of the number of documents that the lookups find; 0 without statistics.
  private func rowCount(_ plan: QueryPlan) throws(Failure) -> Int {
    guard let statistics else { return 0 }
    guard case .lookups(let lookups) = plan else { return .max }
    // Do not count more keys than this: it would cost as much as it saves.
    let limit = 16
    if lookups.reduce(0, { $0 + $1.keys.count + $1.ranges.count }) > limit { return .max }
    var rows = 0
    for lookup in lookups {
      for key in lookup.keys { rows += try statistics.keyCount(lookup.index, key) }
      for range in lookup.ranges { rows += try statistics.rangeCount(lookup.index, range) }
    }
    return rows
  }

  // MARK: Ordered indexes

  /// The lookups in ordered indexes for a conjunction of `parts`, which is `condition`.
  private func ranges(_ parts: [Condition], _ condition: Condition) -> [QueryPlan] {
    let known = parts.map(ValueRanges.init)
    var plans: [QueryPlan] = []
    for index in indexes where index.description.isOrdered {
      for lookup in Self.ranges(index, parts, known, condition) { plans.append(.lookups([lookup])) }
    }
    return plans
  }

  /// The possible ranges of one index: one if every document has one value, otherwise one for each part, because
  /// different values of a document may meet different parts.
  private static func ranges(
    _ index: PlannedIndex, _ parts: [Condition], _ known: [ValueRanges?], _ condition: Condition
  ) -> [QueryPlan.Lookup] {
    if index.isSingleValued { return commonRanges(index.description, parts, known, condition).map { [$0] } ?? [] }
    guard index.description.paths.count == 1 else { return [] }
    return parts.indices.compactMap { part in
      guard let values = known[part], values.path == index.description.path else { return nil }
      return lookup(index.description, values.ranges, using: values.isExact ? [part] : [], [part], parts, condition)
    }
  }

  /// The ranges that all parts together give; `nil` if none is about the first field of the index.
  private static func commonRanges(
    _ index: IndexDescription, _ parts: [Condition], _ known: [ValueRanges?], _ condition: Condition
  ) -> QueryPlan.Lookup? {
    var fixed: [[UInt8]] = []
    var found: [KeyRange]?
    var used: [Int] = []
    for path in index.paths {
      let own = parts.indices.filter { known[$0]?.path == path }
      guard var values = own.first.flatMap({ known[$0] }) else { break }
      for part in own.dropFirst() {
        if let other = known[part] { values = values.intersection(other) }
      }
      used += own
      found = values.ranges.map { $0.behind(fixed.flatMap { $0 }) }
      guard values.isPoints, values.ranges.count == 1 else { break }
      fixed.append(values.ranges[0].lower)
    }
    guard let found else { return nil }
    let exact = used.filter { known[$0]?.isExact == true }
    var result = lookup(index, found, using: exact, used, parts, condition)
    result.fixedParts = fixed
    return result
  }

  /// - Parameters:
  ///   - exact: The parts that hold for every document in the ranges.
  ///   - used: The parts that gave the ranges.
  private static func lookup(
    _ index: IndexDescription, _ ranges: [KeyRange], using exact: [Int], _ used: [Int], _ parts: [Condition],
    _ condition: Condition
  ) -> QueryPlan.Lookup {
    let isExact = ranges.allSatisfy(\.isExact)
    let left = parts.indices.filter { !exact.contains($0) }.map { parts[$0] }
    let filter: Condition? = !isExact ? condition : left.isEmpty ? nil : left.count == 1 ? left[0] : .and(left)
    return QueryPlan.Lookup(
      index, ranges: ranges.map(\.truncated), conditions: used.sorted().map { parts[$0] }, filter: filter)
  }

  // MARK: Orders

  /// The number of rows of ranges up to which finding them takes no longer than planning something better.
  private static var manyRows: Int { 1000 }

  /// Plans how to find the documents of a query.
  ///
  /// - Parameters:
  ///   - condition: The condition.
  ///   - ordering: The order, which may be empty.
  ///   - wanted: The number of documents after which the query ends; `nil` if it does not.
  package func plan(_ condition: Condition, _ ordering: Ordering, wanted: Int?) throws(Failure) -> QueryPlan {
    let plan = try plan(condition)
    guard let statistics else { return plan }
    let total = statistics.documentCount
    let inOrder = plansInOrder(condition, ordering)
    if inOrder.count == 1 {
      // Without a choice, nothing is counted.
      let isSame = if case .lookups(let lookups) = plan { lookups == inOrder[0].indexedLookups } else { false }
      if isSame || plan == .scan { return inOrder[0] }
    }
    let isTested = plan.readsRanges && plan.filter(of: condition) != nil
    // Documents without an order are in that of the file, for which all rows of a range have to be known.
    let isCutShort = ordering.terms.isEmpty && wanted != nil && plan.readsRanges
    guard !inOrder.isEmpty || isTested || isCutShort else { return plan }
    let found = try plan == .scan ? total : min(total, rowCount(plan))
    if let best = try best(of: inOrder, statistics, wanted: wanted, found: plan == .scan ? nil : found) { return best }
    // Reading most documents one by one takes longer than a scan, and so does finding very many to return a few of
    // them.
    if isTested, found > total / 2 { return .scan }
    if isCutShort, let wanted, found > Self.manyRows,
      Double(wanted) * Double(total) < Double(found) * Double(found) / 16
    {
      return .scan
    }
    return plan
  }

  /// The plans that find the documents in the order of the query.
  private func plansInOrder(_ condition: Condition, _ ordering: Ordering) -> [QueryPlan] {
    if ordering.terms.isEmpty { return [] }
    let parts = if case .and(let parts) = condition { parts } else { [condition] }
    let known = parts.map(ValueRanges.init)
    var plans: [QueryPlan] = []
    for index in indexes where index.description.isOrdered && index.isSingleValued {
      let all = QueryPlan.Lookup(
        index.description, ranges: [.all], conditions: [], filter: parts.isEmpty ? nil : condition)
      let lookup = Self.commonRanges(index.description, parts, known, condition) ?? all
      if let isBackward = Self.isBackward(ordering, index.description, fixedCount: lookup.fixedParts.count) {
        plans.append(.inOrder(lookup, isBackward: isBackward))
      }
    }
    return plans
  }

  /// The plan that finds the documents in the order of the query and so reads the fewest; `nil` if there is none, or if
  /// finding the documents in another order and sorting them is better.
  ///
  /// - Parameter found: The number of documents that would be found otherwise; `nil` if all were scanned.
  private func best(
    of plans: [QueryPlan], _ statistics: Statistics, wanted: Int?, found: Int?
  ) throws(Failure) -> QueryPlan? {
    var best: (plan: QueryPlan, cost: Double)?
    for plan in plans {
      var rows = 0.0
      for lookup in plan.indexedLookups {
        for range in lookup.ranges { rows += Double(try statistics.rangeCount(lookup.index, range)) }
      }
      // Matches are taken to be spread evenly.
      let matches = max(1, min(rows, Double(found ?? .max)))
      let cost = min(rows, Double(wanted ?? .max) * rows / matches)
      if let best, best.cost <= cost { continue }
      best = (plan, cost)
    }
    // Sorting takes about as long as reading.
    guard let best, best.cost <= 2 * Double(found ?? .max) else { return nil }
    return best.plan
  }

  /// Whether an order is that of an index from its last key to the first; `nil` if it is not that of the index.
  ///
  /// - Parameter fixedCount: The number of fields, from the first one on, of which only one value is of interest.
  private static func isBackward(_ ordering: Ordering, _ index: IndexDescription, fixedCount: Int) -> Bool? {
    let terms = ordering.deciding(fixed: Array(index.paths.prefix(fixedCount)))
    let paths = index.paths.dropFirst(fixedCount)
    let leading = terms.prefix(paths.count)
    guard !paths.isEmpty, leading.count == paths.count, zip(leading, paths).allSatisfy({ $0.path == $1 }),
      leading.allSatisfy({ $0.isDescending == leading[0].isDescending })
    else { return nil }
    return leading[0].isDescending
  }
}

extension Ordering {
  /// The terms that decide between documents that have the same values in `fixed`: those on other fields, each once.
  package func deciding(fixed: [FieldPath]) -> [Term] {
    var seen = fixed
    var terms: [Term] = []
    for term in self.terms where !seen.contains(term.path) {
      seen.append(term.path)
      terms.append(term)
    }
    return terms
  }
}

extension QueryPlan {
  /// The cost that a conjunction minimises: the number of keys, where a prefix key counts as about a thousand and a
  /// scan is the most expensive.
  fileprivate var cost: Int {
    guard case .lookups(let lookups) = self else { return .max }
    return lookups.reduce(0) { cost, lookup in
      // A longer prefix finds fewer documents; a hash finds equal values faster than a tree.
      cost + (lookup.isPrefix ? 1000 - lookup.keys[0].bytes.count : lookup.keys.count)
        + lookup.ranges.reduce(0) { $0 + ($1 == KeyRange(prefix: $1.lower) ? 2 : 1001) }
    }
  }

  /// The lookups of the plan.
  package var indexedLookups: [Lookup] {
    switch self {
    case .lookups(let lookups): lookups
    case .inOrder(let lookup, isBackward: _): [lookup]
    case .scan, .index: []
    }
  }

  /// Whether it looks for ranges in ordered indexes.
  package var readsRanges: Bool {
    indexedLookups.contains { $0.index.isOrdered }
  }

  /// What each document found must still be tested with; `nil` if it matches `condition`.
  package func filter(of condition: Condition) -> Condition? {
    switch self {
    case .lookups(let lookups):
      if lookups.count == 1, lookups[0].index.isOrdered { return lookups[0].filter }
      return lookups.allSatisfy { $0.index.isOrdered && $0.filter == nil } ? nil : condition
    case .inOrder(let lookup, isBackward: _): return lookup.filter
    case .scan, .index: if case .and(let parts) = condition, parts.isEmpty { return nil } else { return condition }
    }
  }
}
