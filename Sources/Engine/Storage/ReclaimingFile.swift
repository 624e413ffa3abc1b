package import Platform

/// A file that frees space on its device when a write fails because the device is full.
///
/// The write is retried as long as `reclaim` frees space. A retry loses nothing: the pages that an earlier call wrote
/// are still in memory, and the same bytes go to the same offset. A failed sync is never retried.
package final class ReclaimingFile: StorageFile {
  private let file: any StorageFile
  private let reclaim: @Sendable () -> Bool

  /// Wraps a file.
  ///
  /// - Parameters:
  ///   - file: The file to write to.
  ///   - reclaim: A closure that frees space on the device and returns whether it did. It may be called on any thread
  ///     that writes.
  package init(_ file: any StorageFile, reclaim: @escaping @Sendable () -> Bool) {
    self.file = file
    self.reclaim = reclaim
  }

  package func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) {
    while true {
      do { return try file.write(bytes, at: offset) } catch {
        guard error.isFullDevice, reclaim() else { throw error }
      }
    }
  }

  package var path: String { file.path }
  package var identity: FileIdentity { file.identity }
  package var named: any StorageFile { file.named }
  package var shared: (any StorageFile)? { file.shared }
  package var canWriteBehind: Bool { file.canWriteBehind }
  package var isCopiedOnWrite: Bool { file.isCopiedOnWrite }
  package func wasRenamed(to path: String) { file.wasRenamed(to: path) }
  package func size() throws(StorageError) -> Int { try file.size() }
  package func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8] { try file.read(count, at: offset) }
  package func truncate(to byteCount: Int) throws(StorageError) { try file.truncate(to: byteCount) }
  package func sync() throws(StorageError) { try file.sync() }
  package func startSync(_ offset: Int, _ count: Int) { file.startSync(offset, count) }
  package func release(_ range: Range<Int>) { file.release(range) }
  package func map(_ byteCount: Int) throws(StorageError) -> Mapping { try file.map(byteCount) }
  package func linkCount() throws(StorageError) -> Int { try file.linkCount() }
  package func location(of offset: Int) -> (path: String, offset: Int) { file.location(of: offset) }

  package func map(_ range: Range<Int>, at address: UnsafeMutableRawPointer) throws(StorageError) {
    // The addresses belong to the caller.
    try unsafe file.map(range, at: address)
  }

  package func copy(_ range: Range<Int>, from source: any StorageFile) throws(StorageError) {
    try file.copy(range, from: source)
  }
}

extension StorageError {
  /// Whether the device, or the user's quota on it, is full.
  fileprivate var isFullDevice: Bool { code == ENOSPC || code == EDQUOT }
}
