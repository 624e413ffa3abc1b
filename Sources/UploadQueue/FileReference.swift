/// A file that is sent as it stands on the disk: a picture.
public struct FileReference: Codable, Sendable, Hashable {
  /// As it was given; best absolute, since a worker may run elsewhere.
  public let path: String
  /// Of the content.
  public let byteCount: Int
  /// SHA-256 of the content, 64 hexadecimal digits.
  public let sha256: String

  /// The file at `path` as it is now, read once.
  ///
  /// - Throws: `UploadQueueError.unreadable`.
  public init(contentsOf path: String) throws {
    let contents = try FileContents(path)
    while try contents.next() != nil {}
    (byteCount, sha256) = contents.summary
    self.path = path
  }

  /// Whether the file is still the same: its length, and then its content.
  ///
  /// - Throws: `UploadQueueError.unreadable`, `.changed`.
  /// - Complexity: reads the file.
  public func check() throws {
    let contents = try FileContents(self)
    while try contents.next() != nil {}
  }

  /// The content, checked. Memory: all of it.
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
