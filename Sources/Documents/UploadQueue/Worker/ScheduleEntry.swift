public import DocumentFormat

/// An upload without its payload: a small document that is cheap to rewrite at each attempt, and cheap to read for all
/// waiting uploads.
struct ScheduleEntry: Codable, Identifiable, Sendable, Equatable {
  /// The worker that is sending an upload.
  struct Lease: Codable, Sendable, Hashable {
    /// The index of the lock that the worker holds.
    var slot: Int
    /// A random number that distinguishes the worker from earlier holders of that lock.
    var holder: Int64
  }

  /// The ordinal: the position in the queue.
  let id: Int64
  let upload: UploadID
  let kind: String
  var state = UploadState.waiting
  let priority: UploadPriority
  let orderKey: String?
  let replaceKey: String?
  /// This and the following times are in microseconds since 1970.
  let created: Int64
  /// The time before which it is not sent: the end of ``pause``, or the time that the application asked for. If it
  /// asked for none, this is `created`, and means nothing.
  var notBefore: Int64
  /// The length of the pause that ends at ``notBefore``, in microseconds; `nil` if that is no end of a pause. The length
  /// counts: an end by a clock that was wrong is at most this far away.
  var pause: Int64?
  /// The time that the application asked for, once an attempt has begun; `nil` if it asked for none.
  var wished: Int64?
  let expires: Int64?
  /// The size of the payload.
  let byteCount: Int
  /// The number of attempts that have begun.
  var attempts = 0
  /// The number of attempts that failed since it was enqueued or manually retried.
  var failures = 0
  /// The number of failures that count against the upload itself and not its destination; `nil` for zero.
  var ownFailures: Int?
  /// The length of all pauses after its failures, in microseconds; `nil` for zero. It says for how long the upload has
  /// failed, however the clock was set and whether or not a worker ran.
  var failedFor: Int64?
  /// The number of attempts during which the worker ended.
  var interruptions = 0
  /// When it was last manually retried. Workers then stop pausing its destination.
  var retried: Int64?
  var lastError: UploadFailure?
  var lease: Lease?
  /// Whether it is parked because it failed alone for longer than an outage lasts, and nothing has arrived at its
  /// destination since: if others fail as well, it was an outage, and it is not at fault; `nil` for false.
  var isSuspect: Bool?
  /// When it was parked; `nil` if it is not parked, or was parked by a former version.
  var parked: Int64?
  /// Whether it is parked and later uploads with its order key wait until it is retried or dropped; `nil` for false.
  var holdsKey: Bool?

  /// The lane: uploads of one lane are sent one after another. It is the order key, or the upload alone. The prefixes
  /// keep the two kinds distinct.
  var lane: String { orderKey.map { "key " + $0 } ?? "upload \(id)" }

  /// The time before which the application asked not to send it; `nil` if it asked for none.
  ///
  /// Former versions overwrote it after the first attempt, when it had passed.
  var wish: Int64? {
    if attempts > 0 || pause != nil { return wished }
    return notBefore == created ? nil : notBefore
  }

  /// The pause for which it waits: its end by the clock of the process that wrote it, and its length, which is `nil` if
  /// a former version wrote it; `nil` if it waits for no pause.
  var wait: (until: Int64, length: Int64?)? {
    guard state == .waiting else { return nil }
    if let pause { return (notBefore, pause) }
    return attempts > 0 && failures > 0 ? (notBefore, nil) : nil
  }

  /// The later of the time that the application asked for and the end of the pause; `nil` if there is neither.
  var earliest: Int64? {
    guard let until = wait?.until else { return wish }
    return wish.map { max($0, until) } ?? until
  }

  /// Whether it was enqueued to be sent after `time`. A back-off is not meant: it is no wish.
  func isForLater(than time: Int64) -> Bool { state == .waiting && wish ?? .min > time }

  /// Whether it waits, has not failed, and nobody asked for a time, but its times are in the future: it was written
  /// while the clock was ahead.
  func isAhead(of time: Int64) -> Bool { state == .waiting && failures == 0 && wish == nil && notBefore > time }

  /// Whether it waits after an attempt that got no answer. Its `notBefore` is then the back-off of that attempt, not a
  /// time given by the application, which had passed before the attempt.
  var isUnanswered: Bool { state == .waiting && failures > 0 && lastError.map { $0.status == nil } ?? false }

  /// The entry after a reset: ready to be sent, as if it had never failed.
  func madeReady(now: Int64) -> ScheduleEntry {
    var entry = self
    entry.state = .waiting
    entry.begin(pause: 0, now: now)
    entry.failures = 0
    entry.ownFailures = nil
    entry.failedFor = nil
    entry.isSuspect = nil
    entry.interruptions = 0
    entry.parked = nil
    entry.holdsKey = nil
    return entry
  }

  /// Sets a pause of this many microseconds, which replaces any other.
  mutating func begin(pause length: Int64, now: Int64) {
    wished = wish
    pause = length
    notBefore = now.adding(length)
  }

  /// The entry after a worker claims it.
  func claimed(by lease: Lease) -> ScheduleEntry {
    var entry = self
    entry.wished = wish
    entry.state = .sending
    entry.lease = lease
    entry.attempts += 1
    return entry
  }
}

/// A stored payload. It is written once.
struct StoredUpload: Codable, Identifiable, Sendable {
  let id: UploadID
  /// The ordinal of the upload's ``ScheduleEntry``.
  let ordinal: Int64
  /// A value. An upload has either this, `json` or `file`.
  let value: DocumentValue?
  /// JSON text.
  let json: String?
  /// A reference to a file.
  let file: FileReference?
  /// The files that are sent with a value; `nil` for none. A program that does not know this field or `json` would send
  /// the value alone, or null, so a queue that uses one of them has a higher format version (``QueueState/format``).
  let files: [UploadFile]?

  init(_ id: UploadID, ordinal: Int64, _ payload: UploadPayload) {
    self.id = id
    self.ordinal = ordinal
    switch payload {
    case .value(let value): (self.value, json, file, files) = (value, nil, nil, nil)
    case .json(let json): (value, self.json, file, files) = (nil, String(decoding: json.bytes, as: UTF8.self), nil, nil)
    case .file(let reference): (value, json, file, files) = (nil, nil, reference, nil)
    case .document(let value, let files):
      (self.value, json, file, self.files) = (value, nil, nil, files.isEmpty ? nil : files)
    }
  }

  var payload: UploadPayload {
    if let file { return .file(file) }
    if let json { return .json(UploadJSON(unchecked: json)) }
    let value = value ?? .null
    return files.map { .document(value, files: $0) } ?? .value(value)
  }
}

extension StoredUpload {
  /// The size of the stored document of a JSON text, with an ordinal of one byte. Computed without encoding.
  static func byteCount(of json: UploadJSON) -> Int {
    byteCountWithoutText + DocumentEncoder.byteCount(ofTextWithUTF8Count: json.bytes.count)
  }

  private static let byteCountWithoutText: Int = {
    let empty = StoredUpload(UploadID(tick: 0, random: 0), ordinal: 0, .json(UploadJSON(unchecked: "")))
    guard let bytes = try? DocumentEncoder().encode(empty) else { preconditionFailure("an empty text can be encoded") }
    return bytes.count - DocumentEncoder.byteCount(ofTextWithUTF8Count: 0)
  }()
}

/// The last upload that was enqueued with a replace key.
struct Replacement: Codable, Identifiable, Sendable {
  /// The replace key.
  let id: String
  var ordinal: Int64
}

extension UploadState: QueryValue {}
