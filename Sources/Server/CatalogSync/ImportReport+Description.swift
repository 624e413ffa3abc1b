import Catalog

extension ImportReport: CustomStringConvertible {
  /// One line for a log or a console: the kind of update, its commit, the counts of rows, and the cursor.
  ///
  ///     full update, commit 1: products 409565 upserted, 0 deleted; relations 1204 written, 0 deleted, 0 ignored; cursor "…"
  ///
  /// The counts of codes are there if there are any.
  public var description: String {
    let counts = update.counts
    var line =
      "\(update.mode.name) update, commit \(update.sequence):"
      + " products \(counts.productsUpserted) upserted, \(counts.productsDeleted) deleted;"
      + " relations \(counts.relationsWritten) written, \(counts.relationsDeleted) deleted,"
      + " \(counts.relationsIgnored) ignored;"
    if counts.hasCodes {
      line +=
        " codes \(counts.codesWritten) written, \(counts.codesDeleted) deleted, \(counts.codesIgnored) ignored;"
    }
    line += " cursor \"\(update.cursor)\""
    if counts.defaulted > 0 { line += "; \(counts.defaulted) fields of another type took their default" }
    if update.notices.skipped.count > 0 { line += "; \(update.notices.skipped.count) rows beyond a limit skipped" }
    switch compaction {
    case .notDue: break
    case .compacted: line += "; compacted"
    case .failed(let error): line += "; the compaction failed: \(error)"
    }
    return line
  }
}
