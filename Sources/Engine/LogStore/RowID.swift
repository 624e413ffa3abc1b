import RecordFormat

/// The identifier of a row within one generation of a store.
///
/// A snapshot returns it, and it identifies the same row in every snapshot of that generation in which the row is live.
/// A compaction writes a new generation, whose rows have other identifiers. Identifiers are ordered as the rows are in
/// the file.
@frozen
public struct RowID: Hashable, Comparable, BitwiseCopyable, Sendable {
  @usableFromInline
  let rawValue: UInt32

  @inline(__always)
  init(_ unit: UnitOffset) { rawValue = unit.rawValue }

  @inline(__always)
  var unit: UnitOffset { UnitOffset(rawValue: rawValue) }

  /// The offset of the row in its file in bytes, for damage reports.
  package var byteOffset: Int { unit.byteOffset }

  /// The row as a number below 2³², ordered as the rows are.
  package var number: UInt64 { UInt64(rawValue) }

  /// The row with this number, which ``number`` returned.
  package init(number: UInt64) { rawValue = UInt32(truncatingIfNeeded: number) }

  /// Whether the row of `a` precedes the row of `b` in the file.
  @inlinable
  public static func < (a: RowID, b: RowID) -> Bool { a.rawValue < b.rawValue }
}

extension [RowID] {
  /// Brings rows into the order of the file.
  ///
  /// - Complexity: A few passes over the rows, and memory for a second copy of them.
  package mutating func sortByPlace() { RadixSort.sort(&self) { $0.number } }
}
