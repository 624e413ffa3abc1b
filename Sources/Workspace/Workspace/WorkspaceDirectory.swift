public import LogStore
import Platform
import Storage

/// The root directory of a workspace: a default set of stores, and a directory for each user.
///
///     ROOT/default/settings.log       the signed-in user, and default settings
///     ROOT/default/documents.log      default documents
///     ROOT/users/NAME/catalogue.log   the user's catalogue
///     ROOT/users/NAME/settings.log    the user's settings
///     ROOT/users/NAME/documents.log   the user's documents
///
/// It keeps no files open; ``Workspace`` does.
///
/// Reading creates nothing. Each directory is opened relative to its parent without following symbolic links, so no ID
/// leads out of the root.
public struct WorkspaceDirectory: Sendable {
  /// The path of the root directory, which may not exist yet.
  public let root: String
  /// The longest time that a change waits for a writer in another process.
  public var lockTimeout = Duration.seconds(2)
  /// A callback for actions that stores take on their own, for example deleting a previous generation because the disk
  /// is full. It may be called on any thread.
  public var notify: @Sendable (StoreNotice) -> Void = { _ in }
  /// Where the key of sealed users comes from; `nil` if there is none. It is read when a sealed store is first used.
  public var key: KeySource? {
    get { keyRing.source }
    set { keyRing = KeyRing(newValue) }
  }
  /// Whether the stores of new users are sealed with the key; `nil` to do as the setting `sealing.newUsers` of the default
  /// store says. Without a key, no user is created then.
  public var sealsNewUsers: Bool?
  /// The keys that were opened. Copies of this value share them.
  package var keyRing = KeyRing(nil)

  /// Creates a workspace at a path. Nothing is read or created.
  public init(root: String) { self.root = root }

  /// A workspace at another path, with the same key.
  package func elsewhere(_ root: String) -> WorkspaceDirectory {
    var other = WorkspaceDirectory(root: root)
    (other.lockTimeout, other.keyRing) = (lockTimeout, keyRing)
    // What is copied stays as it is.
    other.sealsNewUsers = false
    return other
  }

  /// The store `name` in `directory`, with the key of that directory if its stores are sealed.
  ///
  /// Without a key, sealed stores have a location too: using them throws `StoreError.sealed`.
  ///
  /// - Throws: `WorkspaceError.keys`.
  func location(_ directory: any StorageDirectory, _ name: String) throws(WorkspaceError) -> StoreLocation {
    var location = StoreLocation(directory, name: name, environment: .system(notify: notify))
    do throws(KeyError) { location.keys = try Self.logKeys(of: directory, keyRing) } catch { throw .keys(error) }
    location.keys.newest = { [keyRing] in Self.currentLogKeys(of: directory, keyRing) }
    location.committed = { [keyRing] commit in KeyFile.mark(name, commit, in: directory, keyRing) }
    return location
  }

  // MARK: The signed-in user

  /// The ID of the signed-in user; `nil` if no user is signed in.
  ///
  /// - Throws: `WorkspaceError.settings` if the store with the signed-in user cannot be read; `.store`.
  public func currentUser() throws(WorkspaceError) -> String? {
    guard let location = try existingSettings() else { return nil }
    do throws(StoreError) {
      return try SettingsTable.text(SettingsTable.currentUser, in: StoreReader.open(location)?.snapshot)
    } catch { throw WorkspaceError(settings: error) }
  }

  /// Verifies the store that contains the signed-in user. Changes nothing.
  ///
  /// - Throws: `WorkspaceError.store`.
  package func verifySettings() throws(WorkspaceError) -> [Finding] {
    guard let location = try existingSettings() else { return [] }
    return try wrapped { () throws(StoreError) in try Verification.findings(in: location, of: SettingsTable.schema) }
  }

  /// The schema of settings stores, and of stores with the origin of a catalogue.
  package static var settingsSchema: Schema { SettingsTable.schema }

