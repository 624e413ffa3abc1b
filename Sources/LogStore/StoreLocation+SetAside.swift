import Storage

extension StoreLocation {
  /// Gives the log another name, so that the next commit begins a store anew: for stores whose content can be had
  /// again, and that share no base.
  ///
  /// The log is then called `NAME.damaged-1`. A crash leaves the one name or the other.
  ///
  /// - Parameters:
  ///   - waiting: how long to wait for a writer to finish.
  ///   - keepsOthers: whether a log that has that name already keeps it, and this one gets the next that is free.
  ///   - isDamaged: is asked under the writer's lock, as another process may have done it already.
  /// - Returns: where the log is now; `nil` if it was left as it was, or is not there.
  /// - Throws: `StoreError.locked`, `.io`; what `isDamaged` throws.
  package func setAside(
    waiting: Duration = .zero, keepsOthers: Bool = false, if isDamaged: () throws -> Bool
  ) throws -> String? {
    let lock = try StoreWriter.lock(self, waiting)
    defer { lock.release() }
    guard try isDamaged() else { return nil }
    return try setAsideLog(keepsOthers: keepsOthers)
  }

  /// The same, for one that has the writer's lock.
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
  /// Whether it says that what is on the disk cannot be used as it is, rather than that something stands in the way now.
  package var isDamage: Bool {
    switch self {
    case .unusable, .schema, .damaged, .unreadable: true
    case .io(let error): error.isUnreadable
    default: false
    }
  }
}
