import Bytes
import LogStore

/// The tables of a settings store.
///
/// The first table contains the workspace's own values: text by name. The table ``values`` contains the application's
/// settings: documents by name.
enum SettingsTable {
  static let table = 0
  static let byName = KeySpaceID(table: table, index: 0)
  static let schema = Schema([
    Schema.Table("settings", keySpaces: [Schema.KeySpace("name", isUnique: true)])
  ])
  /// Looked up by name, because its index varies.
  static let values = Schema.Table("values", keySpaces: [Schema.KeySpace("name", isUnique: true)])
  /// The default store's key for the signed-in user.
  static let currentUser = "currentUser"
  /// The key for a catalogue's origin, in a store next to the catalogue.
  static let origin = "origin"
  /// The key for a catalogue's source, in the same store: the server's URL without secrets, whether or not an
  /// organisation was named.
  static let source = "source"

  /// The text stored under a name; `nil` if nothing is stored.
  static func text(_ name: String, in snapshot: Snapshot?) throws(StoreError) -> String? {
    let key = Array(name.utf8)
    var value: String?
    try snapshot?.forEachRecord(byName, key.rawSpan) { (record) throws(StoreError) in
      value = String(decoding: record.body.copied(), as: UTF8.self)
      return false
    }
    return value
  }

  /// Stores a text or, with `nil`, deletes it, in one durable commit.
  static func set(_ name: String, to value: String?, in writer: StoreWriter) throws {
    let key = Array(name.utf8)
    let new = try writer.commit { transaction in
      if let value {
        var draft = RecordDraft()
        draft.addKey(key.rawSpan)
        draft.body = Array(value.utf8)
        try transaction.put(table, draft)
      } else {
        try transaction.delete(byName, key.rawSpan)
      }
    }
    compactIfDue(writer, new)
  }

  /// A commit takes at least a page, and each sign-in makes one. Dead records are discarded after some hundreds of
  /// sign-ins.
  static let compaction = CompactionPolicy(floor: 1 << 20)

  /// Compacts the store if it is due. The commit stays durable even if the compaction fails.
  static func compactIfDue(_ writer: StoreWriter, _ snapshot: Snapshot) {
    if (try? compaction.isDue(in: snapshot)) == true { _ = try? writer.compact() }
  }
}

extension StoreReader {
  /// Returns `reader` at the last commit. If its file or directory was replaced, or did not exist, opens the current
  /// one. If the file was removed without a replacement, returns `reader` unchanged.
  static func newest(
    _ reader: StoreReader?, refreshInterval: Duration = .zero, _ location: () throws -> StoreLocation?
  ) throws -> StoreReader? {
    var shown: StoreReader?
    if let reader {
      do throws(StoreError) {
        try reader.refresh()
        if !reader.isRemoved { return reader }
        shown = reader
      } catch {
        guard case .replaced = error else { throw error }
      }
    }
    return try location().flatMap { try StoreReader.open($0, refreshInterval: refreshInterval) } ?? shown
  }
}
