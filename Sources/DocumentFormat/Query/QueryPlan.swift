/// A declared index of a collection.
public struct IndexDescription: Sendable, Equatable {
  /// The path of the indexed field.
  public var path: FieldPath
  /// Whether the prefix keys of texts are indexed as well.
  public var hasPrefixes: Bool

  /// Creates the description of an index on the field at `path`.
  public init(_ path: FieldPath, hasPrefixes: Bool = false) {
    self.path = path
    self.hasPrefixes = hasPrefixes
  }
}

/// A plan for finding the documents that match a condition. Each document found must still be tested with the complete
/// condition.
public enum QueryPlan: Sendable, Equatable {
  /// The union of the lookups contains all matching documents. A document may be found more than once. With no lookups,
  /// no document can match.
  case lookups([Lookup])
  /// No index is usable: every document is read.
  case scan
  /// The index alone gives the result, without reading documents.
  case index(IndexDescription)

  /// Keys to look up in one index.
  public struct Lookup: Sendable, Equatable {
    /// The index in which to look.
    public var index: IndexDescription
    /// The keys to look up. Documents under any of them are candidates.
    public var keys: [IndexKey]
    /// Whether the keys are prefix keys.
    public var isPrefix: Bool
  }

  /// The indexes that are used.
  public var indexes: [IndexDescription] {
    switch self {
    case .lookups(let lookups): lookups.map(\.index)
    case .index(let index): [index]
    case .scan: []
    }
  }

  /// The number of keys to look up; `nil` for a scan, and where an index alone is read.
  public var keyCount: Int? {
    guard case .lookups(let lookups) = self else { return nil }
    return lookups.reduce(0) { $0 + $1.keys.count }
  }
}

extension QueryPlan: CustomStringConvertible {
  /// A description for people: the indexes and how they are used, or that all documents are scanned.
  public var description: String {
    if case .index(let index) = self { return "index on \(index.path) alone" }
    guard case .lookups(let lookups) = self else { return "scan all documents" }
    if lookups.isEmpty { return "nothing: no document can match" }
    return lookups.map { lookup in
      let keys = lookup.keys.count == 1 ? "1 key" : "\(lookup.keys.count) keys"
      return "index on \(lookup.index.path) (\(keys), by \(lookup.isPrefix ? "prefix" : "value"))"
    }.joined(separator: " and ")
  }
}

extension Condition {
  /// Plans how to find the matching documents with `indexes`.
  ///
  /// Equality, `in`, null and a prefix (including the literal beginning of a `like` pattern) can use an index on their
  /// path. For a conjunction, the part with the fewest keys is used, and values are preferred to prefixes. A
  /// disjunction needs an index for all of its parts.
  ///
  /// - Parameters:
  ///   - indexes: The indexes of the collection.
  ///   - rowCount: Returns an estimate of the number of documents with a key. If given, a conjunction uses the part
  ///     that finds the fewest documents; the rule above breaks ties.
  public func plan(
    _ indexes: [IndexDescription], rowCount: ((IndexDescription, IndexKey) throws -> Int)? = nil
  ) rethrows -> QueryPlan {
    switch self {
    case .compare(let path, .equal, let value):
      guard let key = IndexKey(value) else { return .lookups([]) }
      return Self.lookup(path, [key], indexes)
    case .isIn(let path, let values): return Self.lookup(path, Self.distinct(values.compactMap(IndexKey.init)), indexes)
    case .isNull(let path): return Self.lookup(path, [.null], indexes)
    case .hasPrefix(let path, let prefix, ignoringCase: false): return Self.prefixLookup(path, prefix, indexes)
    case .like(let path, let pattern, ignoringCase: false):
      let (head, isComplete) = Self.literalHead(of: pattern)
      if isComplete { return Self.lookup(path, [IndexKey(.text(Array(head.utf8)))], indexes) }
      return Self.prefixLookup(path, head, indexes)
    case .and(let parts):
      return try Self.cheapest(parts.map { try $0.plan(indexes, rowCount: rowCount) }, rowCount)
    case .or(let parts):
      var lookups: [QueryPlan.Lookup] = []
      for part in parts {
        guard case .lookups(let more) = try part.plan(indexes, rowCount: rowCount) else { return .scan }
        lookups += more
      }
      return .lookups(lookups)
    case .compare, .contains, .hasPrefix, .like, .not: return .scan
    }
  }

  /// The plan that finds the fewest documents, among those of a conjunction's parts.
  private static func cheapest(
    _ plans: [QueryPlan], _ rowCount: ((IndexDescription, IndexKey) throws -> Int)?
  ) rethrows -> QueryPlan {
    let usable = plans.filter { $0 != .scan }
    guard usable.count > 1 else { return usable.first ?? .scan }
    guard let rowCount else { return usable.min { $0.cost < $1.cost } ?? .scan }
    let costs = try usable.map { (plan: $0, rows: try $0.rowCount(rowCount), cost: $0.cost) }
    return costs.min { ($0.rows, $0.cost) < ($1.rows, $1.cost) }?.plan ?? .scan
  }

  private static func lookup(_ path: FieldPath, _ keys: [IndexKey], _ indexes: [IndexDescription]) -> QueryPlan {
    if keys.isEmpty { return .lookups([]) }
    guard let index = indexes.first(where: { $0.path == path }) else { return .scan }
    return .lookups([QueryPlan.Lookup(index: index, keys: keys, isPrefix: false)])
  }

  private static func prefixLookup(_ path: FieldPath, _ prefix: String, _ indexes: [IndexDescription]) -> QueryPlan {
    guard let key = IndexKey.ofTexts(beginningWith: prefix),
      let index = indexes.first(where: { $0.path == path && $0.hasPrefixes })
    else { return .scan }
    return .lookups([QueryPlan.Lookup(index: index, keys: [key], isPrefix: true)])
  }

  private static func distinct(_ keys: [IndexKey]) -> [IndexKey] {
    var known: Set<IndexKey> = []
    return keys.filter { known.insert($0).inserted }
  }

  /// The literal text before the first `%` or `_` of a pattern, and whether it is the entire pattern.
  private static func literalHead(of pattern: String) -> (head: String, isComplete: Bool) {
    let pieces = LikePiece.pieces(of: pattern)
    var head: [UInt8] = []
    for case .byte(let byte) in pieces.prefix(while: { $0 != .one && $0 != .many }) { head.append(byte) }
    // The pieces other than bytes match entire scalars, so the head is valid UTF-8.
    return (String(decoding: head, as: UTF8.self), head.count == pieces.count)
  }
}

extension QueryPlan {
  /// An estimate of the number of documents that the lookups find.
  fileprivate func rowCount(_ count: (IndexDescription, IndexKey) throws -> Int) rethrows -> Int {
    guard case .lookups(let lookups) = self else { return .max }
    // Do not count more keys than this: it would cost as much as it saves.
    let limit = 16
    if lookups.reduce(0, { $0 + $1.keys.count }) > limit { return .max }
    var rows = 0
    for lookup in lookups {
      for key in lookup.keys { rows += try count(lookup.index, key) }
    }
    return rows
  }

  /// The cost that a conjunction minimises: the number of keys, where a prefix key counts as about a thousand and a
  /// scan is the most expensive.
  fileprivate var cost: Int {
    guard case .lookups(let lookups) = self else { return .max }
    return lookups.reduce(0) { cost, lookup in
      // A longer prefix finds fewer documents.
      cost + (lookup.isPrefix ? 1000 - lookup.keys[0].bytes.count : lookup.keys.count)
    }
  }
}
