import LogStore
import Storage

// A removal is one rename: from then on the user is none, and what is left is rubbish under a name that no id gives, which is
// deleted at leisure and by whoever comes next.

extension WorkspaceDirectory {
  /// What the name of a directory begins with whose user was removed. No id gives it: a name begins with no dot.
  static let removedPrefix = ".removed-"

  /// Removes a user's directory and everything in it; one who is signed in is signed out first.
  ///
  /// A crash leaves the user as he was, or signed out, or gone: what is left to delete then goes with the next removal, or with the
  /// next ``Workspace``. Links are removed, not followed. A file that another user shares has another name there,
  /// and stays. A process that still writes to the user's stores writes to what is about to be deleted.
  ///
  /// - Returns: whether there was such a user.
  /// - Throws: `WorkspaceError.userID`, `.settings`, `.store`.
  @discardableResult
  public func remove(_ id: String) throws -> Bool { try remove(id) { _ in } }

  /// The steps of a removal, in their order.
  enum RemovalStep: CaseIterable {
    case signedOut, renamed, synced, pruned, emptied
  }

  /// - Parameter after: is told of each step behind it; what it throws ends the removal there, as a crash would.
  func remove(_ id: String, after: (RemovalStep) throws -> Void) throws -> Bool {
    guard try directory(of: id) != nil else {
      try finishRemovals(after: after)
      return false
    }
    var wasThere = false
    // A sign-in of this user waits for the lock, and then makes another directory.
    try withCurrentUser { current, set in
      if current?.hasSameBytes(as: id) == true { try set(nil) }
      try after(.signedOut)
      wasThere = try moveAway(id, after)
    }
    try finishRemovals(after: after)
    return wasThere
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

  /// Deletes what is left of users who were removed.
  func finishRemovals() throws { try finishRemovals { _ in } }

  private func finishRemovals(after: (RemovalStep) throws -> Void) throws {
    guard let users = try open(["users"]) else { return }
    let rubbish = try io { () throws(StorageError) in
      try users.names().filter { $0.hasPrefix(Self.removedPrefix) }
    }
    if rubbish.isEmpty { return }
    // First what a crash behind the last deletion would leave no trace of.
    try io { () throws(StorageError) in try Self.prune(users) }
    try after(.pruned)
    for name in rubbish { try io { () throws(StorageError) in try Self.delete(name, in: users) } }
    try after(.emptied)
    try io { () throws(StorageError) in try users.sync() }
  }

  /// Removes the directories between `directory` and users' own that are empty.
  private static func prune(_ directory: PosixDirectory) throws(StorageError) {
    for name in try directory.names() where name.hasSuffix("+") {
      guard try directory.isDirectory(name), let below = try directory.subdirectory(name) else { continue }
      try prune(below)
      // One that holds another user stays.
      _ = try? directory.removeDirectory(name)
    }
  }

  /// Deletes a directory with everything in it, or whatever else has the name.
  private static func delete(_ name: String, in directory: PosixDirectory) throws(StorageError) {
    guard try directory.isDirectory(name), let below = try directory.subdirectory(name) else {
      _ = try directory.remove(name)
      return
    }
    // Who still writes there may have made a file since.
    for isLast in [false, false, true] {
      for entry in try below.names() { try delete(entry, in: below) }
      do throws(StorageError) {
        try directory.removeDirectory(name)
        return
      } catch { if isLast { throw error } }
    }
  }
}
