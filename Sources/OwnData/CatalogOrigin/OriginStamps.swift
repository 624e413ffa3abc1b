import Bytes

/// When each product of an origin changed, in the order of the cursors that clients have.
///
/// Stamps belong to the origin: the `updateTime` in a row stays as in the file, so a client that was updated
/// incrementally has the same rows as one with a full update. A product that has not changed since the first load has no
/// mark: its stamp is ``base``, or else its `updateTime`.
///
/// Invariants, which `checkInvariants(_:)` checks:
/// 1. Marks are in strictly ascending order of (stamp, id), and no id occurs twice.
/// 2. No mark is later than ``newest``, which is never empty and never decreases. Each cursor ever sent was the newest
///    stamp at that time.
/// 3. All changes of a reload are later than every cursor sent before and than every credible cursor that a client has
///    shown. So a client that has not seen a change sends a cursor before it.
/// 4. A product's relations and codes belong to it: a change of them moves the product.
struct OriginStamps: Sendable, Equatable {
  /// The last change of a product.
  struct Mark: Sendable, Equatable {
    var id: ByteText
    var stamp: Stamp
    /// The commit in which a product that vanished was last seen, 0 if that is not known; `nil` for a product that is
    /// there.
    var lastSeen: UInt64?

    var isTombstone: Bool { lastSeen != nil }
  }

  private(set) var marks: [Mark] = []
  /// Whether a changed product has its `updateTime` as its stamp, if that is late enough.
  let usesUpdateTimes: Bool
  /// The stamp of products without a mark; `nil` if each has its `updateTime` as its stamp.
  private(set) var base: Stamp?
  /// No product without a mark has a later stamp.
  private(set) var latestUnmarked: Stamp
  /// The next cursor to send.
  private(set) var newest: Stamp
  /// The latest credible cursor that a client showed; it may come from an earlier process.
  private(set) var latestCursorSeen = Stamp("")
  /// Whether a client may have been sent codes. Answers have a list of codes from then on: one without it would leave
  /// those that the client has.
  var hasHadCodes = false

  /// The stamps of products that nobody was sent before.
  ///
  /// - Parameters:
  ///   - latestUpdateTime: The latest `updateTime` of the products; `nil` if it is data like any other.
  ///   - now: The stamp of products without a time of their own, so that a client of an earlier process gets all of them
  ///     again, and misses none that changed in between.
  init(latestUpdateTime: Stamp?, now: Stamp) {
    usesUpdateTimes = latestUpdateTime != nil
    base = usesUpdateTimes ? nil : now
    newest = latestUpdateTime.flatMap { $0.isEmpty ? nil : $0 } ?? now
    latestUnmarked = newest
  }

  /// The stamps that an earlier process had.
  init(
    marks: [Mark], usesUpdateTimes: Bool, base: Stamp?, latestUnmarked: Stamp, newest: Stamp, latestCursorSeen: Stamp
  ) {
    self.marks = marks.sorted(by: Self.precedes)
    self.usesUpdateTimes = usesUpdateTimes
    self.base = base
    self.latestUnmarked = latestUnmarked
    self.newest = newest
    self.latestCursorSeen = latestCursorSeen
  }

  /// The number of products that vanished and are not back.
  var tombstoneCount: Int { marks.count(where: \.isTombstone) }

  /// The products that a reload changed.
  struct Changes {
    /// The products that are new or changed, or whose relations or codes changed, with their own `updateTime`.
    var written: [(id: ByteText, updateTime: Stamp)] = []
    /// The products that are gone.
    var removed: [ByteText] = []
    /// The last commit before the changes.
    var before: UInt64 = 0
  }

  /// Stamps changes.
  ///
  /// A product keeps its own `updateTime` as its stamp if that is used, and later than any cursor that a client may
  /// have. Otherwise, and for products that are gone, all changes get one stamp, `now` or later.
  ///
  /// - Returns: The marks of the changes.
  mutating func stamp(_ changes: Changes, now: Stamp) -> [Mark] {
    let floor = max(newest, latestCursorSeen)
    let following = floor.next(now: now)
    var changed = changes.written.map { product in
      Mark(
        id: product.id,
        stamp: usesUpdateTimes && product.updateTime > floor ? product.updateTime : following)
    }
    changed += changes.removed.map { Mark(id: $0, stamp: following, lastSeen: changes.before) }
    if changed.isEmpty { return [] }
    let ids = Set(changed.map(\.id))
    marks.removeAll { ids.contains($0.id) }
    marks += changed
    marks.sort(by: Self.precedes)
    newest = max(newest, marks.last?.stamp ?? newest)
    return changed
  }

  /// Gives all products that are there one stamp, `now` or later, because it is not known how they were before.
  ///
  /// - Parameter isThere: Whether a product is there.
  /// - Returns: The ids of the marks that are no longer needed.
  mutating func restart(now: Stamp, where isThere: (ByteText) throws -> Bool) rethrows -> [ByteText] {
    let following = max(newest, latestCursorSeen).next(now: now)
    var dropped: [ByteText] = []
    var kept: [Mark] = []
    for var mark in marks {
      if try isThere(mark.id) {
        dropped.append(mark.id)
      } else {
        if !mark.isTombstone { mark = Mark(id: mark.id, stamp: following, lastSeen: 0) }
        kept.append(mark)
      }
    }
    marks = kept.sorted(by: Self.precedes)
    base = following
    latestUnmarked = following
    newest = following
    return dropped
  }

  /// The marks that are later than a cursor.
  ///
  /// - Complexity: O(log *n*).
  func marks(after cursor: Stamp) -> ArraySlice<Mark> {
    marks[marks.indices.partitioningIndex { marks[$0].stamp > cursor }...]
  }

  /// Whether products without a mark may be later than a cursor.
  func mayHaveUnmarked(after cursor: Stamp) -> Bool { latestUnmarked > cursor }

  /// The stamp of a product without a mark.
  func unmarkedStamp(updateTime: Stamp) -> Stamp { base ?? updateTime }

  /// Remembers a cursor that an earlier process may have sent, so that no change gets a stamp before it.
  ///
  /// Only times up to tomorrow are accepted: an invented cursor must not move all stamps far into the future.
  mutating func remember(_ cursor: Stamp, now: Stamp) {
    guard cursor > newest, cursor > latestCursorSeen, let time = cursor.secondsSince1970,
      let present = now.secondsSince1970, time <= present + 86_400
    else { return }
    latestCursorSeen = cursor
  }

  /// Reports every violated invariant.
  func checkInvariants(_ report: (String) -> Void) {
    for (one, other) in zip(marks, marks.dropFirst()) where !Self.precedes(one, other) {
      report("marks \(one.id.string) and \(other.id.string) are out of order")
    }
    if Set(marks.map(\.id)).count != marks.count { report("an id occurs twice") }
    if newest.isEmpty { report("the newest stamp is empty") }
    if latestUnmarked > newest { report("products without a mark are later than \(newest.string)") }
    for mark in marks where mark.stamp > newest {
      report("\(mark.id.string) is stamped \(mark.stamp.string), later than \(newest.string)")
    }
  }

  private static func precedes(_ one: Mark, _ other: Mark) -> Bool { (one.stamp, one.id) < (other.stamp, other.id) }
}
