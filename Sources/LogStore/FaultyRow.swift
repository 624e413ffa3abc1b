import RecordFormat

/// A row that an application cannot read, though its checksum holds: a faulty program wrote it.
package struct FaultyRow: Sendable {
  /// Where the row stands.
  package let offset: UnitOffset
  /// What is wrong with it.
  package let finding: Finding

  package init(offset: UnitOffset, finding: Finding) {
    self.offset = offset
    self.finding = finding
  }
}
