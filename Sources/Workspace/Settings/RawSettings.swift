import Bytes
import LogStore

/// How settings lie in a store.
///
/// Two tables: the first holds what the workspace itself remembers, found by name, with text as the body; ``values`` holds the
/// settings of the application, found by name, with a document as the body.
enum SettingsTable {
  static let table = 0
  static let byName = KeySpaceID(table: table, index: 0)
  static let schema = Schema([
    Schema.Table("settings", keySpaces: [Schema.KeySpace("name", isUnique: true)])
  ])
  /// Found by its name, wherever it stands behind the first.
  static let values = Schema.Table("values", keySpaces: [Schema.KeySpace("name", isUnique: true)])
  /// What the default store remembers: who is signed in.
  static let currentUser = "currentUser"
  /// What is remembered beside a catalogue: where that came from.
  static let origin = "origin"
  /// What is remembered there as well: the server's URL without anything secret, whether an organisation was named or
  /// not.
  static let source = "source"

  /// The text that is remembered under a name; `nil` for nothing.
  static func text(_ name: String, in snapshot: Snapshot?) throws(StoreError) -> String? {
    let key = Array(name.utf8)
    var value: String?
    try snapshot?.forEachRecord(byName, key.rawSpan) { (record) throws(StoreError) in
      value = String(decoding: record.body.copied(), as: UTF8.self)
      return false
    }
    return value
  }

  /// Remembers a text or, with `nil`, forgets it, in one durable commit.
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
    tidyUp(writer, new)
  }

  /// A commit takes at least a page, and each sign-in is one: what is dead is thrown away some hundreds of them later.
  static let compaction = CompactionPolicy(floor: 1 << 20)

  /// Compacts where it is worth it. What was committed stays so, whatever becomes of that.
  static func tidyUp(_ writer: StoreWriter, _ snapshot: Snapshot) {
    if (try? compaction.isDue(in: snapshot)) == true { _ = try? writer.compact() }
  }
}

extension StoreReader {
  /// `reader` at the last commit; one that was opened where there was none, or where an older file, or another directory, was
  /// put in the place of its own: what lies on the disk is what counts. Where nothing was, it shows what it showed.
  static func newest(
    _ reader: StoreReader?, lookInterval: Duration = .zero, _ location: () throws -> StoreLocation?
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
    return try location().flatMap { try StoreReader.open($0, lookInterval: lookInterval) } ?? shown
  }
}
