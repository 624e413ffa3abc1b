public import DocumentFormat
public import Essentials

/// An upload in the queue, as a transport receives it and ``UploadQueue/upload(_:)`` returns it.
public struct Upload: Sendable, Equatable, Identifiable {
  /// The ID, the same at every attempt. A server detects duplicates by it.
  public let id: UploadID
  /// The application's name for this kind of upload: 1 to 200 bytes.
  public let kind: String
  /// The data to send.
  public let payload: UploadPayload
  /// The priority among uploads that are ready to be sent.
  public let priority: UploadPriority
  /// The order key. Uploads with the same key are sent one after another, in the order of enqueuing.
  public let orderKey: String?
  /// The replace key. A later upload with the same key replaces this one unless it is being sent.
  public let replaceKey: String?
  /// When it was enqueued. Times have a resolution of one microsecond.
  public let created: Date
  /// The earliest time at which it is sent: the time that was asked for, or the end of the pause after a failure; `nil`
  /// if it waits for neither.
  public let notBefore: Date?
  /// The time before which the application asked not to send it; `nil` if it asked for none.
  package let wished: Date?
  /// When it expires; `nil` if it never does.
  public let expires: Date?
  /// Its state when it was read.
  public let state: UploadState
  /// The number of attempts that have begun, including the current one.
  public let attempts: Int
  /// Why the last attempt failed; `nil` if none has failed.
  public let lastError: UploadFailure?
  /// When it was parked; `nil` if it is not parked, or was parked by a former version.
  public let parked: Date?
  /// Whether it is parked and later uploads with its order key wait until it is retried or dropped.
  public let holdsKey: Bool

  init(_ entry: ScheduleEntry, _ payload: UploadPayload) {
    id = entry.upload
    kind = entry.kind
    self.payload = payload
    priority = entry.priority
    orderKey = entry.orderKey
    replaceKey = entry.replaceKey
    created = Date(microseconds: entry.created)
    notBefore = entry.earliest.map(Date.init(microseconds:))
    wished = entry.wish.map(Date.init(microseconds:))
    expires = entry.expires.map(Date.init(microseconds:))
    state = entry.state
    attempts = entry.attempts
    lastError = entry.lastError
    parked = entry.parked.map(Date.init(microseconds:))
    holdsKey = entry.holdsKey ?? false
  }

  /// Decodes the payload as the type that was enqueued.
  ///
  /// - Throws: `DecodingError`; ``UploadQueueError/isFile(id:)`` for a file; `JSONError` if ``UploadJSON/value()``
  ///   throws it.
  public func decode<Payload: Decodable>(_ type: Payload.Type = Payload.self) throws -> Payload {
    let value: DocumentValue
    switch payload {
    case .value(let document), .document(let document, _): value = document
    case .json(let json): value = try json.value()
    case .file: throw UploadQueueError.isFile(id: id)
    }
    return try DocumentDecoder().decode(type, from: DocumentEncoder().encode(value))
  }
}

/// The data that an upload sends.
public enum UploadPayload: Sendable, Equatable {
  /// A value, stored in the queue.
  case value(DocumentValue)
  /// JSON text, stored in the queue and sent byte for byte.
  case json(UploadJSON)
  /// A reference to a file. A worker verifies that the file has not changed before it sends it.
  case file(FileReference)
  /// A value and files, for example a scan and its picture, sent in one request. Without a file it is equal to the
  /// value alone.
  case document(DocumentValue, files: [UploadFile])

  /// The value; `nil` for a file. JSON text is parsed at each call.
  public var document: DocumentValue? {
    switch self {
    case .value(let value), .document(let value, _): value
    case .json(let json): try? json.value()
    case .file: nil
    }
  }

  /// The value as it is sent: JSON text as it was enqueued, or the JSON encoding of a value; `nil` for a file.
  public var json: UploadJSON? {
    switch self {
    case .value(let value), .document(let value, _): UploadJSON(unchecked: value.json)
    case .json(let json): json
    case .file: nil
    }
  }

