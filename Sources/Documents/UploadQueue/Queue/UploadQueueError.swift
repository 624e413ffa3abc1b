package import Platform

/// An error of an upload queue. If one is thrown, nothing has changed except the count of refusals.
public enum UploadQueueError: Error, Sendable, Equatable {
  // MARK: The caller's input and the queue's state

  /// The queue is full, and its policy is to refuse new uploads.
  case full(queue: String, count: Int, byteCount: Int)
  /// A payload exceeds the size limit.
  case payloadTooLarge(byteCount: Int, limit: Int)
  /// A kind is empty or longer than 200 bytes, or a key is longer than 1024 bytes.
  case text(what: String, byteCount: Int)
  /// A form field has a name or a media type that cannot be sent.
  case field(name: String, contentType: String)
  /// A queue's name is empty, longer than 100 bytes, or has a slash or a control character.
  case name(String)
  /// No upload has this ID: it was delivered or dropped, or never existed.
  case unknown(id: UploadID)
  /// A worker is sending the upload.
  case isBeingSent(id: UploadID)
  /// The upload is a file and has no payload to decode.
  case isFile(id: UploadID)
  /// A later version of the program wrote the queue in a higher format version.
  case format(queue: String, found: Int)

  // MARK: Files

  /// A file to send cannot be read.
  case unreadable(path: String, reason: String)
  /// A file to send has changed since it was enqueued.
  case changed(path: String)

  // MARK: Workers

  /// The queue already has the maximum number of workers.
  case tooManyWorkers(queue: String, limit: Int)
}

extension UploadQueueError: CustomStringConvertible {
  /// What was refused, why, and what to do, for people.
  public var description: String {
    switch self {
    case .full(let queue, let count, let byteCount):
      "the queue \(queue) is full: \(count) uploads of \(byteCount) bytes wait; let it run, or drop some"
    case .payloadTooLarge(let byteCount, let limit):
      "a payload of \(byteCount) bytes is more than the \(limit) that one may have; enqueue a file"
    case .text(let what, let byteCount):
      "\(what) has \(byteCount) bytes: a kind has 1 to 200, a key up to 1024"
    case .field(let name, let contentType):
      "a file's field \(name.debugDescription) of the type \(contentType.debugDescription) cannot be sent: both have 1 to 200 bytes"
        + " without control characters, and a type is ASCII"
    case .name(let name): "\"\(name)\" is not a valid queue name: 1 to 100 bytes, no slash, no control character"
    case .unknown(let id): "there is no upload \(id) in the queue: it arrived, or was dropped"
    case .isBeingSent(let id): "upload \(id) is being sent; try again when the attempt has ended"
    case .isFile(let id): "upload \(id) is a file and has no value"
    case .format(let queue, let found):
      "the queue \(queue) has the form \(found), and this program knows \(QueueState.currentFormat): use a later version"
    case .unreadable(let path, let reason): "\(path) cannot be read: \(reason)"
    case .changed(let path): "\(path) is not the file that was enqueued: its length or its content changed"
    case .tooManyWorkers(let queue, let limit): "\(limit) workers have the queue \(queue) already; end one"
    }
  }
}

extension UploadQueueError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    switch self {
    case .unknown: .no
    case .text, .field, .name: .usage
    case .payloadTooLarge, .isFile, .changed, .format: .data
    case .unreadable: .noInput
    case .full, .isBeingSent, .tooManyWorkers: .temporary
    }
  }

  /// What a server answers to a request that fails because of it.
  package var refusal: Refusal {
    switch self {
    case .unknown: .notFound
    case .isBeingSent: .conflict("isBeingSent")
    case .full, .tooManyWorkers, .format: .unavailable("queueUnavailable")
    case .payloadTooLarge, .text, .field, .name, .isFile, .unreadable, .changed: .failure
    }
  }
}
