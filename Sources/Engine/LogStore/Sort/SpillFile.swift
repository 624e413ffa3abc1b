import Platform
import Sealing
import Storage

/// A temporary file, next to a store: for bytes that arrive before the store is locked, so that a slow sender does not
/// block other writers; and for what a transaction sorts and does not keep in memory.
///
/// The file is unlinked as soon as it is open, so its space is freed when it is closed, however the process ends. A
/// crash in between leaves a name that the next spill file of the store removes. Any process may remove such a name at
/// any time, because the process that created the file has it open.
package final class SpillFile {
  private static let pieceByteCount = 1 << 18

  private let file: ReclaimingFile
  /// What encrypts the file of a store that has a key; `nil` for other stores.
  private let cipher: StreamCipher?
  /// The number of bytes at the start whose space was freed.
  private var released = 0
  /// The number of bytes appended.
  package private(set) var byteCount = 0

  /// Creates an empty file with mode 0600 in the directory of a store.
  ///
  /// - Throws: `StoreError.io`; `.sealed` without the key of a store that is sealed.
  package init(nextTo location: StoreLocation) throws(StoreError) {
    let keys = location.keys.now
    // What arrives for a sealed store is not written in clear.
    if keys.sealsNew, keys.current == nil { throw .sealed(path: location.path, isOtherKey: keys.areRefused) }
    do { cipher = keys.current == nil ? nil : try StreamCipher() } catch {
      throw .unusable(path: location.path, reason: "\(error)")
    }
    let created = try storage { () throws(StorageError) in
      let directory = location.directory
      for name in try directory.names() where name.hasPrefix(location.spillPrefix) {
        // A file that cannot be removed takes space but does no other harm.
        _ = try? directory.remove(name)
      }
      let name = location.spill(location.environment.random())
      guard let file = try directory.open(name, .create) else {
        throw StorageError(operation: "create", path: directory.path + "/" + name, code: ENOENT)
      }
      try directory.remove(name)
      return file
    }
    file = location.reclaiming(created)
  }

  /// Appends bytes.
  ///
  /// - Throws: `StoreError.io`, including for a full device.
  package func append(_ bytes: Span<UInt8>) throws(StoreError) {
    do throws(StorageError) {
      if let cipher {
        try file.write(cipher.applied(to: bytes, at: byteCount).rawSpan, at: byteCount)
      } else {
        try file.write(bytes.rawSpan, at: byteCount)
      }
    } catch { throw .io(error) }
    byteCount += bytes.count
  }

  /// Returns the space of the bytes before `offset`, which will not be read again, to the file system if possible. The
  /// bytes read from here are written elsewhere, and a small disk need not hold them twice.
  package func release(before offset: Int) {
    let end = offset / Self.pieceByteCount * Self.pieceByteCount
    if end > released { file.release(released..<end) }
    released = max(released, end)
  }

  /// Returns the next bytes from `offset` on, up to 256 KiB; empty at the end of the file.
  ///
  /// - Throws: `StoreError.io`.
  package func read(at offset: Int) throws(StoreError) -> [UInt8] { try read(at: offset, upTo: Self.pieceByteCount) }

  /// Returns the next bytes from `offset` on, up to `count`, which is at least one; empty at the end of the file.
  ///
  /// - Throws: `StoreError.io`.
  func read(at offset: Int, upTo count: Int) throws(StoreError) -> [UInt8] {
    if offset >= byteCount { return [] }
    let piece = try storage { () throws(StorageError) in try file.read(min(count, byteCount - offset), at: offset) }
    // No other process has the file open, so if it is shorter than what was written, the device failed.
    if piece.isEmpty { throw .io(StorageError(operation: "read", path: file.path, code: EIO)) }
    return cipher?.applied(to: piece.span, at: offset) ?? piece
  }
}
