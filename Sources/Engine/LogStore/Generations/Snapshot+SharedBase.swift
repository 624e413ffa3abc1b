import Platform
import RecordFormat

/// The part of a store's bytes that other stores may share.
public struct SharedBase: Sendable, Equatable {
  /// The path of the file that contains the shared bytes.
  public let path: String
  /// The number of the store's bytes in that file.
  public let byteCount: Int
  /// The number of names (hard links) of the file: one for each store and one for each kept older log.
  public let linkCount: Int

  /// Whether the file has another name. Without one, only this store uses these bytes.
  public var isShared: Bool { linkCount > 1 }
}

extension Snapshot {
  /// Returns the size of the store's own file and of its base, in bytes, for a tail log whose base another store also
  /// uses; `nil` for any other log.
  ///
  /// - Throws: `StoreError.io`.
  /// - Complexity: One system call for a tail log.
  func ownAndSharedByteCounts() throws(StoreError) -> (own: Int, shared: Int)? {
    guard log.header.base != nil, let base = try sharedBase(), base.isShared else { return nil }
    return (end - base.byteCount, base.byteCount)
  }

  /// Returns what this store shares: the base of a tail log, or the complete file if it has other names; `nil` if it
  /// shares nothing.
  ///
  /// - Throws: `StoreError.io`.
  /// - Complexity: One system call.
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
