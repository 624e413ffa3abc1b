public import LogStore
package import Platform

/// The reason why an update of the catalogue was refused. The local catalogue is unchanged.
public enum CatalogError: Error, Sendable {
  case store(StoreError)
  /// A full update would lose more products than the ``LossLimit`` allows.
  case wouldLose(lost: Int, of: Int, share: Double)
  /// A full update would lose more codes of the table of codes than the ``LossLimit`` allows.
  case wouldLoseCodes(lost: Int, of: Int, share: Double)
  /// Too many products of an answer share an id with another product or have no id. All but the last product of each id
  /// would be lost.
  case wouldCollapse(rows: Int, of: Int, withoutID: Int)
  /// Too many rows of an answer exceed a limit of the format.
  case tooManySkipped(rows: Int, of: Int, allowed: Int, first: SkippedRow)
  /// The catalogue's cursor changed while the server answered, in each of `tries` attempts, because another process
  /// committed.
  case cursorMoved(path: String, tries: Int)
  /// The answer to an incremental request has so many rows that a full update is due.
  case needsFullUpdate(rows: Int, threshold: Int)
  /// The answer to an incremental request exceeds the memory limit of an increment. A full update has no such limit.
  case incrementTooLarge(rowLimit: Int, byteLimit: Int)
  /// The state stored with the commit has a version that this program does not know.
  case unknownState(path: String)
  /// The file is a store but not a catalogue: it has other tables.
  case otherStore(path: String, tables: [String])
}

extension CatalogError {
  /// Whether a newer version of this package wrote the file. It is not damaged then.
  package var isNewer: Bool {
    switch self {
    case .store(let error): error.isNewer
    case .unknownState: true
    default: false
    }
  }
}

extension CatalogError: CustomStringConvertible {
  /// A message for users: what was refused, why, and what to do. It names the option `--accept-loss`; use
  /// ``description(acceptingLoss:)`` if the program has another name for it.
  public var description: String { description(acceptingLoss: "--accept-loss") }

  /// Returns a message for users that names the caller's own setting.
  ///
  /// - Parameter setting: The option or setting that accepts a full update that loses products.
  public func description(acceptingLoss setting: String) -> String {
    switch self {
    case .store(let error): "\(error)"
    case .wouldLose(let lost, let all, let share):
      "the update would lose \(lost) of \(all) products, more than the allowed \(Int((share * 100).rounded())) %;"
        + " nothing was changed; see whether its source is complete, and accept it with \(setting)"
    case .wouldLoseCodes(let lost, let all, let share):
      "the update would lose \(lost) of \(all) codes of products, more than the allowed \(Int((share * 100).rounded())) %;"
        + " nothing was changed; see whether its source is complete and still has a list of codes, and accept it with"
        + " \(setting)"
    case .wouldCollapse(let rows, let all, let withoutID):
      "\(rows) of \(all) products of the update have the same id as another one"
        + (withoutID > 0 ? ", \(withoutID) of all have no id" : "")
        + ": only the last product of each id would remain; nothing was changed; see whether its source is right, and"
        + " accept it with \(setting)"
    case .tooManySkipped(let rows, let all, let allowed, let first):
      "\(rows) of \(all) rows of the answer exceed a limit of the format, and at most \(allowed) may be skipped; the first"
        + " is \(first); nothing was changed; ask the server's operator to correct them"
    case .cursorMoved(let path, let tries):
      "\(path) was changed by another process while the server answered, \(tries) times in a row; nothing was changed;"
        + " try again"
    case .needsFullUpdate(let rows, let threshold):
      "the answer has \(rows) or more rows in one list, which reaches the threshold of \(threshold):"
        + " a full update is due (ask with an empty cursor, or take a full answer with --full)"
    case .incrementTooLarge(let rowLimit, let byteLimit):
      "the answer has more than \(rowLimit) rows, or more than \(byteLimit) bytes in them, which is too much for an"
        + " increment: take it as a full update if it is one (with --full), or ask the server for everything (with an empty"
        + " cursor); nothing was changed"
    case .unknownState(let path):
      "\(path) \(StoreError.newerWords) (it keeps its cursor in a form that this program does not know); install that"
        + " version, and leave the file as it is"
    case .otherStore(let path, let tables):
      "\(path) is not a catalogue, but \(Self.kind(ofStoreWith: tables)): another file replaced it"
    }
  }

  /// Returns the kind of store that has these tables, if it is one that this package writes.
  private static func kind(ofStoreWith tables: [String]) -> String {
    guard let first = tables.first else {
      return "a store without tables, like a store of documents before its first document"
    }
    if first.hasPrefix("documents/") { return "a store of documents" }
    if first == "settings" { return "a store of settings" }
    return "a store of other tables (\(tables.prefix(3).joined(separator: ", ")))"
  }
}

extension SkippedRow: CustomStringConvertible {
  /// The kind, index and id of the row, and the limit that it exceeds.
  public var description: String {
    "\(kind.name) \(index) (from 0) with the id \"\(id)\": \(reason)"
  }
}

extension CatalogError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    switch self {
    case .store(let cause): cause.exitStatus
    case .cursorMoved: .temporary
    default: .data
    }
  }
}
