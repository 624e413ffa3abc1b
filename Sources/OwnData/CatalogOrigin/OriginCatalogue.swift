/// The catalogue that an origin serves: the rows of its files with a stamp that orders each in time, and tombstones for
/// rows that vanished.
///
/// A full answer contains the files' rows unchanged. An incremental one contains every product that changed after the
/// client's cursor, with all its relations, and a tombstone for each that vanished. Stamps belong to the origin: the
/// `updateTime` in a row stays as in the file, so a client that was updated incrementally has the same rows as one with
/// a full update. (Two kinds of row are sent only in full answers, because the protocol has no increment for them:
/// products that the file itself marks with `delFlag`, and relations whose product does not exist. Neither ever matches
/// a scan.)
///
/// Invariants, which `checkInvariants(_:)` checks:
/// 1. Entries are in strictly ascending order of (stamp, id), and no id occurs twice.
/// 2. No entry is later than ``newestStamp``, which is never empty and never decreases. Each cursor ever sent was the
///    newest stamp at that time.
/// 3. All changes of a reload are later than every cursor sent before and than every credible cursor that a client has
///    shown. So a client that has not seen a change sends a cursor before it.
/// 4. A product's relations are part of its entry: a change of them moves the product.
///
/// ``OriginState`` keeps stamps and tombstones across restarts. Without it they live as long as the process: after a
/// restart the stamp of a row is its own `updateTime` again, and rows that vanished before are unknown: a client that
/// must learn of such changes has to request a full update.
package struct OriginCatalogue: Sendable {
  struct Entry: Sendable {
    var id: ByteText
    var stamp: Stamp
    /// The row as in the file; for a tombstone, as last in the file.
    var packed: [UInt8]
    /// The product's relations, packed.
    var relations: [UInt8]
    var isTombstone = false
  }

  private(set) var entries: [Entry]
  /// The packed relations whose product does not exist.
  private(set) var orphans: [UInt8]
  /// The next cursor to send.
  package private(set) var newestStamp: Stamp
  /// The number of rows in a full answer, and of tombstones.
  package private(set) var counts: Counts
  /// The latest credible cursor that a client showed; it may come from an earlier process.
  private(set) var latestCursorSeen: Stamp

  /// The numbers of rows that are served.
  package struct Counts: Sendable, Equatable {
    /// The number of products in the files.
    package var products = 0
    /// The number of relations in the files, including those whose product is missing.
    package var relations = 0
    /// The number of products that were deleted from the files since the process started and are not back.
    package var tombstones = 0
  }

  /// The changes of a reload. A product whose relations changed counts as updated.
  package struct Changes: Sendable, Equatable {
    /// The number of products that are new, or are back after a deletion.
    package var inserted = 0
    /// The number of products that changed, or whose relations changed.
    package var updated = 0
    /// The number of products that are no longer in the files.
    package var deleted = 0
    /// Whether no product was inserted, updated or deleted.
    package var isEmpty: Bool { self == Changes() }
  }

  /// Creates a catalogue of `rows`, each with its own `updateTime` as its stamp.
  ///
  /// - Parameters:
  ///   - rows: The rows of the files.
  ///   - now: The cursor if no row has an `updateTime`. If the rows do not use theirs, it is the stamp of each, so that a
  ///     client of an earlier process gets all rows again, and misses none that changed in between.
  package init(_ rows: OriginRows, now: Stamp) {
    entries = []
    orphans = []
    latestCursorSeen = Stamp("")
    counts = Counts()
    // Below every stamp, so that each row counts as new with its own stamp.
    newestStamp = Stamp("")
    _ = replace(by: rows) { own in rows.usesUpdateTimes ? own : now }
    if newestStamp.isEmpty { newestStamp = now }
  }

  /// Creates a catalogue of `rows` that continues what an earlier process served: a row that has not changed keeps its
  /// stamp, and rows that vanished are tombstones.
  ///
  /// - Parameters:
  ///   - rows: The rows of the files.
  ///   - memory: What the earlier process wrote.
  ///   - now: The stamp of what changed in between.
  /// - Returns: The catalogue, and what changed.
  /// - Throws: `CryptographyError` if rows cannot be compared.
  static func continuing(_ memory: OriginMemory, _ rows: OriginRows, now: Stamp) throws -> (OriginCatalogue, Changes) {
    var catalogue = OriginCatalogue(OriginRows(), now: memory.newestStamp)
    catalogue.latestCursorSeen = memory.latestCursorSeen
    let relations = rows.relationsByProduct()
    catalogue.entries = try memory.marks.map { id, mark in
      if let product = rows.products[id], let digest = mark.digest {
        let own = relations[id] ?? []
        if try OriginState.digest(product.packed, own) == digest {
          return Entry(id: id, stamp: mark.stamp, packed: product.packed, relations: own)
        }
      }
      // The former content is unknown, and differs from the present one.
      return Entry(
        id: id, stamp: mark.stamp, packed: PackedRow.pack(id: id), relations: [], isTombstone: mark.digest == nil)
    }
    let changes = catalogue.reload(rows, now: now)
    return (catalogue, changes)
  }

  /// Replaces the content by the files' new content.
  ///
  /// A new or changed row keeps its own `updateTime` as its stamp if that is later than any cursor that a client may
  /// have. Otherwise, and for rows that vanished, all changes of this reload get one stamp, `now` or later.
  package mutating func reload(_ rows: OriginRows, now: Stamp) -> Changes {
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
        // The row's own `updateTime` is not used: it does not show when the row vanished.
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
    // Sorted by product, so that two loads of one file give the same answers.
    orphans = relations.sorted { $0.key < $1.key }.flatMap(\.value)
    newestStamp = max(newestStamp, entries.last?.stamp ?? newestStamp)
    let tombstoneCount = entries.count(where: \.isTombstone)
    counts = Counts(
      products: entries.count - tombstoneCount, relations: rows.relationCount, tombstones: tombstoneCount)
    return changes
  }

  /// The answer for a client with this cursor: everything if the cursor is empty, otherwise the entries with a later
  /// stamp in byte order.
  ///
  /// Later reloads do not affect the answer.
  ///
  /// - Complexity: O(log *n*).
  package mutating func answer(cursor: String, now: Stamp) -> OriginAnswer {
    let cursor = Stamp(cursor)
    guard !cursor.isEmpty else {
      return OriginAnswer(isFull: true, entries: entries[...], orphans: orphans, newestStamp: newestStamp)
    }
    remember(cursor, now: now)
    return OriginAnswer(
      isFull: false, entries: entries[firstIndex(after: cursor)...], orphans: [], newestStamp: newestStamp)
  }

  /// Remembers a cursor that an earlier process may have sent, so that no change gets a stamp before it.
  ///
  /// Only times up to tomorrow are accepted: an invented cursor must not move all stamps far into the future.
  private mutating func remember(_ cursor: Stamp, now: Stamp) {
    guard cursor > newestStamp, cursor > latestCursorSeen, let time = cursor.secondsSince1970,
      let present = now.secondsSince1970, time <= present + 86_400
    else { return }
    latestCursorSeen = cursor
  }

  /// The index of the first entry with a later stamp, found by binary search.
  private func firstIndex(after cursor: Stamp) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].stamp > cursor { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The entries that a reload changed, if `stamp` was the newest one before it.
  func entries(after stamp: Stamp) -> ArraySlice<Entry> { entries[firstIndex(after: stamp)...] }

  /// Reports every violated invariant.
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
