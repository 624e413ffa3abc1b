import Bytes
public import DocumentFormat
import LogStore

/// All settings of one user, or of the default store, at one commit: what several of them say together.
public struct SettingsSnapshot: Sendable {
  /// `nil` for settings that were never changed.
  let store: Snapshot?
  /// For messages.
  let path: String

  /// The value of a setting; its default where none is set.
  ///
  /// - Throws: `SettingsError.type`, `.unreadable`, `.name`; `StoreError`.
  /// - Complexity: a lookup and the decoding.
  public func get<Value>(_ setting: Setting<Value>) throws -> Value {
    guard let bytes = try bytes(setting.name) else { return setting.defaultValue }
    return try decode(Value.self, bytes, setting.name)
  }

  /// What is stored under a name; `nil` where nothing is.
  public func value(named name: String) throws -> DocumentValue? {
    try bytes(name).map { try decode($0, name) }
  }

  /// All settings that are set, ordered by name, bytewise.
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

  /// The document under a name.
  func bytes(_ name: String) throws -> [UInt8]? {
    let key = try SettingName.key(name)
    guard let store, let table = store.table(named: SettingsTable.values.name) else { return nil }
    return try store.record(KeySpaceID(table: table, index: 0), key.rawSpan)?.body.copied()
  }

  func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8], _ name: String) throws -> Value {
    do { return try DocumentDecoder().decode(type, from: bytes) } catch {
      // What is a value, but of another type, is told as such.
      let stored = try decode(bytes, name)
      throw SettingsError.type(name: name, path: path, stored: Self.words(stored), expected: "\(type)")
    }
  }

  private func decode(_ bytes: [UInt8], _ name: String) throws -> DocumentValue {
    do { return try DocumentValue(documentBytes: bytes.rawSpan) } catch {
      throw SettingsError.unreadable(name: name, path: path, reason: error)
    }
  }

  /// A value for people: what it is, and what it says where that is short.
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
