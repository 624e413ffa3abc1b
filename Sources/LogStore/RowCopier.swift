/// Copies rows of one snapshot into a transaction, with buffers that are reused from row to row.
struct RowCopier {
  var draft = RecordDraft()
  /// Where texts of the snapshot stand that were copied before.
  var texts = SharedStringMap()
}
