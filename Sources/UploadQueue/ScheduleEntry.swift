import DocumentFormat

/// Everything about an upload but its payload: a small document, so that what changes with each attempt is cheap to write,
/// and what a worker must know of all that wait is cheap to read.
struct ScheduleEntry: Codable, Identifiable, Sendable, Equatable {
  /// Who has it.
  struct Lease: Codable, Sendable, Hashable {
    /// The lock that its worker holds.
    var slot: Int
    /// Tells the worker from others that had that lock before.
    var holder: Int64
  }

  /// The position in the order of the queue.
  let id: Int64
  let upload: UploadID
  let kind: String
  var state = UploadState.waiting
  let priority: UploadPriority
  let orderKey: String?
  let replaceKey: String?
  /// This and what follows: microseconds since 1970.
  let created: Int64
  var notBefore: Int64
  let expires: Int64?
  /// Of the payload.
  let byteCount: Int
  /// Attempts that began.
  var attempts = 0
  /// Attempts that failed since it was enqueued, or since somebody asked to try again.
  var failures = 0
  /// Those of them that count against the upload itself and not its destination; `nil` for none.
  var ownFailures: Int?
  /// Attempts whose worker ended on the way.
  var interruptions = 0
  /// When somebody last asked to try again: workers stop sparing its destination then.
  var retried: Int64?
  var lastError: UploadFailure?
  var lease: Lease?
  /// When it was parked; `nil` where it is not, or was by a former version.
  var parked: Int64?
  /// Whether it is parked and later uploads with its order key wait until somebody decides about it; `nil` for false.
  var holdsKey: Bool?

  /// What tells which uploads go one after another: the order key, or the upload alone. No two kinds of lanes have one name.
  var lane: String { orderKey.map { "key " + $0 } ?? "upload \(id)" }

  /// Whether it waits, and the last attempt failed without an answer. A moment before which it may not go is then that
  /// attempt's pause, and nobody's wish: such a one was over before the attempt.
  var isUnanswered: Bool { state == .waiting && failures > 0 && lastError.map { $0.status == nil } ?? false }

  /// The entry of an upload that goes as if it had never failed.
  func letGo(now: Int64) -> ScheduleEntry {
    var entry = self
    entry.state = .waiting
    entry.notBefore = now
    entry.failures = 0
    entry.ownFailures = nil
    entry.interruptions = 0
    entry.parked = nil
    entry.holdsKey = nil
    return entry
  }

  /// The entry of an upload that a worker takes.
  func claimed(by lease: Lease) -> ScheduleEntry {
    var entry = self
    entry.state = .sending
    entry.lease = lease
    entry.attempts += 1
    return entry
  }
}

/// A payload. It is written once.
struct StoredUpload: Codable, Identifiable, Sendable {
  let id: UploadID
  /// The ``ScheduleEntry`` of the upload.
  let ordinal: Int64
  /// One of these: a value, …
  let value: DocumentValue?
  /// … JSON text, …
  let json: String?
  /// … or a file; …
  let file: FileReference?
  /// … and the files that go with a value; `nil` for none. A program that does not know these or `json` would send the value alone,
  /// or null: a queue that has some has another form (``QueueState/format``).
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
  /// The bytes of the document of a JSON text, with an ordinal of one byte; computed, not encoded.
  static func byteCount(of json: UploadJSON) -> Int {
    byteCountWithoutText + DocumentEncoder.byteCount(ofTextWithUTF8Count: json.bytes.count)
  }

  private static let byteCountWithoutText: Int = {
    let empty = StoredUpload(UploadID(tick: 0, random: 0), ordinal: 0, .json(UploadJSON(unchecked: "")))
    guard let bytes = try? DocumentEncoder().encode(empty) else { preconditionFailure("an empty text can be encoded") }
    return bytes.count - DocumentEncoder.byteCount(ofTextWithUTF8Count: 0)
  }()
}

/// Which upload has a replace key: the last one that was enqueued with it.
struct Replacement: Codable, Identifiable, Sendable {
  /// The key.
  let id: String
  var ordinal: Int64
}

extension UploadState: QueryValue {}