  /// Rewrites what can be recovered of the damaged store that contains the signed-in user in a new file, and keeps the
  /// damaged file next to it. If nothing can be recovered, no user is signed in afterwards.
  ///
  /// - Returns: What was repaired; `nil` if there is no such store.
  /// - Throws: `WorkspaceError.settings` if a newer program wrote the store; `.store`. Nothing has changed then.
  package func repairSettings() throws -> Repair? {
    guard let location = try existingSettings() else { return nil }
    do {
      return try Repair.run(location, schema: SettingsTable.schema, lockTimeout: lockTimeout, setsAside: true)
    } catch let error as StoreError {
      throw WorkspaceError(settings: error)
    }
  }

  private func existingSettings() throws(WorkspaceError) -> StoreLocation? {
    let directory = try wrapped { () throws(StoreError) in try open(["default"]) }
    return try directory.map { directory throws(WorkspaceError) in try location(directory, "settings") }
  }

  /// Signs a user in, durably, and creates the directory for the user's stores.
  ///
  /// - Throws: `WorkspaceError.userID`, `.settings`, `.store`.
  public func signIn(_ id: String) throws {
    try check(id)
    try withCurrentUser { current, set in
      // If the signed-in user cannot be determined, no directory is created. A concurrent removal of this user waits
      // for the lock.
      _ = try makeDirectory(of: id)
      if current.map({ $0.hasSameBytes(as: id) }) != true { try set(id) }
    }
  }

  /// Signs out the current user. The user's stores stay. Does nothing if no user is signed in.
  public func signOut() throws {
    if try currentUser() == nil { return }
    try withCurrentUser { current, set in if current != nil { try set(nil) } }
  }

  /// Calls `body` with the signed-in user, and a closure that changes it, while the store that contains it is locked.
  /// So the changes that `body` makes to directories, and those of the signed-in user, have the same order for all
  /// processes.
  func withCurrentUser(_ body: (_ current: String?, _ set: (String?) throws -> Void) throws -> Void) throws {
    do {
      let writer = try StoreWriter(
        location(make(["default"]), "settings"), schema: SettingsTable.schema, lockTimeout: lockTimeout)
      defer { writer.close() }
      let current = try SettingsTable.text(SettingsTable.currentUser, in: writer.snapshot)
      try body(current) { try SettingsTable.set(SettingsTable.currentUser, to: $0, in: writer) }
    } catch let error as StoreError { throw WorkspaceError(settings: error) }
  }

  // MARK: Users and their stores

