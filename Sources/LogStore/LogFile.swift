import RecordFormat
import Storage

/// An open log whose header was checked.
package final class LogFile: Sendable {
  let file: any StorageFile
  let header: FileHeader

  /// The path that the file has, or will have once it is published.
  let path: String

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

  /// Bytes that the device cannot give are damaged, like those that fail their check.
  private static func read(_ count: Int, at offset: Int, of file: any StorageFile) throws(StoreError) -> [UInt8] {
    do { return try file.read(count, at: offset) } catch {
      guard error.isUnreadable else { throw .io(error) }
      throw .damaged(path: file.path, offset: offset, what: "the device cannot read it")
    }
  }

  func size() throws(StoreError) -> Int {
    try storage { () throws(StorageError) in try file.size() }
  }

  func damage(_ offset: Int, _ what: String) -> StoreError {
    .damaged(path: path, offset: offset, what: what)
  }
}
