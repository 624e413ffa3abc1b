/// What a queue holds at most, and who is told what it does.
public struct QueueOptions: Sendable {
  /// What becomes of an upload for which there is no room.
  public enum DropPolicy: String, Sendable, CaseIterable {
    /// It is refused, and the refusal counted: nothing that was accepted is lost.
    case refuseNew
    /// The oldest ones that are not being sent make room, parked ones among them, and are counted.
    case dropOldest
  }

  /// The most uploads, parked ones among them.
  public var maximumCount = 1_000_000
  /// The most bytes of payloads. A file counts by what names it.
  public var maximumByteCount = 1 << 30
  /// What becomes of an upload beyond these two.
  public var dropPolicy = DropPolicy.refuseNew
  /// The most bytes of one payload.
  public var maximumPayloadByteCount = 16 << 20
  /// Is told of everything that happens, behind the commit that made it so; `nil` costs nothing. It is called by the thread
  /// that commits, and holds it up.
  public var trace: (@Sendable (QueueEvent) -> Void)?

  public init() {}
}

/// Something that a queue or a worker did.
public enum QueueEvent: Sendable, Equatable {
  case enqueued(UploadID)
  /// Another upload with the same replace key took its place.
  case superseded(UploadID)
  /// The caps made it go.
  case dropped(UploadID)
  /// Its time to live was over.
  case expired(UploadID)
  /// An upload found no room.
  case refused
  /// A worker begins an attempt.
  case claimed(UploadID, attempt: Int)
  case delivered(UploadID)
  /// An attempt failed, and another one comes, not before this many microseconds since 1970.
  case backedOff(UploadID, UploadFailure, notBefore: Int64)
  case parked(UploadID, UploadFailure)
  /// It had been parked, and waits again: its destination was out of order, not the upload.
  case takenBack(UploadID)
  /// A worker gave it back without an answer.
  case released(UploadID)
  /// A worker ended while it had it.
  case takenOver(UploadID)
  /// A commit: how many calls it was for, and how long it took.
  case committed(calls: Int, duration: Duration)
  /// A destination gave an answer that pauses it, for this long at first; ``breakerOpened(destination:pause:)`` follows.
  case destinationPaused(destination: String, UploadFailure, pause: Duration)
  /// A circuit breaker opened for this long, or closed again.
  case breakerOpened(destination: String, pause: Duration)
  case breakerClosed(destination: String)
  /// What an attempt led to could not be written; it is tried again.
  case storeFailed(String)
}
