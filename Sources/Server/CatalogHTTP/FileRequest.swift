/// What to get of a file.
package struct FileRequest: Sendable {
  /// The offset of the first byte.
  package var offset: Int
  /// The number of bytes, at least 1; `nil` for all bytes from the offset on.
  package var byteCount: Int?
  /// The validators of the copy that the caller has, so that the body is sent only if the file has changed.
  package var validators: FileValidators?
  /// The maximum number of bytes to take. A longer body is an error.
  package var limit: Int
  /// Whether caches must ask the origin before they answer.
  package var isFresh: Bool

  package init(
    offset: Int = 0, byteCount: Int? = nil, validators: FileValidators? = nil, limit: Int, isFresh: Bool = false
  ) {
    self.offset = offset
    self.byteCount = byteCount
    self.validators = validators
    self.limit = limit
    self.isFresh = isFresh
  }
}

/// What a server says about the version of a file.
package struct FileValidators: Sendable, Equatable {
  /// The `ETag`, with its quotes.
  package var etag: String?
  /// The `Last-Modified`, in the server's words.
  package var lastModified: String?

  package init(etag: String? = nil, lastModified: String? = nil) {
    self.etag = etag
    self.lastModified = lastModified
  }

  /// Whether two answers may be of the same version.
  func mayBeOfOneVersion(with other: FileValidators) -> Bool {
    if let etag, let otherTag = other.etag { return Self.opaque(etag) == Self.opaque(otherTag) }
    if let lastModified, let otherTime = other.lastModified { return lastModified == otherTime }
    return true
  }

  /// A tag without the mark of a weak one: the same file may get it on another way.
  private static func opaque(_ etag: String) -> Substring { etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...] }
}

/// The server's answer to the request of a file.
package enum FileAnswer: Sendable, Equatable {
  /// The file is the one of the request's validators.
  case notModified
  /// There is no such file, or it may not be read: 403, 404 or 410.
  case missing(status: Int, retryAfter: Duration?)
  /// The file ends before the first byte of the range.
  case rangeRefused
  /// The bytes that were asked for were passed on, all of them that the file has.
  case body(FileBody)
}

/// A body that was passed on.
package struct FileBody: Sendable, Equatable {
  /// The offset in the file at which the server's answer began: the one of the request, or 0 if the server ignored the
  /// range. The bytes that were passed on begin at the request's offset in both cases.
  package var start: Int
  /// Whether the server sent the whole file. If a range was asked for, the server ignored it.
  package var isWhole: Bool
  /// The number of bytes that were passed on. It is lower than that of the request if the file ends before.
  package var byteCount: Int
  /// The size of the file, if it is known.
  package var totalByteCount: Int?
  package var validators: FileValidators
  /// The server's time when it sent the answer, in seconds since 1970, if the answer has a valid `Date`.
  package var date: Int64?
  /// How many seconds the answer was in caches, if it has a valid `Age`.
  package var age: Int?

  package init(
    start: Int = 0, isWhole: Bool = true, byteCount: Int, totalByteCount: Int? = nil,
    validators: FileValidators = FileValidators(), date: Int64? = nil, age: Int? = nil
  ) {
    self.start = start
    self.isWhole = isWhole
    self.byteCount = byteCount
    self.totalByteCount = totalByteCount
    self.validators = validators
    self.date = date
    self.age = age
  }
}

/// An answer, and its body in memory.
package struct FileContents: Sendable, Equatable {
  package var answer: FileAnswer
  /// The bytes that were asked for; empty for an answer without a body.
  package var bytes: [UInt8]

  package init(answer: FileAnswer, bytes: [UInt8] = []) {
    self.answer = answer
    self.bytes = bytes
  }
}
