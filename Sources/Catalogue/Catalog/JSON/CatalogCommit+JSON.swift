package import JSONFormat
import LogStore
import TextFormat

extension CatalogCommit {
  /// A commit as JSON. Row counts that are not stored with it are null.
  package var json: JSONText {
    func number(_ count: Int?) -> JSONText { count.map(JSONText.int) ?? .null }
    let counts = counts
    // A catalogue without codes has no counts of them.
    let codes: [(String, JSONText)] =
      state.hasCodes
      ? [
        (
          "codes",
          .object([
            ("written", number(counts.codesWritten)), ("deleted", number(counts.codesDeleted)),
            ("ignored", .int(state.counts.codesIgnored)),
          ])
        )
      ] : []
    let rows: [(String, JSONText)] = [
      ("sequence", .uint(commit.sequence)), ("generation", .uint(commit.generation)),
      ("time", .text(timeText)), ("mode", .text(state.mode.name)),
      (
        "products",
        .object([("upserted", number(counts.productsUpserted)), ("deleted", number(counts.productsDeleted))])
      ),
      (
        "relations",
        .object([
          ("written", number(counts.relationsWritten)), ("deleted", number(counts.relationsDeleted)),
          ("ignored", .int(state.counts.relationsIgnored)),
        ])
      ),
    ]
    let rest: [(String, JSONText)] = [
      ("defaulted", .int(state.counts.defaulted)), ("cursor", .text(state.cursor)),
      ("bytes", .int(commit.byteCount)), ("previous", .bool(isPrevious)),
    ]
    return .object(rows + codes + rest)
  }

  /// The time of the commit in UTC: `2026-01-31T23:59:59Z`.
  package var timeText: String { CivilTime(milliseconds: commit.time / 1000).secondsText }
}
