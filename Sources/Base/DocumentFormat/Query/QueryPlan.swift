package import Bytes

/// A plan for finding the documents that match a condition. Each document found must still be tested with the complete
/// condition.
public enum QueryPlan: Sendable, Equatable {
  /// The union of the lookups contains all matching documents. A document may be found more than once. With no lookups,
  /// no document can match.
  case lookups([Lookup])
  /// Like one lookup, in an ordered index whose order is that of the query, so the documents are not sorted.
  case inOrder(Lookup, isBackward: Bool)
  /// No index is usable: every document is read.
  case scan
  /// The index alone gives the result, without reading documents.
  case index(IndexDescription)

  /// What to look up in one index.
  public struct Lookup: Sendable, Equatable {
    /// The index in which to look.
    public var index: IndexDescription
    /// The keys to look up. Documents under any of them are candidates. An ordered index has ranges instead.
    public var keys: [IndexKey]
    /// Whether the keys are prefix keys.
    public var isPrefix: Bool
    /// The ranges of an ordered index, in ascending order. Documents in any of them are candidates.
    package var ranges: [KeyRange] = []
    /// The parts of the condition that gave the ranges.
    package var conditions: [Condition] = []
    /// What a document in the ranges must still be tested with; `nil` if it matches.
    package var filter: Condition?
    /// The sort keys of the fields, from the first one on, that have one value in all documents of the ranges.
    package var fixedParts: [[UInt8]] = []

    init(_ index: IndexDescription, keys: [IndexKey], isPrefix: Bool) {
      self.index = index
      self.keys = keys
      self.isPrefix = isPrefix
    }

    init(_ index: IndexDescription, ranges: [KeyRange], conditions: [Condition], filter: Condition?) {
      self.index = index
      keys = []
      isPrefix = false
      self.ranges = ranges
      self.conditions = conditions
      self.filter = filter
    }
  }

  /// The indexes that are used.
  public var indexes: [IndexDescription] {
    switch self {
    case .lookups(let lookups): lookups.map(\.index)
    case .inOrder(let lookup, isBackward: _): [lookup.index]
    case .index(let index): [index]
    case .scan: []
    }
  }

  /// The number of keys and ranges to look up; `nil` for a scan, and where an index alone is read.
  public var keyCount: Int? {
    switch self {
    case .lookups(let lookups): lookups.reduce(0) { $0 + $1.keys.count + $1.ranges.count }
    case .inOrder(let lookup, isBackward: _): lookup.ranges.count
    case .scan, .index: nil
    }
  }
}

extension QueryPlan: CustomStringConvertible {
  /// A description for people: the indexes and how they are used, or that all documents are scanned. It has no values
  /// of the condition.
  public var description: String {
    switch self {
    case .scan: "scan all documents"
    case .index(let index): "index on \(index.path) alone"
    case .lookups(let lookups):
      lookups.isEmpty ? "nothing: no document can match" : lookups.map(\.description).joined(separator: " and ")
    case .inOrder(let lookup, let isBackward): "\(lookup) in its \(isBackward ? "reverse order" : "order")"
    }
  }
}

extension QueryPlan.Lookup: CustomStringConvertible {
  /// A description for people: the index, and by what it is searched. It has no values of the condition.
  public var description: String {
    if index.isOrdered {
      let words = conditions.isEmpty ? "all" : conditions.map(\.redacted).joined(separator: " && ")
      return "ordered index on \(index.fields) (\(words))"
    }
    return
      "index on \(index.path) (\(keys.count == 1 ? "1 key" : "\(keys.count) keys"), by \(isPrefix ? "prefix" : "value"))"
  }
}

/// The steps of a query in plain words.
public struct QueryExplanation: Sendable, Equatable, CustomStringConvertible {
  /// How the documents are found.
  public let plan: QueryPlan
  /// What each document found is tested with; `nil` if none is read to be tested.
  public let filter: Condition?
  /// The order in which the documents found are sorted; `nil` if they are not.
  public let sorting: Ordering?
  /// The number of documents after which the query ends; `nil` if there is no limit.
  public let limit: Int?

  package init(plan: QueryPlan, filter: Condition?, sorting: Ordering?, limit: Int?) {
    self.plan = plan
    self.filter = filter
    self.sorting = sorting
    self.limit = limit
  }

  /// An explanation of a plan alone.
  public init(of plan: QueryPlan) { self.init(plan: plan, filter: nil, sorting: nil, limit: nil) }

  /// The steps of a query that no document can match.
  package static let ofNothing = QueryExplanation(of: .lookups([]))

  /// The steps, one after another, without values of the condition.
  public var steps: [String] {
    var steps = [plan.description]
    if let filter { steps.append("test \(filter.redacted)") }
    if let sorting { steps.append("sort by \(sorting)") }
    if let limit { steps.append(limit == 1 ? "end after 1 document" : "end after \(limit) documents") }
    return steps
  }

  /// The steps, with semicolons between them.
  public var description: String { steps.joined(separator: "; ") }
}

extension Condition {
  /// Plans how to find the matching documents with `indexes`.
  ///
  /// Equality, `in`, null and a prefix (including the literal beginning of a `like` pattern) can use an index on their
  /// path; comparisons too can use an ordered one. For a conjunction, the part with the fewest keys is used, and values
  /// are preferred to prefixes and ranges. A disjunction needs an index for all of its parts.
  ///
  /// - Parameters:
  ///   - indexes: The indexes of the collection. Ordered ones of several fields are not used.
  ///   - rowCount: Returns an estimate of the number of documents with a key. A conjunction uses the part that finds the
  ///     fewest documents; the rule above breaks ties.
  public func plan<Failure: Error>(
    _ indexes: [IndexDescription], rowCount: (IndexDescription, IndexKey) throws(Failure) -> Int
  ) throws(Failure) -> QueryPlan {
    try withoutActuallyEscaping(rowCount) { count throws(Failure) in
      let statistics = QueryPlanner<Failure>.Statistics(
        documentCount: .max, keyCount: count, rangeCount: { _, _ throws(Failure) in .max / 4 })
      return try QueryPlanner(Self.planned(indexes), statistics).plan(self)
    }
  }

  /// Plans how to find the matching documents with `indexes`, as above, without knowing how many documents have a key.
  public func plan(_ indexes: [IndexDescription]) -> QueryPlan {
    QueryPlanner<Never>(Self.planned(indexes), nil).plan(self)
  }

  private static func planned(_ indexes: [IndexDescription]) -> [PlannedIndex] {
    indexes.map { PlannedIndex(description: $0, isSingleValued: false) }
  }
}
