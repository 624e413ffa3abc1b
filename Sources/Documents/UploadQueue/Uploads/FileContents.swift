import Cryptography
import Platform
import Storage
import Synchronization
import TextFormat

/// Reads a file in chunks and verifies it on the way. Calls block, and are serialized.
///
/// Memory: one chunk.
package final class FileContents: Sendable {
  static let pieceByteCount = 1 << 20

  private struct State {
    var offset = 0
    let hash: Hash
    var isOver = false
  }

  /// The path of the file.
  private let path: String
  /// The expected length and hash; `nil` to accept any content.
  private let expected: FileReference?
  private let file: any StorageFile
  private let state: Mutex<State>

  /// Opens the file of a reference.
  ///
  /// - Throws: `UploadQueueError.unreadable`; `.changed` if the length differs.
  package convenience init(_ reference: FileReference) throws { try self.init(reference.path, expected: reference) }

  init(_ path: String, expected: FileReference? = nil) throws {
    self.path = path
    self.expected = expected
    do { state = Mutex(State(hash: try Hash.sha256())) } catch {
      throw UploadQueueError.unreadable(path: path, reason: "\(error)")
    }
    let slash = path.lastIndex(of: "/")
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    guard PosixDirectory.isName(name) else {
      throw UploadQueueError.unreadable(path: path, reason: "it names no file")
    }
    do {
      guard let file = try PosixDirectory.open(parent)?.open(name, .read) else {
        throw UploadQueueError.unreadable(path: path, reason: "there is no such file")
      }
      self.file = file
      if let expected, try file.size() != expected.byteCount { throw UploadQueueError.changed(path: path) }
    } catch let error as StorageError {
      throw UploadQueueError.unreadable(path: path, reason: "\(error)")
    }
  }

  /// The next bytes; `nil` at the end of the file, after the length and hash were verified.
  ///
  /// - Throws: `UploadQueueError.unreadable`; `.changed` as soon as a difference is detected.
  package func next() throws -> [UInt8]? {
    try state.withLock { state in
      if state.isOver { return nil }
      do {
        let bytes = try file.read(Self.pieceByteCount, at: state.offset)
        state.offset += bytes.count
        try state.hash.update(bytes)
        if let expected, state.offset > expected.byteCount { throw UploadQueueError.changed(path: path) }
        if !bytes.isEmpty { return bytes }
      } catch {
        if error is UploadQueueError { throw error }
        throw UploadQueueError.unreadable(path: path, reason: "\(error)")
      }
      state.isOver = true
      if let expected, try expected.byteCount != state.offset || expected.sha256 != Self.text(state.hash) {
        throw UploadQueueError.changed(path: path)
      }
      return nil
    }
  }

  /// The length and the hash of the bytes read so far.
  func summary() throws -> (byteCount: Int, sha256: String) {
    try state.withLock { ($0.offset, try Self.text($0.hash)) }
  }

  private static func text(_ hash: Hash) throws -> String { Hexadecimal.text(try hash.digest(), .lowercase) }
}
