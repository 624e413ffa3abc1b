import LogStore
import RecordFormat

/// How settings lie in a store: one table, found by name; the body is the value.
enum SettingsTable {
  static let table = 0
  static let byName = KeySpaceID(table: table, index: 0)
  static let schema = Schema([
    Schema.Table("settings", keySpaces: [Schema.KeySpace("name", isUnique: true)])
  ])
  /// The setting of the default store that says who is signed in.
  static let currentUser = "currentUser"
  /// The setting beside a catalogue that says where that came from.
  static let origin = "origin"

  /// The text that a setting holds; `nil` for one that is not set.
  static func text(_ name: String, in snapshot: Snapshot?) throws(StoreError) -> String? {
    let key = Array(name.utf8)
    var value: String?
    try snapshot?.forEachRecord(byName, key.rawSpan) { (record) throws(StoreError) in
      value = String(decoding: record.body.copied(), as: UTF8.self)
      return false
    }
    return value
  }

  /// Sets or, with `nil`, unsets a setting in one durable commit.
  static func set(_ name: String, to value: String?, in writer: StoreWriter) throws {
    let key = Array(name.utf8)
    _ = try writer.commit { transaction in
      if let value {
        var draft = RecordDraft()
        draft.addKey(key.rawSpan)
        draft.body = Array(value.utf8)
        try transaction.put(table, draft)
      } else {
        try transaction.delete(byName, key.rawSpan)
      }
    }
  }
}
