import Bytes
public import DocumentFormat
import LogStore

/// All settings of one user, or of the default store, at one commit. Use it to read several settings consistently.
public struct SettingsSnapshot: Sendable {
  /// The engine's snapshot; `nil` for settings that were never changed.
  let store: Snapshot?
  /// The path, for messages.
  let path: String

  /// The value of a setting; its default value if nothing is set.
  ///
  /// - Throws: `SettingsError.type`, `.unreadable`, `.name`; `StoreError`.
  /// - Complexity: One lookup and the decoding.
  public func get<Value>(_ setting: Setting<Value>) throws -> Value {
    guard let bytes = try bytes(setting.name) else { return setting.defaultValue }
    return try decode(Value.self, bytes, setting.name)
  }

  /// The value stored under a name; `nil` if nothing is stored.
  public func value(named name: String) throws -> DocumentValue? {
    try bytes(name).map { try decode($0, name) }
  }

  /// All stored settings, in bytewise order of their names.
  public func list() throws -> [StoredSetting] {
    guard let store, let table = store.table(named: SettingsTable.values.name) else { return [] }
    var rows: [(name: [UInt8], body: [UInt8])] = []
    try store.scan(table) { (record) throws(StoreError) in rows.append((record.key(0).copied(), record.body.copied())) }
    rows.sort { $0.name.lexicographicallyPrecedes($1.name) }
    return try rows.map { row in
      let name = String(decoding: row.name, as: UTF8.self)
      return StoredSetting(name: name, value: try decode(row.body, name))
    }
  }

  /// Whether both are the same commit as one ``Settings`` object has read it. Two objects that read the same file have
  /// different snapshots.
  package func isSameCommit(as other: SettingsSnapshot) -> Bool { store === other.store }

  /// The encoded value stored under a name; `nil` if nothing is stored.
  func bytes(_ name: String) throws -> [UInt8]? {
    let key = try SettingName.key(name)
    guard let store, let table = store.table(named: SettingsTable.values.name) else { return nil }
    let scope = ScratchScope(store)
    defer { scope.end() }
    return try store.record(KeySpaceID(table: table, index: 0), key.rawSpan)?.body.copied()
  }

  func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8], _ name: String) throws -> Value {
    do { return try DocumentDecoder().decode(type, from: bytes) } catch {
      // A valid value of another type gets an error that describes it.
      let stored = try decode(bytes, name)
      throw SettingsError.type(name: name, path: path, stored: Self.words(stored), expected: "\(type)")
    }
  }

  private func decode(_ bytes: [UInt8], _ name: String) throws -> DocumentValue {
    do { return try DocumentValue(documentBytes: bytes.rawSpan) } catch {
      throw SettingsError.unreadable(name: name, path: path, reason: error)
    }
  }

  /// A description of a value for people: its kind, and its content if that is short.
  private static func words(_ value: DocumentValue) -> String {
    let json = value.json
    let kind =
      switch value.kind {
      case .null: "null"
      case .bool: "a boolean"
      case .number: "a number"
      case .date: "a date"
      case .text: "a text"
      case .bytes: "data"
      case .array: "a list"
      case .object: "an object"
      }
    return json.utf8.count <= 60 ? "\(kind), \(json)" : kind
  }
}
