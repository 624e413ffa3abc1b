/// What an origin serves: the rows of its files, each with the stamp that orders it in time, and what
/// vanished.
///
/// A full answer is the files, row by row as they are. An incremental one is every product that changed after
/// the client's cursor, with all its relations, and a tombstone for each that vanished. A stamp belongs to
/// the origin: the `updateTime` in a row stays as the file has it, so a client that came by increments holds
/// the same rows as one that came by a full update. (Two kinds of row travel in full answers only, for the
/// protocol has no increment for them: products that the file itself marks with `delFlag`, and relations
/// whose product is not there. Neither ever matches a scan.)
///
/// Invariants, which `checkInvariants(_:)` checks:
/// 1. Entries are in strictly ascending order of (stamp, id), and no id occurs twice.
/// 2. No entry is later than ``newestStamp``, which is never empty and never goes back. Each cursor that was
///    handed out was the newest stamp of its time.
/// 3. Whatever a reload adds or alters is later than every cursor handed out before and than every credible
///    cursor that a client has shown. So a client that has not seen a change asks with a cursor before it.
/// 4. A product's relations are part of its entry: what changes there moves the product.
///
/// Stamps and tombstones live as long as the process. After a restart a row counts by its own `updateTime`
/// again, and what vanished meanwhile is unknown: a client that must learn of such changes asks for a full
/// update.
public struct OriginCatalogue: Sendable {
  struct Entry: Sendable {
    var id: ByteText
    var stamp: Stamp
    /// The row as the file has it; of a tombstone as the file last had it.
    var packed: [UInt8]
    /// The product's relations, packed.
    var relations: [UInt8]
    var isTombstone = false
  }

  private(set) var entries: [Entry]
  /// Relations whose product is not there, packed.
  private(set) var orphans: [UInt8]
  /// What the next cursor handed out will be.
  public private(set) var newestStamp: Stamp
  /// The number of rows in a full answer, and of tombstones.
  public private(set) var counts: Counts
  /// The latest credible cursor that a client showed; it may come from an earlier process.
  private(set) var latestCursorSeen: Stamp

  /// How much is served.
  public struct Counts: Sendable, Equatable {
    /// The number of products in the files.
    public var products = 0
    /// The number of relations in the files, including those whose product is missing.
    public var relations = 0
    /// The number of products that were deleted from the files since the process started and are not back.
    public var tombstones = 0
  }

  /// What a reload did. A product whose relations changed counts as updated.
  public struct Changes: Sendable, Equatable {
    /// The number of products that are new, or are back after a deletion.
    public var inserted = 0
    /// The number of products that changed, or whose relations changed.
    public var updated = 0
    /// The number of products that are no longer in the files.
    public var deleted = 0
    /// Whether no product was inserted, updated or deleted.
    public var isEmpty: Bool { self == Changes() }
  }

  /// Creates a catalogue of the rows, each with its own `updateTime` as stamp.
  ///
  /// - Parameters:
  ///   - rows: The rows of the files.
  ///   - now: The cursor if no row has an `updateTime`.
  public init(_ rows: OriginRows, now: Stamp) {
    entries = []
    orphans = []
    latestCursorSeen = Stamp("")
    counts = Counts()
    // Below every stamp, so that each row counts as new by its own.
    newestStamp = Stamp("")
    _ = replace(by: rows) { own in own }
    if newestStamp.isEmpty { newestStamp = now }
  }

  /// Takes over the files' new content.
  ///
  /// A row that is new or altered keeps its own `updateTime` as stamp if that is later than whatever a client
  /// may hold as its cursor; otherwise, and where it vanished, all of this reload get one stamp, `now` or
  /// later.
  public mutating func reload(_ rows: OriginRows, now: Stamp) -> Changes {
    let floor = max(newestStamp, latestCursorSeen)
    let following = floor.next(now: now)
    return replace(by: rows) { own in own > floor ? own : following }
  }

