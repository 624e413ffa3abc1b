import Storage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Bytes that arrive before a store is locked, in a file next to it: a slow sender then keeps no other writer waiting.
///
/// The file loses its name as soon as it is open, so its space is free again when it is closed, however the process
/// ends. A crash in between leaves a name that the next spill file of the store removes. Anyone may remove such a name
/// at any time: the process that made the file holds it open.
package final class SpillFile {
  private static let pieceByteCount = 1 << 18

  private let file: ReclaimingFile
  /// Bytes from the beginning whose space was given back.
  private var released = 0
  /// Bytes that were appended.
  package private(set) var byteCount = 0

  /// Creates an empty file, mode 0600, in the directory of a store.
  ///
  /// - Throws: `StoreError.io`.
  package init(nextTo location: StoreLocation) throws(StoreError) {
    let created = try storage { () throws(StorageError) in
      let directory = location.directory
      for name in try directory.names() where name.hasPrefix(location.spillPrefix) {
        // What cannot be removed takes room, and is in nobody's way.
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
  /// - Throws: `StoreError.io`, also for a full device.
  package func append(_ bytes: Span<UInt8>) throws(StoreError) {
    do throws(StorageError) {
      try file.write(bytes.rawSpan, at: byteCount)
    } catch { throw .io(error) }
    byteCount += bytes.count
  }

  /// Gives the space of the bytes before `offset`, which are not read again, back to the file system where that can be
  /// done: what is read from here is written elsewhere, and a small disk need not hold it twice.
  package func release(before offset: Int) {
    let end = offset / Self.pieceByteCount * Self.pieceByteCount
    if end > released { file.release(released..<end) }
    released = max(released, end)
  }

  /// The next bytes from `offset` on, up to 256 KiB; empty at the end.
  ///
  /// - Throws: `StoreError.io`.
  package func read(at offset: Int) throws(StoreError) -> [UInt8] {
    if offset >= byteCount { return [] }
    let piece = try storage { () throws(StorageError) in
      try file.read(min(Self.pieceByteCount, byteCount - offset), at: offset)
    }
    // Nobody else has the file, so that it is shorter than what was written is the device's fault.
    if piece.isEmpty { throw .io(StorageError(operation: "read", path: file.path, code: EIO)) }
    return piece
  }
}
