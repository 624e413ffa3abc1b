public import LogStore
import Storage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A root directory with a default store and one directory for each user.
///
///     ROOT/default/settings.log       who is signed in, and settings that belong to nobody
///     ROOT/default/documents.log      documents that belong to nobody
///     ROOT/users/NAME/catalogue.log   the user's catalogue
///     ROOT/users/NAME/settings.log    the user's settings
///     ROOT/users/NAME/documents.log   the user's documents
///
/// It holds nothing open; ``Workspace`` does.
///
/// Reading creates nothing. Directories are opened one below the other without following links, so no id leads out of
/// the root.
public struct WorkspaceDirectory: Sendable {
  public let root: String
  /// How long a change waits for another process to finish one.
  public var waiting = Duration.seconds(2)
  /// Learns what stores do without being asked, such as deleting a previous generation where the device is full. May be
  /// called on any thread.
  public var notify: @Sendable (StoreNotice) -> Void = { _ in }

  public init(root: String) { self.root = root }

  /// The store `name` in `directory`.
  func location(_ directory: any StorageDirectory, _ name: String) -> StoreLocation {
    StoreLocation(directory, name: name, environment: .system(notify: notify))
  }

  // MARK: Who is signed in

  /// Who is signed in; `nil` for nobody.
  ///
  /// - Throws: `WorkspaceError.settings` where that can no longer be read; `.store`.
  public func currentUser() throws(WorkspaceError) -> String? {
    guard let location = try existingSettings() else { return nil }
    do throws(StoreError) {
      return try SettingsTable.text(SettingsTable.currentUser, in: StoreReader.open(location)?.snapshot)
    } catch { throw WorkspaceError(settings: error) }
  }

  /// Reads and checks everything in the store that says who is signed in. Changes nothing.
  ///
  /// - Throws: `WorkspaceError.store`.
  public func verifySettings() throws(WorkspaceError) -> [Finding] {
    guard let location = try existingSettings() else { return [] }
    return try wrapped { () throws(StoreError) in try Verification.findings(in: location, of: SettingsTable.schema) }
  }

  /// The tables of the stores of settings, and of those that remember where a catalogue came from.
  package static var settingsSchema: Schema { SettingsTable.schema }

  /// Writes what can be saved of a damaged store that says who is signed in into a new file, and keeps the damaged one
  /// beside it. Where nothing can be saved, nobody is signed in afterwards.
  ///
  /// - Returns: what was done; `nil` if there is no such store.
  /// - Throws: `WorkspaceError.settings` for one that a newer program wrote; `.store`. Nothing changed then.
  public func repairSettings() throws -> Repair? {
    guard let location = try existingSettings() else { return nil }
    do {
      return try Repair.run(location, schema: SettingsTable.schema, waiting: waiting, setsAside: true)
    } catch let error as StoreError {
      throw WorkspaceError(settings: error)
    }
  }

  private func existingSettings() throws(WorkspaceError) -> StoreLocation? {
    try wrapped { () throws(StoreError) in try open(["default"]).map { location($0, "settings") } }
  }

  /// Signs a user in, durably, and makes the directory for the user's stores.
  ///
  /// - Throws: `WorkspaceError.userID`, `.settings`, `.store`.
  public func signIn(_ id: String) throws {
    try check(id)
    try withCurrentUser { current, set in
      // Where it cannot be told who is signed in, no directory is made. A removal of this user waits for the lock.
      _ = try make(["users"] + UserDirectory.path(of: id))
      if current.map({ $0.hasSameBytes(as: id) }) != true { try set(id) }
    }
  }

  /// Signs out who is signed in. The user's stores stay. Does nothing if nobody is.
  public func signOut() throws {
    if try currentUser() == nil { return }
    try withCurrentUser { current, set in if current != nil { try set(nil) } }
  }

