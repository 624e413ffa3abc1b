import RecordFormat

/// A row that an application cannot read, though its checksum holds: a faulty program wrote it.
package struct FaultyRow: Sendable {
  package let id: RowID
  /// What is wrong with it.
  package let finding: Finding

  package init(_ id: RowID, finding: Finding) {
    self.id = id
    self.finding = finding
  }
}
