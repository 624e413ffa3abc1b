import Bytes
import Platform
import RecordFormat
import Storage
import Synchronization

/// An open log whose header was validated.
package final class LogFile: Sendable {
  /// The log's file. For a tail log, the file joined with its shared base.
  let file: any StorageFile
  let header: FileHeader

  /// The path of the file, or the path that it will have once it is published.
  let path: String

  /// The end of the last commit for which this file has a snapshot. A file shorter than this was truncated.
  private let committedEnd = Atomic(0)

  /// Reads and validates the header.
  init(_ file: any StorageFile) throws(StoreError) {
    self.file = file
    path = file.path
    let bytes = try Self.read(FileHeader.byteCount, at: 0, of: file)
    do {
      header = try FileHeader(bytes.rawSpan)
    } catch {
      switch error {
      case .checksum: throw .damaged(path: file.path, offset: 0, what: "file header: \(error)")
      default: throw .unusable(path: file.path, reason: "\(error)")
      }
    }
  }

  /// Creates a log that this program is writing and that will be published at `path`.
  init(_ file: any StorageFile, header: FileHeader, path: String) {
    self.file = file
    self.path = path
    self.header = header
  }

  func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    try Self.read(count, at: offset, of: file)
  }

  /// Reads bytes. If the device cannot read them, the error contains their offset.
  private static func read(_ count: Int, at offset: Int, of file: any StorageFile) throws(StoreError) -> [UInt8] {
    do { return try file.read(count, at: offset) } catch {
      guard error.isUnreadable else { throw .io(error) }
      let location = file.location(of: offset)
      throw .unreadable(path: location.path, offset: location.offset)
    }
  }

  func size() throws(StoreError) -> Int {
    try storage { () throws(StorageError) in try file.size() }
  }

  /// Returns whether the file still begins with the header that was read when it was opened. If not, another file was
  /// written over it.
  func hasSameHeader() throws(StoreError) -> Bool {
    let bytes = try read(FileHeader.byteCount, at: 0)
    return (try? FileHeader(bytes.rawSpan)) == header
  }

  /// Records that a valid commit ends at `end`.
  func recordCommit(endingAt end: Int) {
    // Relaxed order is enough: the number only grows and is used only in a message.
    committedEnd.max(end, ordering: .relaxed)
  }

  /// Returns the path of the file that contains the byte at `offset`, and the offset in that file. For bytes that a
  /// tail log shares, that is not the log itself.
  func location(of offset: Int) -> (path: String, offset: Int) {
    let location = file.location(of: offset)
    return location.path == file.path ? (path, location.offset) : location
  }

  /// Returns the error for damage at `offset`. It includes the cause if the system reports one: a truncated file or a
  /// failing disk.
  func damage(_ offset: Int, _ what: String) -> StoreError {
    let committed = committedEnd.load(ordering: .relaxed)
    var cause = ""
    do throws(StorageError) {
      let size = try file.size()
      if size < committed {
        cause = " (the file was truncated to \(size) bytes, \(committed) were committed)"
      } else {
        _ = try file.read(1, at: offset)
      }
    } catch {
      cause = " (\(error))"
    }
    let location = location(of: offset)
    return .damaged(path: location.path, offset: location.offset, what: what + cause)
  }
}
