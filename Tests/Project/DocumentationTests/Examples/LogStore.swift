// The example of Sources/Engine/LogStore/LogStore.docc/LogStore.md
import LogStore

/// Stores a text under a name and reads it back.
func remember(_ text: String, as name: String, in directory: String) throws -> String? {
  let schema = Schema([Schema.Table("notes", keySpaces: [Schema.KeySpace("name", isUnique: true)])])
  let writer = try StoreWriter(StoreLocation.creating(directory, name: "notes"), schema: schema)
  defer { writer.close() }
  let key = Array(name.utf8)
  let snapshot = try writer.commit { transaction in
    var draft = RecordDraft()
    draft.addKey(key.span.bytes)
    draft.body = Array(text.utf8)
    try transaction.put(0, draft)  // replaces the row with this name
  }  // on return the commit is durable; if this throws, nothing has changed
  var found: String?
  try snapshot.forEachRecord(KeySpaceID(table: 0, index: 0), key.span.bytes) { (record) throws(StoreError) in
    found = record.body.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    return true
  }
  return found
}
