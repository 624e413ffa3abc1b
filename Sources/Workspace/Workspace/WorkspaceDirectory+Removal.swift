import LogStore
import Platform
import Storage

// A removal is one rename to a name that no ID has. From then on the user does not exist, and the renamed directory is
// deleted later, possibly by another process.

extension WorkspaceDirectory {
  /// The prefix of the directory names of removed users. No ID has such a name, because the name of an ID does not
  /// begin with a dot.
  static let removedPrefix = ".removed-"

  /// Removes a user's directory and everything in it. The keys of a sealed user are destroyed first, for which no key is
  /// needed. A user who is signed in is signed out next.
  ///
  /// After a crash the user is unchanged, without keys, signed out or removed; remaining files are deleted by the next removal, or by
  /// the next ``Workspace``. Symbolic links are removed, not followed. A file that another user shares has a hard link
  /// in that user's directory, and stays. A process that still writes to the user's stores writes to files that are
  /// being deleted.
  ///
  /// - Returns: Whether the user existed.
  /// - Throws: `WorkspaceError.userID`, `.settings`, `.store`.
  @discardableResult
  public func remove(_ id: String) throws -> Bool { try remove(id) { _ in } }

  /// The steps of a removal, in order.
  enum RemovalStep: CaseIterable {
    case signedOut, renamed, synced, pruned, emptied
  }

  /// Removes a user's directory.
  ///
  /// - Parameter after: A callback after each step. If it throws, the removal stops there, like in a crash.
  func remove(_ id: String, after: (RemovalStep) throws -> Void) throws -> Bool {
    guard try directory(of: id) != nil else {
      try finishRemovals(after: after)
      return false
    }
    var wasThere = false
    // A concurrent sign-in of this user waits for the lock, and then creates a new directory.
    try withCurrentUser { current, set in
      // From then on nobody can read what is left of sealed stores, wherever the rest is interrupted.
      try destroyKeys(of: id)
      if current?.hasSameBytes(as: id) == true { try set(nil) }
      try after(.signedOut)
      wasThere = try moveAway(id, after)
    }
    try finishRemovals(after: after)
    return wasThere
  }

  private func destroyKeys(of id: String) throws {
    guard let directory = try directory(of: id) else { return }
    do throws(KeyError) {
      guard try KeyFile.isAnything(in: directory) else { return }
      // A change of the keys would write them again.
      let lock = try KeyFile.lock(in: directory)
      defer { lock.release() }
      try KeyFile.destroy(in: directory)
    } catch { throw WorkspaceError.keys(error) }
  }

  private func moveAway(_ id: String, _ after: (RemovalStep) throws -> Void) throws -> Bool {
    let path = UserDirectory.path(of: id)
    guard let users = try open(["users"]), let parent = try open(["users"] + path.dropLast()), let name = path.last
    else { return false }
    let number = String(UInt64.random(in: .min ... .max), radix: 16)
    do throws(StorageError) { try parent.move(name, to: users, as: Self.removedPrefix + number) } catch {
      if error.kind == .missing { return false }
      throw StoreError.io(error)
    }
    try after(.renamed)
    try io { () throws(StorageError) in
      try users.sync()
      try parent.sync()
    }
    try after(.synced)
    return true
  }

  /// Deletes the directories of removed users.
  func finishRemovals() throws { try finishRemovals { _ in } }

  private func finishRemovals(after: (RemovalStep) throws -> Void) throws {
    guard let users = try open(["users"]) else { return }
    let leftovers = try io { () throws(StorageError) in
      try users.names().filter { $0.hasPrefix(Self.removedPrefix) }
    }
    if leftovers.isEmpty { return }
    // Prune first: after a crash following the last deletion, nothing would indicate that there is something to prune.
    try io { () throws(StorageError) in try Self.prune(users) }
    try after(.pruned)
    for name in leftovers { try io { () throws(StorageError) in try Self.delete(name, in: users) } }
    try after(.emptied)
    try io { () throws(StorageError) in try users.sync() }
  }

  /// Removes empty directories between `directory` and users' own directories.
  private static func prune(_ directory: PosixDirectory) throws(StorageError) {
    for name in try directory.names() where name.hasSuffix("+") {
      guard try directory.isDirectory(name), let below = try directory.subdirectory(name) else { continue }
      try prune(below)
      // This fails for a directory that contains another user.
      _ = try? directory.removeDirectory(name)
    }
  }

  /// Deletes a directory with everything in it, or a file.
  private static func delete(_ name: String, in directory: PosixDirectory) throws(StorageError) {
    guard try directory.isDirectory(name), let below = try directory.subdirectory(name) else {
      _ = try directory.remove(name)
      return
    }
    // Retry, because a process that still writes there may have created a file meanwhile.
    for isLast in [false, false, true] {
      for entry in try below.names() { try delete(entry, in: below) }
      do throws(StorageError) {
        try directory.removeDirectory(name)
        return
      } catch { if isLast { throw error } }
    }
  }
}
