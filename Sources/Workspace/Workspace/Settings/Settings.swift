import Bytes
public import DocumentFormat
import LogStore
import Synchronization

/// The settings of one user, or of the default store: small values by name, stored in `settings.log` of the directory.
///
///     let seenGuide = Setting("seenGuide", default: false)
///     try settings.set(seenGuide, to: true)
///     for try await isSeen in settings.values(of: seenGuide) { … }
///
/// Any number of threads and processes may use one file. A change is durable when the call returns, and the next `get`
/// of any process returns it. The first change creates the file; reading creates nothing.
public final class Settings: Sendable {
  /// The last snapshot that was read.
  private struct View {
    var reader: StoreReader?
    var isClosed = false
  }

  private let location: SettingsLocation
  private let access: StoreAccess
  private let lockTimeout: Duration
  let observers: Observers
  /// Guards the newest snapshot that was read. Held during a refresh.
  private let view = Mutex(View())
  /// Held by the one thread of this process that writes.
  private let writing = Mutex(())

  /// Creates settings.
  ///
  /// - Parameters:
  ///   - lockTimeout: The longest time that a change waits for a writer in another process.
  ///   - pollInterval: The interval at which observers poll for commits of other processes.
  init(_ location: SettingsLocation, _ access: StoreAccess, lockTimeout: Duration, pollInterval: Duration) {
    self.location = location
    self.access = access
    self.lockTimeout = lockTimeout
    observers = Observers(interval: pollInterval)
  }

  // MARK: Reading

  /// Returns a snapshot of all settings at the last commit.
  ///
  /// - Throws: `SettingsError.closed`; `StoreError`; `WorkspaceError` if the signed-in user cannot be determined.
  /// - Complexity: Without a new commit, one system call for the settings, and one for the signed-in user.
  public func snapshot() throws -> SettingsSnapshot {
    try checkOpen()
    return try view.withLock { view in
      if view.isClosed { throw SettingsError.closed(path: location.path) }
      view.reader = try StoreReader.newest(view.reader) { try location.existing() }
      return SettingsSnapshot(store: view.reader?.snapshot, path: location.path)
    }
  }

  /// The current value of a setting; its default value if nothing is set.
  ///
  /// - Throws: `SettingsError.type` if a value of another type is stored, `.closed`; `StoreError`.
  public func get<Value>(_ setting: Setting<Value>) throws -> Value { try snapshot().get(setting) }

  /// The value stored under a name; `nil` if nothing is stored.
  public func value(named name: String) throws -> DocumentValue? { try snapshot().value(named: name) }

  /// All stored settings, in bytewise order of their names.
  public func list() throws -> [StoredSetting] { try snapshot().list() }

  /// The value of a setting, now and after each commit of any process that changes it. Values between two calls of
  /// `next()` are skipped.
  public func values<Value>(of setting: Setting<Value>) -> SettingValues<Value> {
    SettingValues(settings: self, setting: setting)
  }

  // MARK: Changing

  /// Sets a setting, durably.
  ///
  /// - Throws: `SettingsError.value`, `.name`, `.closed`; `StoreError`. Nothing changed then.
  public func set<Value>(_ setting: Setting<Value>, to value: Value) throws {
    try change { try $0.set(setting, to: value) }
  }

  /// Deletes the stored value, so that the default value applies again. Does nothing if nothing is stored.
  public func unset<Value>(_ setting: Setting<Value>) throws { try change { try $0.unset(named: setting.name) } }

  /// Makes several changes in one durable, atomic commit. If `body` throws, nothing is changed. If no value differs,
  /// there is no commit.
  ///
  /// - Returns: The result of `body`.
  public func change<Result>(_ body: (inout SettingsChange) throws -> Result) throws -> Result {
    var change = SettingsChange()
    let result = try body(&change)
    if try commit(change.values) { observers.notify() }
    return result
  }

  /// Commits values. Returns whether there was anything to commit.
  private func commit(_ values: [[UInt8]: [UInt8]?]) throws -> Bool {
    try writing.withLock { _ in
      // Unsetting a value that was never set creates no file. If the settings are closed, it still throws.
      let shown = try snapshot()
      if shown.store == nil, try isShown(values, nil) { return false }
      let writer = try StoreWriter(location.make(), schema: SettingsTable.schema, lockTimeout: lockTimeout)
      defer { writer.close() }
      // The writer's snapshot is durable, even if another process made the commit.
      if try isShown(values, writer.snapshot) { return false }
      let new = try writer.commit { transaction in
        let table = try transaction.table(SettingsTable.values)
        for (name, value) in values.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
          if let value {
            var draft = RecordDraft()
            draft.addKey(name.rawSpan)
            draft.body = value
            try transaction.put(table, draft)
          } else {
            try transaction.delete(KeySpaceID(table: table, index: 0), name.rawSpan)
          }
        }
      }
      SettingsTable.compactIfDue(writer, new)
      return true
    }
  }

  /// Whether a commit already has these values.
  private func isShown(_ values: [[UInt8]: [UInt8]?], _ store: Snapshot?) throws -> Bool {
    let table = store?.table(named: SettingsTable.values.name)
    for (name, value) in values {
      var old: [UInt8]?
      if let store, let table {
        old = try store.record(KeySpaceID(table: table, index: 0), name.rawSpan)?.body.copied()
      }
      if old != value { return false }
    }
    return true
  }

  // MARK: Closing

  /// Closes the file. A running change is finished, and existing snapshots stay readable.
  func close() {
    let old = view.withLock { view in
      let old = view
      view = View(isClosed: true)
      return old
    }
    withExtendedLifetime(old) {}
    observers.finish()
  }

  private func checkOpen() throws {
    if try !access.isGranted() { throw SettingsError.closed(path: location.path) }
  }
}

/// Changes to settings that are made in one commit.
public struct SettingsChange {
  /// The new values by name; `nil` for a value to delete.
  fileprivate(set) var values: [[UInt8]: [UInt8]?] = [:]

  /// Sets a setting.
  ///
  /// - Throws: `SettingsError.value`, `.name`.
  public mutating func set<Value>(_ setting: Setting<Value>, to value: Value) throws {
    let key = try SettingName.key(setting.name)
    do { values.updateValue(try DocumentEncoder().encode(value), forKey: key) } catch {
      throw SettingsError.value(name: setting.name, reason: error)
    }
  }

  /// Sets a value without a Swift type.
  ///
  /// - Throws: `SettingsError.name`.
  public mutating func set(named name: String, to value: DocumentValue) throws {
    values.updateValue(value.documentBytes, forKey: try SettingName.key(name))
  }

  /// Deletes the stored value, so that the setting has its default value again.
  ///
  /// - Throws: `SettingsError.name`.
  public mutating func unset<Value>(_ setting: Setting<Value>) throws { try unset(named: setting.name) }

  /// Deletes the value stored under a name.
  ///
  /// - Throws: `SettingsError.name`.
  public mutating func unset(named name: String) throws {
    values.updateValue(nil, forKey: try SettingName.key(name))
  }
}

/// The location of a settings store.
struct SettingsLocation: Sendable {
  /// The path, for messages.
  let path: String
  /// Returns the location; `nil` if the directory does not exist. Creates nothing.
  let existing: @Sendable () throws -> StoreLocation?
  /// Returns the location, after creating missing directories.
  let make: @Sendable () throws -> StoreLocation
}
