/// A file that is sent in the same request as an upload's document, for example the picture of a scan.
///
/// The file is not copied. The queue stores its path, length and hash, and a worker verifies that it has not changed.
public struct UploadFile: Codable, Sendable, Hashable {
  /// The maximum length of a field name, and of a media type, in bytes.
  static let maximumTextByteCount = 200

  /// The name of the form field.
  public let name: String
  /// The media type.
  public let contentType: String
  /// The reference to the file, created when the upload was enqueued.
  public let file: FileReference

  /// Creates a form file.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - name: The name of the form field: 1 to 200 bytes without control characters. Several files may share a name.
  ///   - contentType: The media type, for example `image/jpeg`: up to 200 bytes of printable ASCII.
  /// - Throws: `UploadQueueError.field`.
  public init(
    _ file: FileReference, name: String = "file", contentType: String = "application/octet-stream"
  ) throws(UploadQueueError) {
    let isName =
      (1...Self.maximumTextByteCount).contains(name.utf8.count)
      && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    let isType =
      (1...Self.maximumTextByteCount).contains(contentType.utf8.count)
      && contentType.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    guard isName, isType else { throw .field(name: name, contentType: contentType) }
    self.file = file
    self.name = name
    self.contentType = contentType
  }

  /// Reads the file at `path` once and creates a reference to its current contents.
  ///
  /// - Throws: `UploadQueueError.unreadable`, `.field`.
  public init(
    contentsOf path: String, name: String = "file", contentType: String = "application/octet-stream"
  ) throws {
    try self.init(FileReference(contentsOf: path), name: name, contentType: contentType)
  }
}
