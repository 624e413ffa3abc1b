import Bytes
import RecordFormat

/// The rows that differ between two commits of a generation, by table.
///
/// A row that was put again with the same content is included, because it is a different row. To find changes of
/// content, compare the rows.
public struct RowChanges: Sendable {
  /// The rows that are live at the later commit and were put after the earlier one, in file order.
  public fileprivate(set) var added: [[RowID]]
  /// The rows that were live at the earlier commit and have died since, in file order.
  public fileprivate(set) var removed: [[RowID]]
}

extension Snapshot {
  /// Returns the changes since `earlier`, a commit of the same generation that is not later than this one.
  ///
  /// Read rows of `added` from this snapshot and rows of `removed` from `earlier`.
  ///
  /// - Throws: `StoreError.damaged` at the first object that fails its check.
  /// - Complexity: Reads the objects of the commits between the two and the rows that these commits deleted, but
  ///   nothing else.
  public func changes(since earlier: Snapshot) throws(StoreError) -> RowChanges {
    precondition(
      earlier.log.header.storeID == log.header.storeID && earlier.sequence <= sequence,
      "changes lead from an earlier commit of the same generation to a later one")
    var changes = RowChanges(
      added: Array(repeating: [], count: manifest.tables.count),
      removed: Array(repeating: [], count: manifest.tables.count))
    for segment in try segments(after: earlier) {
      _ = try forEachObject(segment) { (object, unit) throws(StoreError) in
        let kind = ObjectHeader.kind(object.u32(at: 4))
        if let table = kind.table {
          guard table < changes.added.count else { throw damagedObject(unit, "a row of no table") }
          if try !isDead(unit) { changes.added[table].append(RowID(unit)) }
        } else if kind == .tombstones {
          guard let tombstones = Tombstones(object) else { throw damagedObject(unit, "tombstones") }
          for index in 0..<tombstones.count {
            try addRemoved(tombstones.offset(index), removedSince: earlier, in: &changes)
          }
        }
        return true
      }
    }
    for table in changes.removed.indices { changes.removed[table].sort() }
    return changes
  }

  /// Adds a row that a tombstone names to the removed rows if it was live at `earlier`.
  private func addRemoved(
    _ unit: UnitOffset, removedSince earlier: Snapshot, in changes: inout RowChanges
  ) throws(StoreError) {
    guard unit.byteOffset < earlier.end, try !earlier.isDead(unit) else { return }
    let scope = ScratchScope(self)
    defer { scope.end() }
    guard let table = ObjectHeader.kind(try object(unit).u32(at: 4)).table, table < changes.removed.count else {
      throw damagedObject(unit, "a tombstone names it, but it is no row")
    }
    changes.removed[table].append(RowID(unit))
  }

  /// Returns the footers of the commits after `earlier`, up to and including this one, oldest first.
  private func segments(after earlier: Snapshot) throws(StoreError) -> [SegmentFooter] {
    var footers: [SegmentFooter] = []
    var next = footer
    while Int(next.segmentOffset) >= earlier.end {
      footers.append(next)
      next = try log.footer(before: next)
    }
    return footers.reversed()
  }
}
