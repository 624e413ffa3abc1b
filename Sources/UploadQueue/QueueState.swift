/// What a queue holds and what became of what it held: the numbers of one commit.
public struct QueueCounts: Codable, Sendable, Equatable {
  /// Uploads that wait, …
  public internal(set) var waiting = 0
  /// … that a worker has, …
  public internal(set) var sending = 0
  /// … and that stay until somebody decides.
  public internal(set) var parked = 0
  /// Bytes of the payloads of all these.
  public internal(set) var byteCount = 0

  /// Uploads since the queue came into being that were enqueued, …
  public internal(set) var enqueued = 0
  /// … that arrived, …
  public internal(set) var delivered = 0
  /// … that a later one replaced, …
  public internal(set) var superseded = 0
  /// … that made room for others, …
  public internal(set) var dropped = 0
  /// … that found no room, …
  public internal(set) var refused = 0
  /// … whose time was over, …
  public internal(set) var expired = 0
  /// … and that somebody removed by hand.
  public internal(set) var removed = 0

  /// The numbers of a queue that never held anything.
  public init() {}

  /// All that is in the queue.
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
  /// Somebody asked for it.
  case byHand
  /// The network is away.
  case unreachable
}

/// The one document that moves with every commit of a queue.
struct QueueState: Codable, Identifiable, Sendable, Equatable {
  static let theID = "queue"

  /// The form of a queue whose uploads are values or files.
  static let plainFormat = 1
  /// The form of one that has, or had since it was last empty, a value with files: programs that know the former one alone would
  /// send the value and forget the files.
  static let formatWithFiles = 2
  /// The form of one that has, or had since it was last empty, JSON text: programs that know the former ones alone would send null.
  static let formatWithJSON = 3
  /// The last form that this program knows. One that knows a form knows those below it.
  static let currentFormat = formatWithJSON

  private(set) var id: String = QueueState.theID
  /// The form of this queue's documents.
  var format = QueueState.plainFormat
  /// The ordinal that the next upload gets. None is used twice.
  var nextOrdinal: Int64 = 1
  /// No upload has a smaller ordinal.
  var oldestOrdinal: Int64 = 1
  /// The tick of the last id; see ``UploadID``.
  var lastTick: UInt64 = 0
  var counts = QueueCounts()
  var isPaused = false
  var isUnreachable = false

  var pauses: Set<PauseReason> {
    var pauses: Set<PauseReason> = []
    if isPaused { pauses.insert(.byHand) }
    if isUnreachable { pauses.insert(.unreachable) }
    return pauses
  }

  /// Raises the form to the one that an upload needs.
  mutating func admit(_ payload: UploadPayload) { format = max(format, Self.format(for: payload)) }

  /// The first form of a queue with such an upload.
  static func format(for payload: UploadPayload) -> Int {
    switch payload {
    case .value, .file: plainFormat
    case .document(_, let files): files.isEmpty ? plainFormat : formatWithFiles
    case .json: formatWithJSON
    }
  }

  /// The id of an upload enqueued now.
  mutating func nextID(now: Int64, random: UInt64) -> UploadID {
    lastTick = TimeOrderedID.tick(after: lastTick, now: now)
    return UploadID(tick: lastTick, random: random)
  }
}
