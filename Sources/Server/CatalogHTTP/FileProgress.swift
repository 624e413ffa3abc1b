import HTTPSupport

/// What was passed on of a file so far, over all attempts of a request.
///
/// Invariant: the bytes from the request's offset to ``position`` were passed on, each once.
struct FileProgress {
  let request: FileRequest
  /// The body so far; `nil` before the first answer with one.
  private(set) var body: FileBody?

  init(_ request: FileRequest) {
    precondition(request.offset >= 0, "offset: a file begins at 0")
    precondition(request.byteCount.map { $0 > 0 } ?? true, "byteCount: a range has at least one byte")
    precondition(request.limit >= 0, "limit is a count of bytes")
    self.request = request
  }

  private var byteCount: Int { body?.byteCount ?? 0 }
  /// How many bytes may follow.
  var left: Int { request.limit - byteCount }
  /// Whether bytes were passed on.
  var hasBegun: Bool { byteCount > 0 }
  /// The offset in the file of the next byte to pass on.
  var position: Int { request.offset + byteCount }
  /// The offset after the last byte that is wanted; `nil` for the end of the file.
  var end: Int? {
    // A range that ends after all numbers ends with the file.
    request.byteCount.flatMap { count in
      let (end, overflows) = request.offset.addingReportingOverflow(count)
      return overflows ? nil : end
    }
  }
  /// Whether the next attempt asks for a part of the file.
  var asksRange: Bool { position > 0 || end != nil }
  /// Whether the last byte that is wanted was passed on.
  var isComplete: Bool {
    guard let body else { return false }
    let ends = [end, body.totalByteCount].compactMap { $0 }
    return ends.contains { position >= $0 }
  }

  // MARK: Request

  /// The headers of the next attempt that say what is wanted.
  var headers: [(name: String, value: String)] {
    var headers = [(name: "Accept-Encoding", value: "identity")]
    if asksRange { headers.append(("Range", "bytes=\(position)-\(end.map { String($0 - 1) } ?? "")")) }
    if let condition { headers.append(condition) }
    if request.isFresh { headers.append(("Cache-Control", "no-cache")) }
    return headers
  }

  /// The statuses that answer the next attempt.
  var acceptedStatuses: Set<Int> {
    var statuses: Set = [200, 206, 403, 404, 410]
    if asksRange { statuses.insert(416) }
    if condition != nil { statuses.insert(304) }
    return statuses
  }

  /// The header that asks for news only. A validator that cannot be sent, as of a damaged file, is left out.
  private var condition: (name: String, value: String)? {
    guard !hasBegun, let validators = request.validators else { return nil }
    let fields = [("If-None-Match", validators.etag), ("If-Modified-Since", validators.lastModified)]
    for case (let name, let value?) in fields
    where !value.isEmpty && HeaderField.isSendable(name: name, value: value, own: []) { return (name, value) }
    return nil
  }

  // MARK: Answer

  /// Whether a part of a file is the one that the last attempt asked for. It may end before, where the file ends.
  func isWanted(_ range: ContentRange) -> Bool {
    guard range.start == position else { return false }
    switch (end, range.total) {
    case (let end?, let total?): return range.end == min(end, total)
    case (let end?, nil): return range.end == end
    case (nil, let total?): return range.end == total
    case (nil, nil): return true
    }
  }

  /// Takes the description of an answer, before its first byte.
  ///
  /// - Returns: Whether it can be of the version of which bytes were passed on.
  mutating func begin(_ answer: FileBody) -> Bool {
    guard var first = body, hasBegun else {
      body = answer
      return true
    }
    let size = answer.totalByteCount ?? first.totalByteCount
    guard first.validators.mayBeOfOneVersion(with: answer.validators), (first.totalByteCount ?? size) == size,
      size.map({ position <= $0 }) ?? true
    else { return false }
    first.totalByteCount = size
    first.isWhole = first.isWhole || answer.isWhole
    body = first
    return true
  }

  /// The indices of the bytes to pass on, of a piece that lies at an offset of the file.
  func wanted(at offset: Int, byteCount: Int) -> Range<Int> {
    let last = min(byteCount, max(0, (end ?? .max) - offset))
    return min(last, max(0, position - offset))..<last
  }

  /// Counts bytes that were passed on.
  mutating func add(_ count: Int) { body?.byteCount += count }

  /// Takes the size of the file, which an answer without a length shows at its end.
  mutating func finish(size: Int) { body?.totalByteCount = size }
}