  /// The IDs of all users with a directory, in bytewise order.
  public func users() throws(WorkspaceError) -> [String] {
    try wrapped { () throws(StoreError) in
      guard let directory = try open(["users"]) else { return [] }
      var found = FoundUsers()
      try collect(directory, "", &found)
      return found.ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
  }

  /// The reasons why users' directories are rejected, one sentence for each: a store never follows a symbolic link.
  /// ``users()`` omits these directories.
  package func refusedDirectories() throws(WorkspaceError) -> [String] {
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

  /// Collects users. Anything that is not a directory, or has a name that no ID has, was not created by this package
  /// and is skipped.
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

  /// The location of a user's catalogue; `nil` if the user has no directory. Creates nothing.
  public func catalogue(of id: String) throws(WorkspaceError) -> StoreLocation? { try store("catalogue", of: id) }

  /// The location of a user's catalogue. Creates missing directories.
  public func makeCatalogue(of id: String) throws(WorkspaceError) -> StoreLocation {
    try makeStore("catalogue", of: id)
  }

  /// The settings of a user, or with `nil` of the default store.
  ///
  /// - Throws: `WorkspaceError.userID`.
  public func settings(of id: String?) throws(WorkspaceError) -> Settings {
    if let id { try check(id) }
    return settings(of: id, StoreAccess(), pollInterval: .milliseconds(100))
  }

  func settings(of id: String?, _ access: StoreAccess, pollInterval: Duration) -> Settings {
    let location = SettingsLocation(path: ([root] + names(of: id)).joined(separator: "/") + "/settings.log") {
      try store("settings", of: id)
    } make: {
      try makeStore("settings", of: id)
    }
    return Settings(location, access, lockTimeout: lockTimeout, pollInterval: pollInterval)
  }

  /// The location of a store, of a user or with `nil` of the default set; `nil` if there is no directory. Creates
  /// nothing.
  ///
  /// - Parameters:
  ///   - name: The prefix of the store's file names, for example `documents`.
  ///   - id: The user's ID.
  /// - Throws: `WorkspaceError.userID`, `.store`.
  public func store(_ name: String, of id: String?) throws(WorkspaceError) -> StoreLocation? {
    try directory(of: id).map { directory throws(WorkspaceError) in try location(directory, name) }
  }

  /// Whether a user has a directory, so that the user exists. Needs no key.
  ///
  /// - Throws: `WorkspaceError.userID`, `.store`.
  package func hasUser(_ id: String) throws(WorkspaceError) -> Bool { try directory(of: id) != nil }

  /// Like ``store(_:of:)``, but creates missing directories.
  public func makeStore(_ name: String, of id: String?) throws(WorkspaceError) -> StoreLocation {
    try location(makeDirectory(of: id), name)
  }

  /// The path of a user's directory, relative if the root's is. It is created if it does not exist; removing the user
  /// deletes it with all files in it.
  ///
  /// - Throws: `WorkspaceError`.
  package func makePath(of id: String) throws(WorkspaceError) -> String {
    try check(id)
    _ = try makeDirectory(of: id)
    return ([root] + names(of: id)).joined(separator: "/")
  }

  /// The directory of a user, or with `nil` the default one; `nil` if it does not exist. Creates nothing.
  func directory(of id: String?) throws(WorkspaceError) -> PosixDirectory? {
    if let id { try check(id) }
    return try wrapped { () throws(StoreError) in try open(names(of: id)) }
  }

  /// The directory of a user, or with `nil` the default one. It is created if it does not exist.
  func makeDirectory(of id: String?) throws(WorkspaceError) -> PosixDirectory {
    let create = { () throws(WorkspaceError) in
      try wrapped { () throws(StoreError) in try make(names(of: id)) }
    }
    guard let id else { return try create() }
    try check(id)
    return try makeHome(id, make: create)
  }

  private func names(of id: String?) -> [String] { id.map { ["users"] + UserDirectory.path(of: $0) } ?? ["default"] }

  /// The total size of all regular files in a user's directory, in bytes. Links and other files count as 0.
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

  /// Creates directories. If a file with the same name exists, the error names it.
  private func make(_ names: [String]) throws(StoreError) -> PosixDirectory {
    if let durable = try durableDirectory(names) { return durable }
    // Retry: a concurrent removal of a user removes empty directories, possibly one in which this call creates another.
    for _ in 0..<8 {
      if let made = try makeOnce(names) { return made }
    }
    throw .io(StorageError(operation: "create directory", path: root, code: ENOENT))
  }

  /// The directory, if its entry and those above it are known to be durable because it contains a log: no log is
  /// created before the directories above it are synced. This saves each change five syncs of directories.
  private func durableDirectory(_ names: [String]) throws(StoreError) -> PosixDirectory? {
    // An error is reported by the call that creates the directory.
    guard let directory = (try? open(names)) ?? nil else { return nil }
    return try io { () throws(StorageError) in try directory.names().contains { $0.hasSuffix(".log") } ? directory : nil
    }
  }

  /// Creates directories; `nil` if a parent directory was removed meanwhile.
  private func makeOnce(_ names: [String]) throws(StoreError) -> PosixDirectory? {
    try io { () throws(StorageError) in
      var directory: PosixDirectory?
      do throws(StorageError) {
        var current = try PosixDirectory.create(root)
        for name in names {
          directory = current
          current = try current.makeSubdirectory(name)
        }
        return current
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
  /// Whether both strings have the same UTF-8 bytes. `String.==` treats canonically equivalent strings as equal.
  func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
