import Storage

extension StoreLocation {
  /// Gives the log another name, so that the next commit begins a store anew: for stores whose content can be had
  /// again, and that share no base.
  ///
  /// The log is then called `NAME.damaged-1`; one that had that name before is gone. A crash leaves the one name or the other.
  ///
  /// - Parameters:
  ///   - milliseconds: how long to wait for a writer to finish.
  ///   - isDamaged: is asked under the writer's lock, as another process may have done it already.
  /// - Returns: where the log is now; `nil` if it was left as it was, or is not there.
  /// - Throws: `StoreError.locked`, `.io`; what `isDamaged` throws.
  package func setAside(waiting milliseconds: Int = 0, if isDamaged: () throws -> Bool) throws -> String? {
    let lock = try StoreWriter.lock(self, milliseconds)
    defer { lock.release() }
    guard try isDamaged() else { return nil }
    return try storage { () throws(StorageError) in
      guard try directory.identity(of: log) != nil else { return nil }
      try directory.rename(log, to: damaged(1))
      try directory.sync()
      return directory.path + "/" + damaged(1)
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
