/// A file that goes with the document of an upload, in the same request: the picture of a scan.
///
/// The file stays where it is. The queue keeps its path, length and hash, and a worker checks that it is still the same.
public struct UploadFile: Codable, Sendable, Hashable {
  /// The most bytes of a field's name, and of a media type.
  static let maximumTextByteCount = 200

  /// The name of the form's field.
  public let name: String
  /// Its media type.
  public let contentType: String
  /// The file as it was when it was enqueued.
  public let file: FileReference

  /// - Parameters:
  ///   - file: The file.
  ///   - name: The name of the form's field: 1 to 200 bytes without control characters. Several files may have the same.
  ///   - contentType: Its media type, such as `image/jpeg`: up to 200 bytes of printable ASCII.
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

  /// The file at `path` as it is now, read once.
  ///
  /// - Throws: `UploadQueueError.unreadable`, `.field`.
  public init(
    contentsOf path: String, name: String = "file", contentType: String = "application/octet-stream"
  ) throws {
    try self.init(FileReference(contentsOf: path), name: name, contentType: contentType)
  }
}
