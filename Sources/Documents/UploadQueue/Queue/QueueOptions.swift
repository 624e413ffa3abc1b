/// The limits of a queue, and a callback that traces its events.
public struct QueueOptions: Sendable {
  /// The action for an upload that exceeds the limits.
  public enum DropPolicy: String, Sendable, CaseIterable {
    /// Refuses the new upload and counts the refusal: no accepted upload is lost.
    case refuseNew
    /// Drops and counts the oldest uploads that are not being sent, including parked ones, to make room.
    case dropOldest
  }

  /// The maximum number of uploads, including parked ones.
  public var maximumCount = 1_000_000
  /// The maximum total size of the payloads, in bytes. A file counts with the size of its reference.
  public var maximumByteCount = 1 << 30
  /// The action for an upload that exceeds one of these two limits.
  public var dropPolicy = DropPolicy.refuseNew
  /// The maximum size of one payload, in bytes.
  public var maximumPayloadByteCount = 16 << 20
  /// A callback for every event, called after the commit that contains it; `nil` costs nothing. It runs on the
  /// committing thread and delays it.
  public var trace: (@Sendable (QueueEvent) -> Void)?

  /// Creates the default limits: a million uploads, and a full queue refuses new ones.
  public init() {}
}

/// An event of a queue or a worker.
public enum QueueEvent: Sendable, Equatable {
  case enqueued(UploadID)
  /// Another upload with the same replace key replaced it.
  case superseded(UploadID)
  /// It was dropped because the queue was full.
  case dropped(UploadID)
  /// Its time to live ended.
  case expired(UploadID)
  /// An upload was refused because the queue was full.
  case refused
  /// A worker begins an attempt.
  case claimed(UploadID, attempt: Int)
  case delivered(UploadID)
  /// An attempt failed. The next one begins no earlier than `notBefore`, in microseconds since 1970.
  case backedOff(UploadID, UploadFailure, notBefore: Int64)
  case parked(UploadID, UploadFailure)
  /// It had been parked and waits again, because its destination was at fault, not the upload.
  case requeued(UploadID)
  /// A worker returned it to the queue without an answer.
  case released(UploadID)
  /// A worker ended while sending it.
  case takenOver(UploadID)
  /// A commit, with the number of calls that shared it and its duration.
  case committed(calls: Int, duration: Duration)
  /// An answer paused a destination, at first for this long. ``breakerOpened(destination:pause:)`` follows.
  case destinationPaused(destination: String, UploadFailure, pause: Duration)
  /// A circuit breaker opened for this long, or closed again.
  case breakerOpened(destination: String, pause: Duration)
  case breakerClosed(destination: String)
  /// The result of an attempt could not be written. The write is retried.
  case storeFailed(String)
}
