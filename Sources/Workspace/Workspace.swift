import LogStore
import Storage

/// A root directory with a default store and one directory for each user.
///
///     ROOT/default/settings.log       who is signed in
///     ROOT/users/NAME/catalogue.log   the user's catalogue
///
/// Reading creates nothing. Directories are opened one below the other without following links, so no id leads out of
/// the root.
public struct Workspace: Sendable {
  public let root: String
  /// How long a change waits for another process to finish one, in milliseconds.
  public var waiting = 2000

  public init(root: String) { self.root = root }

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
    return try wrapped { () throws(StoreError) in try Verification.run(location)?.findings ?? [] }
  }

  /// Writes what can be saved of a damaged store that says who is signed in into a new file, and keeps the damaged one
  /// beside it.
  ///
  /// - Returns: what was done; `nil` if there is no such store.
  /// - Throws: `WorkspaceError.settings` if nothing in it belongs to a store; `.store`. Nothing changed then.
  public func repairSettings() throws -> Repair? {
    guard let location = try existingSettings() else { return nil }
    do { return try Repair.run(location, schema: SettingsTable.schema, waiting: waiting) } catch let error as StoreError
    {
      throw WorkspaceError(settings: error)
    }
  }

  private func existingSettings() throws(WorkspaceError) -> StoreLocation? {
    try wrapped { () throws(StoreError) in try open(["default"]).map { StoreLocation($0, name: "settings") } }
  }

  /// Signs a user in, durably, and makes the directory for the user's stores.
  ///
  /// - Throws: `WorkspaceError.userID`, `.settings`, `.store`.
  public func signIn(_ id: String) throws {
    try check(id)
    // Where it cannot be told who is signed in, it cannot be changed: no directory is made for it.
    do { _ = try currentUser() } catch { if case .settings = error { throw error } }
    _ = try make(["users"] + UserDirectory.path(of: id))
    try setCurrentUser(id)
  }

  /// Signs out who is signed in. The user's stores stay. Does nothing if nobody is.
  public func signOut() throws {
    if try currentUser() != nil { try setCurrentUser(nil) }
  }

  private func setCurrentUser(_ id: String?) throws {
    do {
      let writer = try StoreWriter(
        StoreLocation(make(["default"]), name: "settings"), schema: SettingsTable.schema, waiting: waiting)
      defer { writer.close() }
      try SettingsTable.set(SettingsTable.currentUser, to: id, in: writer)
    } catch let error as StoreError { throw WorkspaceError(settings: error) }
  }

  // MARK: Users and their stores

  /// The ids of all users that have a directory here, bytewise.
  public func users() throws(WorkspaceError) -> [String] {
    try wrapped { () throws(StoreError) in
      guard let directory = try open(["users"]) else { return [] }
      var ids: [String] = []
      try collect(directory, "", &ids)
      return ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
  }

  /// What is no directory, or has a name that no id gives, belongs to somebody else and is passed over.
  private func collect(
    _ directory: PosixDirectory, _ prefix: String, _ ids: inout [String]
  ) throws(StoreError) {
    for name in try io({ () throws(StorageError) in try directory.names() }) {
      let id = UserDirectory.id(of: prefix + name)
      guard id != nil || name.hasSuffix("+"), let below = try child(directory, name) else { continue }
      if let id { ids.append(id) } else { try collect(below, prefix + name.dropLast(), &ids) }
    }
  }

  /// The directory `name` in `directory`; `nil` where something else has that name.
  private func child(_ directory: PosixDirectory, _ name: String) throws(StoreError) -> PosixDirectory? {
    try io { () throws(StorageError) in
      do throws(StorageError) { return try directory.subdirectory(name) } catch {
        if error.kind == .missing { return nil }
        throw error
      }
    }
  }

  /// Where a user's catalogue lies; `nil` if the user has no directory yet. Creates nothing.
  public func catalogue(of id: String) throws(WorkspaceError) -> StoreLocation? {
    try check(id)
    return try wrapped { () throws(StoreError) in
      try open(["users"] + UserDirectory.path(of: id)).map { StoreLocation($0, name: "catalogue") }
    }
  }

  /// Where a user's catalogue lies; the directories are made where they are missing.
  public func makeCatalogue(of id: String) throws(WorkspaceError) -> StoreLocation {
    try check(id)
    return try wrapped { () throws(StoreError) in
      StoreLocation(try make(["users"] + UserDirectory.path(of: id)), name: "catalogue")
    }
  }

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
  func make(_ names: [String]) throws(StoreError) -> PosixDirectory {
    try io { () throws(StorageError) in
      do throws(StorageError) {
        var directory = try PosixDirectory.create(root)
        for name in names { directory = try directory.makeSubdirectory(name) }
        return directory
      } catch {
        guard error.kind == .missing else { throw error }
        throw StorageError(operation: "create directory", path: error.path, code: error.code)
      }
    }
  }

  private func io<Result>(_ operation: () throws(StorageError) -> Result) throws(StoreError) -> Result {
    do { return try operation() } catch { throw .io(error) }
  }

  func wrapped<Result>(
    _ operation: () throws(StoreError) -> Result
  ) throws(WorkspaceError) -> Result {
    do { return try operation() } catch { throw .store(error) }
  }
}