  /// Lends who is signed in, and how to change it, under the lock of the store that says it: what `body` does to directories,
  /// and who is signed in, change in one order for all processes.
  func withCurrentUser(_ body: (_ current: String?, _ set: (String?) throws -> Void) throws -> Void) throws {
    do {
      let writer = try StoreWriter(
        location(make(["default"]), "settings"), schema: SettingsTable.schema, waiting: waiting)
      defer { writer.close() }
      let current = try SettingsTable.text(SettingsTable.currentUser, in: writer.snapshot)
      try body(current) { try SettingsTable.set(SettingsTable.currentUser, to: $0, in: writer) }
    } catch let error as StoreError { throw WorkspaceError(settings: error) }
  }

  // MARK: Users and their stores

  /// The ids of all users that have a directory here, bytewise.
  public func users() throws(WorkspaceError) -> [String] {
    try wrapped { () throws(StoreError) in
      guard let directory = try open(["users"]) else { return [] }
      var found = FoundUsers()
      try collect(directory, "", &found)
      return found.ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
  }

  /// Why users' directories are refused, a sentence for each: a store never follows a symbolic link. ``users()`` leaves them
  /// out.
  public func refusedDirectories() throws(WorkspaceError) -> [String] {
    try wrapped { () throws(StoreError) in
      guard let directory = try open(["users"]) else { return [] }
      var found = FoundUsers()
      try collect(directory, "", &found)
      return found.refusals.sorted { $0.path < $1.path }.map(\.description)
    }
  }

  private struct FoundUsers {
    var ids: [String] = []
    var refusals: [StorageError] = []
  }

  /// What is no directory, or has a name that no id gives, belongs to somebody else and is passed over.
  private func collect(_ directory: PosixDirectory, _ prefix: String, _ found: inout FoundUsers) throws(StoreError) {
    for name in try io({ () throws(StorageError) in try directory.names() }) {
      let id = UserDirectory.id(of: prefix + name)
      guard id != nil || name.hasSuffix("+") else { continue }
      let below: PosixDirectory?
      do throws(StorageError) { below = try directory.subdirectory(name) } catch {
        if error.code == ELOOP { found.refusals.append(error) } else if error.kind != .missing { throw .io(error) }
        continue
      }
      guard let below else { continue }
      if let id { found.ids.append(id) } else { try collect(below, prefix + name.dropLast(), &found) }
    }
  }

  /// Where a user's catalogue lies; `nil` if the user has no directory yet. Creates nothing.
  public func catalogue(of id: String) throws(WorkspaceError) -> StoreLocation? { try store("catalogue", of: id) }

  /// Where a user's catalogue lies; the directories are made where they are missing.
  public func makeCatalogue(of id: String) throws(WorkspaceError) -> StoreLocation {
    try makeStore("catalogue", of: id)
  }

  /// The settings of a user, or with `nil` those of the default store.
  ///
  /// - Throws: `WorkspaceError.userID`.
  public func settings(of id: String?) throws(WorkspaceError) -> Settings {
    if let id { try check(id) }
    return settings(of: id, StoreAccess(), pollInterval: .milliseconds(100))
  }

  func settings(of id: String?, _ access: StoreAccess, pollInterval: Duration) -> Settings {
    let place = SettingsPlace(path: ([root] + names(of: id)).joined(separator: "/") + "/settings.log") {
      try store("settings", of: id)
    } make: {
      try makeStore("settings", of: id)
    }
    return Settings(place, access, waiting: waiting, pollInterval: pollInterval)
  }

  /// Where a store lies, of a user or with `nil` of the default ones; `nil` where there is no directory yet. Creates nothing.
  ///
  /// - Parameters:
  ///   - name: what the store's files begin with, such as `documents`.
  ///   - id: of the user.
  /// - Throws: `WorkspaceError.userID`, `.store`.
  public func store(_ name: String, of id: String?) throws(WorkspaceError) -> StoreLocation? {
    try directory(of: id).map { location($0, name) }
  }

  /// As ``store(_:of:)``; the directories are made where they are missing.
  public func makeStore(_ name: String, of id: String?) throws(WorkspaceError) -> StoreLocation {
    if let id { try check(id) }
    return try wrapped { () throws(StoreError) in location(try make(names(of: id)), name) }
  }

  /// The directory of a user, or with `nil` the default one; `nil` where there is none. Creates nothing.
  func directory(of id: String?) throws(WorkspaceError) -> PosixDirectory? {
    if let id { try check(id) }
    return try wrapped { () throws(StoreError) in try open(names(of: id)) }
  }

  private func names(of id: String?) -> [String] { id.map { ["users"] + UserDirectory.path(of: $0) } ?? ["default"] }

  /// Bytes of all files in a user's directory. What is no regular file, such as a link, has none.
  public func byteCount(of id: String) throws(WorkspaceError) -> Int {
    try wrapped { () throws(StoreError) in
      guard let directory = try open(["users"] + UserDirectory.path(of: id)) else { return 0 }
      var total = 0
      for name in try io({ () throws(StorageError) in try directory.names() }) where !name.hasSuffix("+") {
        total += try io { () throws(StorageError) in try directory.byteCount(of: name) ?? 0 }
      }
      return total
    }
  }

  func check(_ id: String) throws(WorkspaceError) {
    let count = id.utf8.count
    guard count > 0, count <= UserDirectory.maximumIDByteCount else { throw .userID(byteCount: count) }
  }

  // MARK: Directories

  func open(_ names: [String]) throws(StoreError) -> PosixDirectory? {
    var directory = try io { () throws(StorageError) in try PosixDirectory.open(root) }
    for name in names {
      guard let parent = directory else { return nil }
      directory = try io { () throws(StorageError) in try parent.subdirectory(name) }
    }
    return directory
  }

  /// Where something else stands in a directory's place, the directory cannot be created, and the error says so.
  private func make(_ names: [String]) throws(StoreError) -> PosixDirectory {
    if let settled = try settled(names) { return settled }
    // Who removes a user removes directories that became empty, perhaps the one that we are just making another one in.
    for _ in 0..<8 {
      if let made = try makeOnce(names) { return made }
    }
    throw .io(StorageError(operation: "create directory", path: root, code: ENOENT))
  }

  /// The directory, if its name and those above it are known to be durable: a log is in it, and no log gets its name before the
  /// directories above it were synced. Spares each change five syncs of directories.
  private func settled(_ names: [String]) throws(StoreError) -> PosixDirectory? {
    // What stands in the way is told by who makes the directory.
    guard let directory = (try? open(names)) ?? nil else { return nil }
    return try io { () throws(StorageError) in try directory.names().contains { $0.hasSuffix(".log") } ? directory : nil
    }
  }

  /// `nil` if a directory went that was there a moment ago.
  private func makeOnce(_ names: [String]) throws(StoreError) -> PosixDirectory? {
    try io { () throws(StorageError) in
      var directory: PosixDirectory?
      do throws(StorageError) {
        var place = try PosixDirectory.create(root)
        for name in names {
          directory = place
          place = try place.makeSubdirectory(name)
        }
        return place
      } catch {
        if error.code == ENOENT, directory != nil { return nil }
        guard error.kind == .missing else { throw error }
        throw StorageError(operation: "create directory", path: error.path, code: error.code)
      }
    }
  }

  func io<Result>(_ operation: () throws(StorageError) -> Result) throws(StoreError) -> Result {
    do { return try operation() } catch { throw .io(error) }
  }

  func wrapped<Result>(
    _ operation: () throws(StoreError) -> Result
  ) throws(WorkspaceError) -> Result {
    do { return try operation() } catch { throw .store(error) }
  }
}

extension String {
  /// Whether both are the same bytes of UTF-8. To a String's `==` two normal forms of Unicode are the same.
  func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
