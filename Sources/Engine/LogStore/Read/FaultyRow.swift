import RecordFormat

/// A row that the application cannot read although its checksum is valid, because a faulty program wrote it.
package struct FaultyRow: Sendable {
  package let id: RowID
  /// A description of what is wrong with the row.
  package let finding: Finding

  package init(_ id: RowID, finding: Finding) {
    self.id = id
    self.finding = finding
  }
}