  private mutating func replace(by rows: OriginRows, stamp: (_ own: Stamp) -> Stamp) -> Changes {
    var changes = Changes()
    var relations = rows.relationsByProduct()
    var remaining = rows.products
    var replaced: [Entry] = []
    replaced.reserveCapacity(max(entries.count, remaining.count))
    for var entry in entries {
      if let product = remaining.removeValue(forKey: entry.id) {
        let own = relations.removeValue(forKey: entry.id) ?? []
        if entry.isTombstone || product.packed != entry.packed || own != entry.relations {
          if entry.isTombstone { changes.inserted += 1 } else { changes.updated += 1 }
          entry = Entry(id: entry.id, stamp: stamp(product.stamp), packed: product.packed, relations: own)
        }
      } else if !entry.isTombstone {
        changes.deleted += 1
        // No `updateTime` of its own: what is gone says nothing of when it went.
        entry = Entry(
          id: entry.id, stamp: stamp(Stamp("")), packed: entry.packed, relations: [], isTombstone: true)
      }
      replaced.append(entry)
    }
    for (id, product) in remaining {
      changes.inserted += 1
      let own = relations.removeValue(forKey: id) ?? []
      replaced.append(Entry(id: id, stamp: stamp(product.stamp), packed: product.packed, relations: own))
    }
    replaced.sort { ($0.stamp, $0.id) < ($1.stamp, $1.id) }
    entries = replaced
    // In order of the product, so that two loads of one file answer alike.
    orphans = relations.sorted { $0.key < $1.key }.flatMap(\.value)
    newestStamp = max(newestStamp, entries.last?.stamp ?? newestStamp)
    let tombstoneCount = entries.count(where: \.isTombstone)
    counts = Counts(
      products: entries.count - tombstoneCount, relations: rows.relationCount, tombstones: tombstoneCount)
    return changes
  }

  /// What a client with this cursor is missing: everything for an empty one, else what is later as plain
  /// text.
  ///
  /// The answer is a value of its own that later reloads leave alone.
  ///
  /// - Complexity: O(log *n*).
  public mutating func answer(cursor: String, now: Stamp) -> OriginAnswer {
    let cursor = Stamp(cursor)
    guard !cursor.isEmpty else {
      return OriginAnswer(isFull: true, entries: entries[...], orphans: orphans, newestStamp: newestStamp)
    }
    remember(cursor, now: now)
    return OriginAnswer(
      isFull: false, entries: entries[firstIndex(after: cursor)...], orphans: [], newestStamp: newestStamp)
  }

  /// Keeps in mind a cursor that an earlier process may have handed out, so that no change is stamped before
  /// it.
  ///
  /// Only times up to tomorrow are believed: an invented cursor must not drag all stamps into a far future.
  private mutating func remember(_ cursor: Stamp, now: Stamp) {
    guard cursor > newestStamp, cursor > latestCursorSeen, let time = cursor.secondsSince1970,
      let present = now.secondsSince1970, time <= present + 86_400
    else { return }
    latestCursorSeen = cursor
  }

  /// The first entry with a later stamp, by bisection.
  private func firstIndex(after cursor: Stamp) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].stamp > cursor { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Reports every broken rule.
  func checkInvariants(_ report: (String) -> Void) {
    for (one, other) in zip(entries, entries.dropFirst()) where (one.stamp, one.id) >= (other.stamp, other.id) {
      report("entries \(one.id.string) and \(other.id.string) are out of order")
    }
    if Set(entries.map(\.id)).count != entries.count { report("an id occurs twice") }
    if newestStamp.isEmpty { report("the newest stamp is empty") }
    for entry in entries where entry.stamp > newestStamp {
      report("\(entry.id.string) is stamped \(entry.stamp.string), later than \(newestStamp.string)")
    }
    for entry in entries where entry.isTombstone && !entry.relations.isEmpty {
      report("tombstone \(entry.id.string) has relations")
    }
    if counts.products + counts.tombstones != entries.count { report("counts do not add up") }
  }
}
