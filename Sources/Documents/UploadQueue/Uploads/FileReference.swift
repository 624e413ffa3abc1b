/// A file to send, identified by its path, length and hash. Its contents are not copied into the queue.
public struct FileReference: Codable, Sendable, Hashable {
  /// The path, as given. Use an absolute path, because a worker may have another working directory.
  public let path: String
  /// The size of the content, in bytes.
  public let byteCount: Int
  /// The SHA-256 of the content, as 64 hexadecimal digits.
  public let sha256: String

  /// Reads the file at `path` once and creates a reference to its current contents.
  ///
  /// - Throws: `UploadQueueError.unreadable`.
  public init(contentsOf path: String) throws {
    let contents = try FileContents(path)
    while try contents.next() != nil {}
    (byteCount, sha256) = try contents.summary()
    self.path = path
  }

  /// Verifies that the file has not changed: first its length, then its content.
  ///
  /// - Throws: `UploadQueueError.unreadable`, `.changed`.
  /// - Complexity: Reads the entire file.
  public func check() throws {
    let contents = try FileContents(self)
    while try contents.next() != nil {}
  }

  /// Reads and verifies the content. Memory: the entire file.
  ///
  /// - Throws: `UploadQueueError.unreadable`, `.changed`.
  public func contents() throws -> [UInt8] {
    let contents = try FileContents(self)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    while let piece = try contents.next() { bytes += piece }
    return bytes
  }
}
