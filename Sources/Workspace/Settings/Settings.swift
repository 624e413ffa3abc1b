import Bytes
public import DocumentFormat
import Documents
import LogStore
import Synchronization

/// The settings of one user, or of the default store: small values under names, in `settings.log` of the directory.
///
///     let seenGuide = Setting("seenGuide", default: false)
///     try settings.set(seenGuide, to: true)
///     for try await isSeen in settings.values(of: seenGuide) { … }
///
/// Any number of threads and processes may use one file. What is set is durable when the call returns, and seen by the next
/// `get` of any process. The file comes into being with the first change; reading creates nothing.
public final class Settings: Sendable {
  /// What was read last.
  private struct View {
    var reader: StoreReader?
    var isClosed = false
  }

  private let place: SettingsPlace
  private let access: StoreAccess
  private let waiting: Duration
  let observers: Observers
  /// Guards which commit is the newest that was seen; held for a refresh.
  private let view = Mutex(View())
  /// Held by the one thread of this process that writes.
  private let writing = Mutex(())

  /// - Parameters:
  ///   - waiting: how long a change waits for another process to finish one.
  ///   - pollInterval: how often commits of other processes are looked for while somebody observes.
  init(_ place: SettingsPlace, _ access: StoreAccess, waiting: Duration, pollInterval: Duration) {
    self.place = place
    self.access = access
    self.waiting = waiting
    observers = Observers(interval: pollInterval)
  }

  // MARK: Reading

  /// The settings as they are now, all of one commit.
  ///
  /// - Throws: `SettingsError.closed`; `StoreError`; `WorkspaceError` where it cannot be told who is signed in.
  /// - Complexity: with nothing new, one system call for the settings, and one for who is signed in.
  public func snapshot() throws -> SettingsSnapshot {
    try checkOpen()
    return try view.withLock { view in
      if view.isClosed { throw SettingsError.closed(path: place.path) }
      view.reader = try StoreReader.newest(view.reader) { try place.existing() }
      return SettingsSnapshot(store: view.reader?.snapshot, path: place.path)
    }
  }

  /// The value of a setting now; its default where none is set.
  ///
  /// - Throws: `SettingsError.type` where something else is stored, `.closed`; `StoreError`.
  public func get<Value>(_ setting: Setting<Value>) throws -> Value { try snapshot().get(setting) }

  /// What is stored under a name; `nil` where nothing is.
  public func value(named name: String) throws -> DocumentValue? { try snapshot().value(named: name) }

  /// All settings that are set, ordered by name, bytewise.
  public func list() throws -> [StoredSetting] { try snapshot().list() }

  /// The value of a setting now, and again after each commit of any process that changed it; values that nobody waited for are
  /// passed over.
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

  /// Takes back what is set: the default holds again. Does nothing where nothing is.
  public func unset<Value>(_ setting: Setting<Value>) throws { try change { try $0.unset(named: setting.name) } }

  /// Makes several changes one durable commit: all of them, or none if `body` throws. Changes that change nothing make none.
  ///
  /// - Returns: what `body` returns.
  public func change<Result>(_ body: (inout SettingsChange) throws -> Result) throws -> Result {
    var change = SettingsChange()
    let result = try body(&change)
    if try commit(change.values) { observers.notify() }
    return result
  }

  /// Whether there was anything to commit.
  private func commit(_ values: [[UInt8]: [UInt8]?]) throws -> Bool {
    try writing.withLock { _ in
      // What takes back what was never set creates no file, and is refused on settings that were closed all the same.
      let shown = try snapshot()
      if shown.store == nil, try isShown(values, nil) { return false }
      let writer = try StoreWriter(place.make(), schema: SettingsTable.schema, waiting: waiting)
      defer { writer.close() }
      // What the writer shows is durable, also where another process made it.
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
      SettingsTable.tidyUp(writer, new)
      return true
    }
  }

  /// Whether a commit has these values already.
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

  /// Lets go of the file; a change that has begun is finished. Snapshots that were taken stay readable.
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
    if try !access.isGranted() { throw SettingsError.closed(path: place.path) }
  }
}

/// Changes of settings that become one commit.
public struct SettingsChange {
  /// Documents, and `nil` for what is unset, by name.
  fileprivate(set) var values: [[UInt8]: [UInt8]?] = [:]

  /// - Throws: `SettingsError.value`, `.name`.
  public mutating func set<Value>(_ setting: Setting<Value>, to value: Value) throws {
    let key = try SettingName.key(setting.name)
    do { values.updateValue(try DocumentEncoder().encode(value), forKey: key) } catch {
      throw SettingsError.value(name: setting.name, reason: error)
    }
  }

  /// Sets what has no Swift type here.
  ///
  /// - Throws: `SettingsError.name`.
  public mutating func set(named name: String, to value: DocumentValue) throws {
    values.updateValue(value.documentBytes, forKey: try SettingName.key(name))
  }

  public mutating func unset<Value>(_ setting: Setting<Value>) throws { try unset(named: setting.name) }

  /// - Throws: `SettingsError.name`.
  public mutating func unset(named name: String) throws {
    values.updateValue(nil, forKey: try SettingName.key(name))
  }
}

/// Where the settings of somebody lie.
struct SettingsPlace: Sendable {
  /// For messages.
  let path: String
  /// `nil` where there is no directory yet. Creates nothing.
  let existing: @Sendable () throws -> StoreLocation?
  /// Makes the directories where they are missing.
  let make: @Sendable () throws -> StoreLocation
}
