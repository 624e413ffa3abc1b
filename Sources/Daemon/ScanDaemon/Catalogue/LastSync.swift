import Catalog
import Essentials
import JSONFormat
import Workspace

/// The result of the last synchronisation.
struct LastSync {
  /// The stores that were synchronised.
  weak var stores: UserStores?
  var attempt: Date?
  /// The reason for the failure; `nil` if it succeeded.
  var error: String?
  /// The number of failures since the last success.
  var failures = 0

  static func event(user: String?, _ update: UpdateReport, _ took: Duration, setAside: String?) -> JSONText {
    .object([
      ("ok", .bool(true)), ("user", .optional(user)), ("mode", .text(update.mode.name)),
      ("sequence", .uint(update.sequence)), ("cursor", .text(update.cursor)),
      (
        "products",
        .object([
          ("upserted", .int(update.counts.productsUpserted)), ("deleted", .int(update.counts.productsDeleted)),
        ])
      ), ("seconds", .double((took.seconds * 1000).rounded() / 1000)), ("setAside", .optional(setAside)),
      ("error", .null),
    ])
  }

  static func event(user: String?, failure: String) -> JSONText {
    .object([("ok", .bool(false)), ("user", .optional(user)), ("error", .text(failure))])
  }
}
