import Bytes
import RecordFormat

/// A cursor over the rows of an ordered index in a snapshot, forward or backward from a gap. It skips dead rows.
///
/// Rows with the same key are in the order of the file.
public struct OrderedCursor {
  private let snapshot: Snapshot
  private let isForward: Bool
  private let hasDeadRows: Bool
  /// The place of the current row, in one block of the index.
  private var place: OrderedPlace
  /// The places in the other blocks, without those that are at their end: the nearest one last.
  private var others: [OrderedPlace] = []
  /// The pair of the nearest of the other places, with which each step of the current one is compared.
  private var nearestKey: [UInt8] = []
  private var nearestRow: UInt32 = 0
  private var hasStarted = false
  /// The key of the current row, and bytes of longer keys before it.
  private var currentKey = OrderedPage.keyBuffer
  private var currentKeyByteCount = 0
  /// The error that stopped the cursor.
  private var failure: StoreError?

  init(_ snapshot: Snapshot, _ id: OrderedIndexID, from gap: OrderedGap, isForward: Bool) throws(StoreError) {
    self.snapshot = snapshot
    self.isForward = isForward
    hasDeadRows = !snapshot.deadBlocks.isEmpty
    place = OrderedPlace(isForward: isForward)
    for block in try snapshot.orderedBlocks(id) {
      let next = try OrderedPlace(snapshot, block, from: gap, isForward: isForward)
      if next.isAtEnd { continue }
      others.append(next)
    }
    others.sort { $1.precedes($0) }
    takeNearest()
  }

  /// Moves to the next row in the cursor's direction. Returns whether there is one.
  ///
  /// - Throws: `StoreError.damaged` if a page or dead block fails its check, now or in an earlier call.
  /// - Complexity: A few nanoseconds for each block of the index, and one page for about a hundred rows.
  public mutating func next() throws(StoreError) -> Bool {
    if let failure { throw failure }
    do throws(StoreError) {
      while true {
        if hasStarted { try place.step(snapshot) }
        hasStarted = true
        if !others.isEmpty, place.isAtEnd || !place.precedes(nearestKey.rawSpan, nearestRow) { passToNearest() }
        if place.isAtEnd { return false }
        if hasDeadRows, try snapshot.isDead(UnitOffset(rawValue: place.row)) { continue }
        currentKeyByteCount = place.copyKey(over: &currentKey)
        return true
      }
    } catch {
      failure = error
      throw error
    }
  }

  /// Makes the nearest of the other places the current one, and enters the current one among the others.
  @inline(never)
  private mutating func passToNearest() {
    if !place.isAtEnd {
      let position = others.firstIndex { $0.precedes(place) } ?? others.count
      others.insert(place, at: position)
    }
    takeNearest()
  }

  /// Takes the nearest of the other places as the current one, if there are any.
  private mutating func takeNearest() {
    guard let nearest = others.popLast() else { return }
    place = nearest
    if let next = others.last { nearestRow = next.copyPair(to: &nearestKey) }
  }

  /// The key of the current row. Only valid after ``next()`` has returned `true`.
  public var key: RawSpan {
    @_lifetime(borrow self)
    get { currentKey.rawSpan.slice(0, currentKeyByteCount) }
  }

  /// The current row. Only valid after ``next()`` has returned `true`.
  public var row: RowID { RowID(UnitOffset(rawValue: place.row)) }

  /// The gap after the current row in the cursor's direction, from which another cursor of the same direction goes on.
  public var gap: OrderedGap { isForward ? .after(key.copied(), row) : .before(key.copied(), row) }

  /// Prefetches the records of the next `count` rows in the block of the current row, once each. Call it after every
  /// ``next()``, so that the records are on their way early enough. This is a hint: an error is left to ``next()``.
  package mutating func prefetchRecords(_ count: Int = 12) {
    do throws(StoreError) { try place.prefetchRecords(count, snapshot) } catch { failure = error }
  }
}
