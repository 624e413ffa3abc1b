/// The number of uploads in each state, and totals of uploads that left the queue, at one commit.
public struct QueueCounts: Codable, Sendable, Equatable {
  /// Uploads that wait.
  public internal(set) var waiting = 0
  /// Uploads that a worker is sending.
  public internal(set) var sending = 0
  /// Uploads that are parked until they are retried or dropped.
  public internal(set) var parked = 0
  /// The total size of the payloads of all these, in bytes.
  public internal(set) var byteCount = 0

  /// Uploads that were enqueued since the queue was created.
  public internal(set) var enqueued = 0
  /// Uploads that were delivered since the queue was created.
  public internal(set) var delivered = 0
  /// Uploads that were replaced by a later one since the queue was created.
  public internal(set) var superseded = 0
  /// Uploads that were dropped to make room since the queue was created.
  public internal(set) var dropped = 0
  /// Uploads that were refused because the queue was full, since it was created.
  public internal(set) var refused = 0
  /// Uploads that expired since the queue was created.
  public internal(set) var expired = 0
  /// Uploads that were removed by hand since the queue was created.
  public internal(set) var removed = 0

  /// The counts of an empty, new queue.
  public init() {}

  /// The number of uploads in the queue.
  public var count: Int { waiting + sending + parked }

  subscript(state: UploadState) -> Int {
    get {
      switch state {
      case .waiting: waiting
      case .sending: sending
      case .parked: parked
      }
    }
    set {
      switch state {
      case .waiting: waiting = newValue
      case .sending: sending = newValue
      case .parked: parked = newValue
      }
    }
  }
}

/// Why a queue is paused.
public enum PauseReason: String, Codable, Sendable, CaseIterable {
  /// A person or the application paused it.
  case manual = "byHand"
  /// The network is unreachable.
  case unreachable
}

/// The document with a queue's counters and flags, rewritten by every commit of the queue.
struct QueueState: Codable, Identifiable, Sendable, Equatable {
  static let theID = "queue"

  /// The format version of a queue whose uploads are values or files.
  static let plainFormat = 1
  /// The format version of a queue that contains, or has contained since it was last empty, a value with files.
  /// Programs that only know version 1 would send the value and omit the files.
  static let formatWithFiles = 2
  /// The format version of a queue that contains, or has contained since it was last empty, JSON text. Programs that
  /// only know versions 1 and 2 would send null.
  static let formatWithJSON = 3
  /// The highest format version that this program knows. It knows all lower ones as well.
  static let currentFormat = formatWithJSON

  private(set) var id: String = QueueState.theID
  /// The format version of this queue's documents.
  var format = QueueState.plainFormat
  /// The ordinal of the next upload. Ordinals are never reused.
  var nextOrdinal: Int64 = 1
  /// A lower bound of the ordinals in the queue.
  var oldestOrdinal: Int64 = 1
  /// The tick of the last ID; see ``UploadID``.
  var lastTick: UInt64 = 0
  var counts = QueueCounts()
  var isPaused = false
  var isUnreachable = false

  var pauses: Set<PauseReason> {
    var pauses: Set<PauseReason> = []
    if isPaused { pauses.insert(.manual) }
    if isUnreachable { pauses.insert(.unreachable) }
    return pauses
  }

  /// Raises the format version to the one that an upload needs.
  mutating func admit(_ payload: UploadPayload) { format = max(format, Self.format(for: payload)) }

  /// The lowest format version that supports this upload.
  static func format(for payload: UploadPayload) -> Int {
    switch payload {
    case .value, .file: plainFormat
    case .document(_, let files): files.isEmpty ? plainFormat : formatWithFiles
    case .json: formatWithJSON
    }
  }

  /// The ID of an upload that is enqueued now.
  mutating func nextID(now: Int64, random: UInt64) -> UploadID {
    lastTick = TimeOrderedID.tick(after: lastTick, now: now)
    return UploadID(tick: lastTick, random: random)
  }
}
