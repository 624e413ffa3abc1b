public import DocumentFormat

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One thing that is to arrive at a server, as a transport gets it and as ``UploadQueue/upload(_:)`` shows it.
public struct Upload: Sendable, Equatable, Identifiable {
  /// The same at every attempt: what a server tells a repetition by.
  public let id: UploadID
  /// What it is, in the application's words; 1 to 200 bytes.
  public let kind: String
  /// What is sent.
  public let payload: UploadPayload
  /// Whether it goes before or behind others that may go.
  public let priority: UploadPriority
  /// Uploads with the same key go one after another, in the order in which they were enqueued.
  public let orderKey: String?
  /// A later upload with the same key takes this one's place while it is not being sent.
  public let replaceKey: String?
  /// When it was enqueued; times are to the microsecond.
  public let created: Date
  /// It does not go before.
  public let notBefore: Date
  /// When it is given up; `nil` for never.
  public let expires: Date?
  /// Where it stood when it was read.
  public let state: UploadState
  /// Attempts that have begun, the present one among them.
  public let attempts: Int
  /// Why the last attempt failed.
  public let lastError: UploadFailure?
  /// When it was parked; `nil` where it is not, or was by a former version.
  public let parked: Date?
  /// Whether it is parked and later uploads with its order key wait until somebody decides about it.
  public let holdsKey: Bool

  init(_ entry: ScheduleEntry, _ payload: UploadPayload) {
    id = entry.upload
    kind = entry.kind
    self.payload = payload
    priority = entry.priority
    orderKey = entry.orderKey
    replaceKey = entry.replaceKey
    created = Date(microseconds: entry.created)
    notBefore = Date(microseconds: entry.notBefore)
    expires = entry.expires.map(Date.init(microseconds:))
    state = entry.state
    attempts = entry.attempts
    lastError = entry.lastError
    parked = entry.parked.map(Date.init(microseconds:))
    holdsKey = entry.holdsKey ?? false
  }

  /// The payload as the type that was enqueued.
  ///
  /// - Throws: `DecodingError`; ``UploadQueueError/isFile(id:)`` for a file; `JSONError` where ``UploadJSON/value()`` throws.
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

/// What is sent.
public enum UploadPayload: Sendable, Equatable {
  /// A value, kept in the queue.
  case value(DocumentValue)
  /// JSON text, kept in the queue and sent byte for byte.
  case json(UploadJSON)
  /// A file that stays where it is; a worker checks that it is still the same before it sends it.
  case file(FileReference)
  /// A value and files, which arrive together or not at all: a scan and its picture. Without a file it is the value alone.
  case document(DocumentValue, files: [UploadFile])

  /// The value, if there is one. JSON text is read anew at each call.
  public var document: DocumentValue? {
    switch self {
    case .value(let value), .document(let value, _): value
    case .json(let json): try? json.value()
    case .file: nil
    }
  }

  /// The value as it is sent, if there is one: JSON text as it was enqueued, or the JSON of a value.
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

/// Which of two uploads goes first, where nothing else decides.
public enum UploadPriority: Int, Codable, Sendable, CaseIterable, Comparable {
  case low, normal, high

  public static func < (a: UploadPriority, b: UploadPriority) -> Bool { a.rawValue < b.rawValue }
}

/// Where an upload stands. One that arrived is gone.
public enum UploadState: String, Codable, Sendable, CaseIterable {
  /// It goes when its time and its turn come.
  case waiting
  /// A worker has it.
  case sending
  /// It failed for good, or too often, and stays until somebody decides.
  case parked
}

/// Why an attempt failed.
public struct UploadFailure: Codable, Sendable, Equatable, CustomStringConvertible {
  /// The server's status; `nil` where there was no answer.
  public let status: Int?
  /// For people: up to 500 characters.
  public let message: String

  /// - Parameters:
  ///   - status: the server's, if there was one.
  ///   - message: longer than 500 characters it is cut.
  public init(status: Int? = nil, message: String) {
    self.status = status
    // An error's text may hold a whole page of the server.
    self.message = String(message.prefix(500))
  }

  public var description: String { message }
}

/// What a server said.
public struct UploadResponse: Sendable, Equatable {
  /// As in HTTP.
  public var status: Int
  /// How long the server asks to wait.
  public var retryAfter: Duration?
  /// What a person may want to read where it failed.
  public var message: String?
  /// The body, where the transport read it for a success rule or a batch.
  public var body: UploadResponseBody?

  public init(
    status: Int, retryAfter: Duration? = nil, message: String? = nil, body: UploadResponseBody? = nil
  ) {
    self.status = status
    self.retryAfter = retryAfter
    self.message = message
    self.body = body
  }
}

/// The body of an answer.
public enum UploadResponseBody: Sendable, Equatable {
  /// All of it.
  case complete([UInt8])
  /// It was cut off, took too long or is too large; which of these, as the end of a sentence about it.
  case incomplete(String)
}

/// What a transport throws for an upload that cannot pass, whatever the server says: it is parked at once.
public struct UploadRefusal: Error, Sendable, CustomStringConvertible {
  /// Why, for people.
  public let description: String

  public init(_ description: String) { self.description = description }
}

extension Date {
  init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1e6) }

  /// Microseconds since 1970, those of moments too far away cut to what 64 bits hold.
  var microseconds: Int64 {
    let value = (timeIntervalSince1970 * 1e6).rounded()
    return value.isNaN ? 0 : Int64(exactly: value) ?? (value < 0 ? .min : .max)
  }
}

extension Int64 {
  /// The sum, or the number nearest to it.
  func adding(_ other: Int64) -> Int64 {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }
}
