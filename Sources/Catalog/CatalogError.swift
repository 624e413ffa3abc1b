public import LogStore

/// Why an update of the catalogue was refused. Nothing local changed.
public enum CatalogError: Error, Sendable {
  case store(StoreError)
  /// A full update would lose more products than the gate allows.
  case wouldLose(lost: Int, of: Int, share: Double)
  /// An answer to an incremental request has so many rows that a full update is due.
  case needsFullUpdate(rows: Int, threshold: Int)
  /// An answer to an incremental request is larger than what an increment keeps in memory: a full update has no such limit.
  case incrementTooLarge(rowLimit: Int, byteLimit: Int)
  /// The state beside the rows was written by a program that this one does not understand.
  case unknownState(path: String)
  /// The file is a store, but not a catalogue: it has other tables.
  case otherStore(path: String, tables: [String])
}

extension CatalogError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .store(let error): "\(error)"
    case .wouldLose(let lost, let all, let share):
      "the full update would lose \(lost) of \(all) products, more than the allowed \(Int((share * 100).rounded())) %;"
        + " nothing was changed; look at what the server sends, and accept it with --accept-loss"
    case .needsFullUpdate(let rows, let threshold):
      "the answer has \(rows) or more rows in one list, which reaches the threshold of \(threshold):"
        + " a full update is due (ask with an empty cursor, or take a full answer with --full)"
    case .incrementTooLarge(let rowLimit, let byteLimit):
      "the answer has more than \(rowLimit) rows, or more than \(byteLimit) bytes in them, which is too much for an"
        + " increment: take it as a full update if it is one (with --full), or ask the server for everything (with an empty"
        + " cursor); nothing was changed"
    case .unknownState(let path):
      "\(path) keeps its cursor in a form that this program does not know; use the newer program"
    case .otherStore(let path, let tables):
      "\(path) is not a catalogue, but \(Self.kind(ofStoreWith: tables)): another file was put in its place"
    }
  }

  /// What a store with these tables is, as far as this package writes such stores.
  private static func kind(ofStoreWith tables: [String]) -> String {
    guard let first = tables.first else { return "a store without tables, as one of documents is before its first" }
    if first.hasPrefix("documents/") { return "a store of documents" }
    if first == "settings" { return "a store of settings" }
    return "a store of other tables (\(tables.prefix(3).joined(separator: ", ")))"
  }
}
