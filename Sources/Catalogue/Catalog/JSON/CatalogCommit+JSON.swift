package import JSONFormat
import LogStore
import TextFormat

extension CatalogCommit {
  /// A commit as JSON. Row counts that are not stored with it are null.
  package var json: JSONText {
    func number(_ count: Int?) -> JSONText { count.map(JSONText.int) ?? .null }
    let counts = counts
    return .object([
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
      ("defaulted", .int(state.counts.defaulted)), ("cursor", .text(state.cursor)),
      ("bytes", .int(commit.byteCount)), ("previous", .bool(isPrevious)),
    ])
  }

  /// The time of the commit in UTC: `2026-01-31T23:59:59Z`.
  package var timeText: String { CivilTime(milliseconds: commit.time / 1000).secondsText }
}
