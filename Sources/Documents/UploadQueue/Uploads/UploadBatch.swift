import Bytes

/// Limits for sending several uploads of a kind in one request.
///
/// A batch contains consecutive uploads of one order key and one kind. Files, uploads without an order key, and uploads
/// that failed by themselves are sent alone.
public struct UploadBatchOptions: Sendable, Equatable {
  /// The maximum number of uploads in a batch: 1 to 10,000.
  public var maximumCount: Int
  /// The longest time that an upload waits for others while the batch is not full. With zero, a batch contains the
  /// uploads that arrived while the previous batch was being sent.
  public var linger: Duration
  /// The maximum total size of the payloads in a batch, in bytes. A larger single upload is sent alone.
  public var maximumByteCount = 4 << 20

  /// Creates batch limits.
  ///
  /// - Precondition: `maximumCount` is 1 to 10,000.
  public init(maximumCount: Int, linger: Duration = .zero) {
    precondition((1...10_000).contains(maximumCount), "a batch has 1 to 10,000 uploads")
    self.maximumCount = maximumCount
    self.linger = linger
  }
}

/// Several uploads of one order key and one kind, in their order.
public struct UploadBatch: Sendable, Equatable, Identifiable {
  /// The batch ID, a hash of the upload IDs: the same for the same uploads, and different for any others.
  public let id: String
  /// The uploads; at least one.
  public let uploads: [Upload]

  /// The kind of all uploads in the batch.
  public var kind: String { uploads[0].kind }

  /// Creates a batch.
  ///
  /// - Precondition: `uploads` is not empty.
  public init(_ uploads: [Upload]) {
    precondition(!uploads.isEmpty, "a batch of nothing is not sent")
    self.uploads = uploads
    var writer = ByteWriter()
    for upload in uploads { writer.put(Array(upload.id.text.utf8)) }
    let bytes = writer.bytes
    id =
      "batch-"
      + [HashSeed(0, 0), HashSeed(1, 1)].map { seed in
        let digits = String(KeyHash.of(bytes.rawSpan, seed), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }.joined()
  }
}
