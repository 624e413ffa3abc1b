import Platform

extension StoreLocation {
  /// Renames the log, so that the next commit starts a new store. Use it for stores whose content can be obtained again
  /// and that share no base.
  ///
  /// The new name is `NAME.damaged-1`. After a crash the log has either the old or the new name.
  ///
  /// - Parameters:
  ///   - lockTimeout: The time to wait for a writer to finish.
  ///   - keepsOthers: Whether an existing log with that name is kept, and this one gets the next free name.
  ///   - isDamaged: A closure that returns whether to rename the log. It is called under the writer's lock, because
  ///     another process may already have renamed it.
  /// - Returns: The new path of the log; `nil` if the log was not renamed or does not exist.
  /// - Throws: `StoreError.locked`, `.io`; any error that `isDamaged` throws.
  package func setAside(
    lockTimeout: Duration = .zero, keepsOthers: Bool = false, if isDamaged: () throws -> Bool
  ) throws -> String? {
    let lock = try StoreWriter.lock(self, lockTimeout)
    defer { lock.release() }
    guard try isDamaged() else { return nil }
    return try setAsideLog(keepsOthers: keepsOthers)
  }

  /// Renames the log. The caller must hold the writer's lock.
  func setAsideLog(keepsOthers: Bool = true) throws(StoreError) -> String? {
    try storage { () throws(StorageError) in
      guard try directory.identity(of: log) != nil else { return nil }
      let name = try keepsOthers ? freeDamagedName() : damaged(1)
      try directory.rename(log, to: name)
      try directory.sync()
      return directory.path + "/" + name
    }
  }
}

extension StoreError {
  /// Whether the error means that the data on disk is unusable, rather than that a temporary obstacle exists.
  package var isDamage: Bool {
    switch self {
    case .unusable, .schema, .damaged, .unreadable: true
    case .io(let error): error.isUnreadable
    default: false
    }
  }
}
