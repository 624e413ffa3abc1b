/// Copies rows of one snapshot into a transaction, with buffers that are reused from row to row.
struct RowCopier {
  var draft = RecordDraft()
  /// The texts of the snapshot that were already copied, by offset.
  var texts = SharedStringMap()
}
