import RecordFormat
import Storage

/// An open log whose header was checked.
package final class LogFile: Sendable {
  let file: any StorageFile
  let header: FileHeader

  var path: String { file.path }

  /// Reads and checks the header.
  init(_ file: any StorageFile) throws(StoreError) {
    self.file = file
    let bytes = try storage { () throws(StorageError) in try file.read(FileHeader.byteCount, at: 0) }
    do {
      header = try FileHeader(bytes.rawSpan)
    } catch {
      switch error {
      case .checksum: throw .damaged(path: file.path, offset: 0, what: "file header: \(error)")
      default: throw .unusable(path: file.path, reason: "\(error)")
      }
    }
  }

  /// A log that this program just wrote.
  init(_ file: any StorageFile, header: FileHeader) {
    self.file = file
    self.header = header
  }

  func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    try storage { () throws(StorageError) in try file.read(count, at: offset) }
  }

  func size() throws(StoreError) -> Int {
    try storage { () throws(StorageError) in try file.size() }
  }

  func damage(_ offset: Int, _ what: String) -> StoreError {
    .damaged(path: path, offset: offset, what: what)
  }
}
