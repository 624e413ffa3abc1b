import RecordFormat
import Storage

/// What of a store's bytes other stores may share.
public struct SharedBase: Sendable, Equatable {
  /// The file that holds them.
  public let path: String
  /// How many bytes of the store stand there.
  public let byteCount: Int
  /// How many names the file has: one for each store, and for each older log of one that was kept.
  public let linkCount: Int

  /// Whether another name leads to the file: without one, these bytes are this store's alone.
  public var isShared: Bool { linkCount > 1 }
}

extension Snapshot {
  /// Bytes in the file of its own, and in the base, of a tail log whose base another store has too; `nil` for any other log.
  ///
  /// - Throws: `StoreError.io`.
  /// - Complexity: a system call for a tail log.
  func ownAndSharedByteCounts() throws(StoreError) -> (own: Int, shared: Int)? {
    guard log.header.base != nil, let base = try sharedBase(), base.isShared else { return nil }
    return (end - base.byteCount, base.byteCount)
  }

  /// What this store shares: the base of a tail log, or the whole file where it has other names. `nil` if it shares
  /// nothing.
  ///
  /// - Throws: `StoreError.io`.
  /// - Complexity: one system call.
  public func sharedBase() throws(StoreError) -> SharedBase? {
    let log = log
    return try storage { () throws(StorageError) in
      if let base = log.header.base, let shared = log.file.shared {
        let count = Int(base.end) - SegmentHeader.firstOffset
        return SharedBase(path: shared.path, byteCount: count, linkCount: try shared.linkCount())
      }
      let count = try log.file.linkCount()
      return count > 1 ? SharedBase(path: log.path, byteCount: end, linkCount: count) : nil
    }
  }
}
