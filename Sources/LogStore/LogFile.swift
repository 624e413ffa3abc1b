import Bytes
import RecordFormat
import Storage
import Synchronization

/// An open log whose header was checked.
package final class LogFile: Sendable {
  /// A tail log's is joined with its shared base.
  let file: any StorageFile
  let header: FileHeader

  /// The path that the file has, or will have once it is published.
  let path: String

  /// Where the last commit ends that a snapshot of this file shows. A file that is shorter was cut.
  private let committedEnd = Atomic(0)

  /// Reads and checks the header.
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

  /// A log that this program is writing, and that will be found at `path`.
  init(_ file: any StorageFile, header: FileHeader, path: String) {
    self.file = file
    self.path = path
    self.header = header
  }

  func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    try Self.read(count, at: offset, of: file)
  }

  /// Of bytes that the device cannot give it is told where they stand.
  private static func read(_ count: Int, at offset: Int, of file: any StorageFile) throws(StoreError) -> [UInt8] {
    do { return try file.read(count, at: offset) } catch {
      guard error.isUnreadable else { throw .io(error) }
      let place = file.place(of: offset)
      throw .unreadable(path: place.path, offset: place.offset)
    }
  }

  func size() throws(StoreError) -> Int {
    try storage { () throws(StorageError) in try file.size() }
  }

  /// Whether the file begins as it did when it was opened; if not, someone wrote another one over it.
  func hasSameHeader() throws(StoreError) -> Bool {
    let bytes = try read(FileHeader.byteCount, at: 0)
    return (try? FileHeader(bytes.rawSpan)) == header
  }

  /// Notes that a commit which was found whole ends at `end`.
  func noteCommit(endingAt end: Int) {
    // One number that only grows, read for a message: no order with anything else matters.
    committedEnd.max(end, ordering: .relaxed)
  }

  /// Which file of the store holds the byte at `offset`, and where: another one than the log for what a tail log shares.
  func place(of offset: Int) -> (path: String, offset: Int) {
    let place = file.place(of: offset)
    return place.path == file.path ? (path, place.offset) : place
  }

  /// The error for what stands at `offset`, with its cause where the system tells one: a file that was cut, a disk that fails.
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
    let place = place(of: offset)
    return .damaged(path: place.path, offset: place.offset, what: what + cause)
  }
}
