import Bytes

/// How uploads of a kind go together: several in one request.
///
/// A batch has consecutive uploads of one order key and one kind. Files, uploads without an order key, and uploads that failed by their
/// own go alone.
public struct UploadBatchOptions: Sendable, Equatable {
  /// The most uploads of one batch; 1 to 10,000.
  public var maximumCount: Int
  /// How long an upload waits for others at most, where the batch is not full. Without it, a batch is what came while the one before it
  /// was on its way.
  public var linger: Duration
  /// The most bytes of the payloads of one batch. One upload that has more goes alone.
  public var maximumByteCount = 4 << 20

  /// - Precondition: `maximumCount` is 1 to 10,000.
  public init(maximumCount: Int, linger: Duration = .zero) {
    precondition((1...10_000).contains(maximumCount), "a batch has 1 to 10,000 uploads")
    self.maximumCount = maximumCount
    self.linger = linger
  }
}

/// Several uploads of one order key and one kind, in their order.
public struct UploadBatch: Sendable, Equatable, Identifiable {
  /// Made of the ids of the uploads: the same whenever the same uploads go together again, and never the same for others.
  public let id: String
  /// At least one.
  public let uploads: [Upload]

  /// What all of them are.
  public var kind: String { uploads[0].kind }

  /// - Precondition: there is at least one upload.
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