  /// The files.
  public var files: [FileReference] {
    switch self {
    case .value, .json: []
    case .file(let file): [file]
    case .document(_, let files): files.map(\.file)
    }
  }
}

/// The priority among uploads that are ready to be sent.
public enum UploadPriority: Int, Codable, Sendable, CaseIterable, Comparable {
  case low, normal, high

  /// Whether `b` is sent before `a` if both are ready.
  public static func < (a: UploadPriority, b: UploadPriority) -> Bool { a.rawValue < b.rawValue }
}

/// The state of an upload in the queue. A delivered upload is removed.
public enum UploadState: String, Codable, Sendable, CaseIterable {
  /// It waits for its time and its turn.
  case waiting
  /// A worker is sending it.
  case sending
  /// It failed permanently, or too often, and stays until it is retried or dropped.
  case parked
}

/// Why an attempt failed.
public struct UploadFailure: Codable, Sendable, Equatable, CustomStringConvertible {
  /// The server's status; `nil` if there was no answer.
  public let status: Int?
  /// A description for people: up to 500 characters.
  public let message: String

  /// Creates a failure.
  ///
  /// - Parameters:
  ///   - status: The server's status; `nil` if there was no answer.
  ///   - message: A description for people, truncated to 500 characters.
  public init(status: Int? = nil, message: String) {
    self.status = status
    // An error's text may contain an entire page from the server.
    self.message = String(message.prefix(500))
  }

  /// The message; the status is not part of it.
  public var description: String { message }
}

/// A server's response, as the transport returns it.
public struct UploadResponse: Sendable, Equatable {
  /// The HTTP status code.
  public var status: Int
  /// The delay that the server requests before the next attempt.
  public var retryAfter: Duration?
  /// A description of the failure for people.
  public var message: String?
  /// The body; `nil` unless the transport reads it for a success rule or a batch.
  public var body: UploadResponseBody?
  /// Whether the body is a web page (HTML) and the transport accepts none: a login page or a proxy answers in place of the
  /// server. Such a response never means success.
  package var isPage = false

  /// Creates a response. `status` is the HTTP status code, and `retryAfter` is `nil` if the server asks for no delay.
  public init(
    status: Int, retryAfter: Duration? = nil, message: String? = nil, body: UploadResponseBody? = nil
  ) {
    self.status = status
    self.retryAfter = retryAfter
    self.message = message
    self.body = body
  }
}

/// The body of a response.
public enum UploadResponseBody: Sendable, Equatable {
  /// The complete body.
  case complete([UInt8])
  /// The body was truncated, slow or too large. The text says which, as the end of a sentence about the body.
  case incomplete(String)
}

/// An error that a transport throws for an upload that can never succeed, whatever the server answers. The upload is
/// parked at once.
public struct UploadRefusal: Error, Sendable, CustomStringConvertible {
  /// The reason, for people.
  public let description: String

  /// Creates a refusal with the reason for people, which is stored with the parked upload.
  public init(_ description: String) { self.description = description }
}

/// An error that a transport throws while nothing can be sent to this destination, whatever the upload is. The
/// destination is paused and tried again now and then; no upload is parked because of it.
public struct UploadPause: Error, Sendable, CustomStringConvertible {
  /// The reason and the remedy, for people.
  public let description: String

  /// Creates a pause with the reason and the remedy for people.
  public init(_ description: String) { self.description = description }
}

extension Date {
  /// A date from microseconds since 1970.
  package init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1e6) }

  /// Microseconds since 1970, clamped to 64 bits.
  package var microseconds: Int64 {
    let value = (timeIntervalSince1970 * 1e6).rounded()
    return value.isNaN ? 0 : Int64(exactly: value) ?? (value < 0 ? .min : .max)
  }
}

extension Int64 {
  /// The sum, clamped to 64 bits.
  func adding(_ other: Int64) -> Int64 {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, clamped to 64 bits.
  func subtracting(_ other: Int64) -> Int64 {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (other < 0 ? .max : .min) : difference
  }
}
