/// An index that a collection keeps.
public struct IndexDescription: Sendable, Equatable {
  public var path: FieldPath
  /// Whether the texts' prefix keys are kept as well.
  public var hasPrefixes: Bool

  public init(_ path: FieldPath, hasPrefixes: Bool = false) {
    self.path = path
    self.hasPrefixes = hasPrefixes
  }
}

/// How the documents that meet a condition are found. Whatever is found must still be asked for the whole condition.
public enum QueryPlan: Sendable, Equatable {
  /// All documents that meet the condition are among those that the lookups find together; one document may be found
  /// more than once. Without a lookup no document can meet it.
  case lookups([Lookup])
  /// No index helps: every document is read.
  case scan

  /// Keys to look up in one index.
  public struct Lookup: Sendable, Equatable {
    public var index: IndexDescription
    public var keys: [IndexKey]
    /// Whether they are prefix keys.
    public var isPrefix: Bool
  }

  /// How many keys are looked up; nil for a scan.
  public var keyCount: Int? {
    guard case .lookups(let lookups) = self else { return nil }
    return lookups.reduce(0) { $0 + $1.keys.count }
  }
}

extension QueryPlan: CustomStringConvertible {
  /// A sentence for people: which index is used for what, or that all is scanned.
  public var description: String {
    guard case .lookups(let lookups) = self else { return "scan all documents" }
    if lookups.isEmpty { return "nothing: no document can match" }
    return lookups.map { lookup in
      let keys = lookup.keys.count == 1 ? "1 key" : "\(lookup.keys.count) keys"
      return "index on \(lookup.index.path) (\(keys), by \(lookup.isPrefix ? "prefix" : "value"))"
    }.joined(separator: " and ")
  }
}

extension Condition {
  /// How to find what meets the condition with `indexes`.
  ///
  /// Equality, `in`, null and a prefix (also the beginning of a `like` pattern) use an index over their path. Of a
  /// conjunction the part with the fewest keys is used, and one by value before one by prefix; a disjunction needs all
  /// of its parts.
  ///
  /// - Parameters:
  ///   - indexes: Those that the collection has.
  ///   - rowCount: Tells about how many documents have a key. With it that part of a conjunction is used which
  ///     finds the fewest, and where they are alike the one as above.
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

  /// Which of the plans of a conjunction's parts finds the fewest documents.
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

  /// What stands in a pattern before its first `%` or `_`, and whether that is all of it.
  private static func literalHead(of pattern: String) -> (head: String, isComplete: Bool) {
    let pieces = LikePiece.pieces(of: pattern)
    var head: [UInt8] = []
    for case .byte(let byte) in pieces.prefix(while: { $0 != .one && $0 != .many }) { head.append(byte) }
    // Pieces other than bytes stand for whole scalars, so the head is UTF-8.
    return (String(decoding: head, as: UTF8.self), head.count == pieces.count)
  }
}

extension QueryPlan {
  /// How many documents the lookups find, as far as is worth knowing.
  fileprivate func rowCount(_ count: (IndexDescription, IndexKey) throws -> Int) rethrows -> Int {
    guard case .lookups(let lookups) = self else { return .max }
    // So many keys are not counted one by one: that would cost as much as it saves.
    let limit = 16
    if lookups.reduce(0, { $0 + $1.keys.count }) > limit { return .max }
    var rows = 0
    for lookup in lookups {
      for key in lookup.keys { rows += try count(lookup.index, key) }
    }
    return rows
  }

  /// What a conjunction chooses by: keys, a prefix key as much as a thousand, a scan more than all.
  fileprivate var cost: Int {
    guard case .lookups(let lookups) = self else { return .max }
    return lookups.reduce(0) { cost, lookup in
      // Of two prefixes the longer one finds less.
      cost + (lookup.isPrefix ? 1000 - lookup.keys[0].bytes.count : lookup.keys.count)
    }
  }
}
