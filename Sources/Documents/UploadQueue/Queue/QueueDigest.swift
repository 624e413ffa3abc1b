package import Bytes
public import Documents

/// A digest of the uploads of all queues in a store. It covers the content, the order and whether an upload is parked,
/// but not the times or the results of attempts. See `Documentation/Format/Digests.md`.
public struct QueueDigest: Sendable, Equatable, CustomStringConvertible {
  package let content: ContentDigest
  /// The number of uploads in all queues.
  public let count: Int

  /// The digest of a store without uploads.
  public init() {
    content = ContentDigest().closed(count: 0)
    count = 0
  }

  /// Computes the digest of a store's queues.
  ///
  /// - Throws: `StoreError.damaged`; `UploadQueueError` for a queue whose name is invalid.
  /// - Complexity: Reads every upload once.
  public init(_ store: DocumentStore) throws {
    var sum = ContentDigest()
    var number = 0
    for name in try UploadQueue.names(in: store) {
      try UploadQueue(in: store, name: name, isReadOnly: true).forEach { upload in
        number += 1
        sum.add(Self.bytes(upload, in: name).rawSpan)
        return true
      }
    }
    content = sum.closed(count: number)
    count = number
  }

  /// The bytes of an upload that are hashed.
  private static func bytes(_ upload: Upload, in queue: String) -> [UInt8] {
    var writer = ByteWriter()
    func put(_ text: String?) {
      guard let text else { return writer.put(UInt32.max) }
      writer.put(UInt32(clamping: text.utf8.count))
      writer.put(Array(text.utf8))
    }
    func putFile(_ file: FileReference) {
      put(file.path)
      put(file.sha256)
      writer.put(UInt64(clamping: file.byteCount))
    }
    for text in [queue, upload.id.text, upload.kind, upload.orderKey, upload.replaceKey] { put(text) }
    writer.put(UInt8(clamping: upload.priority.rawValue))
    writer.put(UInt8(upload.state == .parked ? 1 : 0))
    switch upload.payload {
    case .value(let value):
      writer.put(UInt8(0))
      writer.put(value.documentBytes)
    case .json(let json):
      writer.put(UInt8(3))
      writer.put(json.bytes)
    case .file(let file):
      writer.put(UInt8(1))
      putFile(file)
    case .document(let value, let files):
      writer.put(UInt8(2))
      writer.put(value.documentBytes)
      writer.put(UInt32(clamping: files.count))
      for file in files {
        put(file.name)
        put(file.contentType)
        putFile(file.file)
      }
    }
    return writer.bytes
  }

  /// The digest of `other` joined with these uploads; `other` itself if there are no uploads.
  package func covering(_ other: ContentDigest) -> ContentDigest { count == 0 ? other : other.joined(with: content) }

  /// The digest as 32 hexadecimal digits.
  public var description: String { content.description }
}
