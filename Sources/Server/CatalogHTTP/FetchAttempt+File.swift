import HTTPSupport

extension FetchAttempt {
  /// The part of a file that an answer has.
  private struct FilePart {
    /// The offset of its first byte.
    var start = 0
    /// The offset after its last byte; `nil` if only the end of the body shows it.
    var end: Int?
    /// The size of the file.
    var total: Int?
  }

  /// Reads the answer to the request of a file, and passes the wanted bytes of a body on.
  ///
  /// - Throws: `AttemptFailure`; `CancellationError`; the closure's error.
  nonisolated(nonsending) func readFile(
    _ answer: Answer, _ progress: inout FileProgress, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> FileAnswer {
    let status = answer.head.status
    if [200, 206].contains(status) { return try await readFileBody(answer, &progress, onPiece: onPiece) }
    // The connection is usable for another request once the page was read.
    _ = await beginning(of: answer.body, atMost: 65_536)
    switch status {
    case 304: return .notModified
    case 416:
      guard progress.hasBegun else { return .rangeRefused }
      // A body without a length that was cut after its last byte.
      let size = answer.head["Content-Range"].flatMap { ContentRange.total(ofRefusal: $0) }
      guard let size, size == progress.position else { throw changed(answer) }
      progress.finish(size: size)
      return try result(progress, answer)
    default: return .missing(status: status, retryAfter: retryAfter(answer.head))
    }
  }

  nonisolated(nonsending) private func readFileBody(
    _ answer: Answer, _ progress: inout FileProgress, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> FileAnswer {
    let url = answer.url
    let part = try part(of: answer, progress)
    guard progress.begin(description(of: answer, part)) else { throw changed(answer) }
    let request = progress.request
    let tooLong = failure(.bodyTooLong(url: shown(url), maximum: request.limit))
    if let end = part.end {
      if request.offset > 0, request.offset >= end { return .rangeRefused }
      if min(end, progress.end ?? end) - progress.position > progress.left { throw tooLong }
    }
    var offset = part.start
    var rate = RateGuard(bytesPerSecond: options.minimumRate, window: options.minimumRateWindow)
    while let piece = try await nextPiece(
      of: answer, &rate, received: offset - part.start, expected: part.end.map { $0 - part.start })
    {
      if let end = part.end, piece.count > end - offset {
        throw misunderstanding(url, "it has more bytes than its Content-Range")
      }
      let wanted = progress.wanted(at: offset, byteCount: piece.count)
      guard wanted.count <= progress.left else { throw tooLong }
      offset += piece.count
      if !wanted.isEmpty {
        try onPiece(piece.span.extracting(wanted))
        progress.add(wanted.count)
      }
      // The rest of a file whose server ignored the range is not read.
      if let end = progress.end, progress.position >= end, offset != part.end { return try result(progress, answer) }
    }
    if let end = part.end {
      guard offset == end else { throw cutShort(url, received: offset - part.start, expected: end - part.start) }
    } else {
      if request.offset > 0, request.offset >= offset { return .rangeRefused }
      guard offset >= progress.position else { throw changed(answer) }
      progress.finish(size: offset)
    }
    return try result(progress, answer)
  }

  /// The part of the file that an answer has, verified against the request.
  private func part(of answer: Answer, _ progress: FileProgress) throws(AttemptFailure) -> FilePart {
    let (head, url) = (answer.head, answer.url)
    let coding = head["Content-Encoding"] ?? ""
    guard ["", "identity"].contains(coding.lowercased()) else {
      let reason = "its Content-Encoding is \(coding.prefix(40)), which was not asked for; does a proxy compress?"
      throw misunderstanding(url, reason)
    }
    let length = try contentLength(of: answer)
    guard head.status == 206 else { return FilePart(end: length, total: length) }
    guard progress.asksRange else { throw misunderstanding(url, "206 and a part, but the whole file was asked for") }
    guard head["Content-Type"]?.lowercased().hasPrefix("multipart/byteranges") != true else {
      throw misunderstanding(url, "206 and several parts, but one was asked for")
    }
    guard let text = head["Content-Range"] else { throw misunderstanding(url, "206 without Content-Range") }
    guard let range = ContentRange(text), progress.isWanted(range) else {
      let wanted = "\(progress.position)-\(progress.end.map { String($0 - 1) } ?? "")"
      throw misunderstanding(url, "Content-Range is \(text.prefix(60)), but the bytes \(wanted) were asked for")
    }
    let count = range.end - range.start
    guard length == nil || length == count else {
      throw misunderstanding(url, "Content-Length is \(length ?? 0), but Content-Range has \(count) bytes")
    }
    return FilePart(start: range.start, end: range.end, total: range.total)
  }

  private func description(of answer: Answer, _ part: FilePart) -> FileBody {
    let head = answer.head
    let isAge = head["Age"]?.utf8.allSatisfy { (0x30...0x39).contains($0) } ?? false
    return FileBody(
      start: part.start, isWhole: head.status == 200, byteCount: 0, totalByteCount: part.total,
      validators: FileValidators(etag: head["ETag"], lastModified: head["Last-Modified"]),
      date: head["Date"].flatMap { RetryAfter.secondsSince1970($0) },
      age: isAge ? head["Age"].flatMap { Int($0) } : nil)
  }

  private func result(_ progress: FileProgress, _ answer: Answer) throws(AttemptFailure) -> FileAnswer {
    guard let body = progress.body else { throw changed(answer) }
    return .body(body)
  }

  private func changed(_ answer: Answer) -> AttemptFailure {
    misunderstanding(answer.url, "the file changed while it was fetched")
  }
}
