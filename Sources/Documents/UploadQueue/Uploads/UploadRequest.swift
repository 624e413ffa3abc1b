import Bytes
import DocumentFormat

/// An upload to enqueue, validated except for the limits that depend on the store's state.
struct UploadRequest: Sendable {
  static let maximumKindByteCount = 200
  static let maximumKeyByteCount = 1024

  let payload: UploadPayload
  let kind: String
  let orderKey: String?
  let replaceKey: String?
  let priority: UploadPriority
  /// Microseconds since 1970; `nil` for now.
  let notBefore: Int64?
  /// Microseconds; `nil` for no limit.
  let timeToLive: Int64?
  let byteCount: Int

  /// Validates an upload.
  ///
  /// - Throws: `UploadQueueError.text`, `.payloadTooLarge`; any encoding error.
  init(
    _ payload: UploadPayload, kind: String, orderKey: String?, replaceKey: String?, priority: UploadPriority,
    notBefore: Int64?, timeToLive: Int64?, _ options: QueueOptions
  ) throws {
    guard (1...Self.maximumKindByteCount).contains(kind.utf8.count) else {
      throw UploadQueueError.text(what: "the kind", byteCount: kind.utf8.count)
    }
    for (what, key) in [("the order key", orderKey), ("the replace key", replaceKey)] {
      if let key, key.utf8.count > Self.maximumKeyByteCount {
        throw UploadQueueError.text(what: what, byteCount: key.utf8.count)
      }
    }
    self.payload = payload
    self.kind = kind
    self.orderKey = orderKey
    self.replaceKey = replaceKey
    self.priority = priority
    self.notBefore = notBefore
    self.timeToLive = timeToLive
    if case .json(let json) = payload {
      byteCount = StoredUpload.byteCount(of: json)
    } else {
      // Encode now, not when the transaction ends: an encoding error must fail only this call.
      let bytes = try DocumentEncoder().encode(StoredUpload(UploadID(tick: 0, random: 0), ordinal: 0, payload))
      // A value that is nested too deeply could be written but never read again.
      try DocumentView(bytes.rawSpan).validate()
      byteCount = bytes.count
    }
    guard byteCount <= options.maximumPayloadByteCount else {
      throw UploadQueueError.payloadTooLarge(byteCount: byteCount, limit: options.maximumPayloadByteCount)
    }
  }
}
