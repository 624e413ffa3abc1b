import CurlClient
import HTTPSupport
import TextFormat

/// An answer of an S3-compatible store.
struct S3Answer: Sendable {
  let head: ResponseHead
  /// The object, or what explains a refusal.
  var body: [UInt8] = []
  /// The key of the request.
  var key = ""
  /// Whether an earlier attempt of this request may have been carried out, though its answer was lost.
  var mayHaveWritten = false

  init(_ head: ResponseHead) { self.head = head }

  var status: Int { head.status }

  /// The version of the object; `nil` if the answer names none.
  var version: String? {
    guard let tag = head["ETag"], !tag.isEmpty else { return nil }
    // A proxy that compresses makes it a weak one, which no condition could name.
    return tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
  }

  var refusal: S3Refusal {
    if (200...299).contains(status) { return S3Refusal(status: status) }
    return S3Refusal(status: status, code: element("Code") ?? "", message: element("Message") ?? "")
  }

  /// The region in which the bucket lies, if the answer tells; only answers that refuse do.
  var region: String? {
    if (200...299).contains(status) { return nil }
    return (head["x-amz-bucket-region"] ?? element("Region")).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether the same request may succeed later.
  var mayPass: Bool {
    if [429, 500, 502, 503, 504].contains(status) { return true }
    return ["RequestTimeout", "ConditionalRequestConflict", "OperationAborted"].contains(refusal.code)
  }

  /// Whether the server no longer takes the session token.
  var hasSessionEnded: Bool { ["ExpiredToken", "TokenRefreshRequired"].contains(refusal.code) }

  func retryAfter(now: Int64) -> Duration? {
    head["Retry-After"].flatMap { RetryAfter.duration($0, sent: head["Date"], now: now) }
  }

  /// The text of the first element of a name, in one line, not too long; `nil` if there is none.
  ///
  /// The answers are small and flat. What does not look like one of them explains nothing.
  private func element(_ name: String) -> String? {
    let text = String(decoding: body, as: UTF8.self)
    guard let start = text.firstRange(of: "<\(name)>"),
      let end = text[start.upperBound...].firstRange(of: "</\(name)>")
    else { return nil }
    var value = String(text[start.upperBound..<end.lowerBound])
    for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
      value = value.replacing(entity, with: character)
    }
    return String(TerminalText.shown(value).prefix(300))
  }
}
