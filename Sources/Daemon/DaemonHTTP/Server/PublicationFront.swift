import HTTPServer
import HTTPTypes
import NIOPosix
import ScanDaemon
import Storage

/// The files of the publication for neighbours: everything below `/publication/`, for reading. They are public by design.
struct PublicationFront: Sendable {
  /// The name of these requests in metrics.
  static let route = "/publication"
  private static let prefix = "/publication/"
  private static let pieceByteCount = 64 << 10

  private let mirror: PublicationMirror

  init(_ mirror: PublicationMirror) { self.mirror = mirror }

  /// Whether a request is for a file of the publication.
  static func takes(_ head: HTTPRequest) -> Bool { head.path?.hasPrefix(prefix) == true }

  /// Answers a request, whose host is checked.
  func respond(to request: HTTPRequest) async throws -> Response {
    guard [.get, .head, .options].contains(request.method) else {
      throw ErrorResponse(
        .methodNotAllowed, "methodNotAllowed", "files of the publication are read only",
        headers: [.allow: "GET, HEAD, OPTIONS"])
    }
    if request.method == .options {
      var answer = Response.noContent
      answer.headers[.allow] = "GET, HEAD, OPTIONS"
      return answer
    }
    let path = (request.path ?? "").prefix { $0 != "?" }.dropFirst(Self.prefix.count)
    switch try await mirror.contents(of: String(path)) {
    case .missing: throw ErrorResponse.notFound("this device does not have this file of the publication")
    case .busy:
      throw ErrorResponse(
        .serviceUnavailable, "beingFetched", "this device fetches the file itself: ask again in a moment",
        headers: [.retryAfter: "5"])
    case .bytes(let bytes, let etag):
      return Self.response(request, etag, byteCount: bytes.count, cacheControl: "no-cache") { range in
        { try await $0.write(Array(bytes[range])) }
      }
    case .file(let file, let byteCount, let etag):
      let cacheControl = "public, max-age=31536000, immutable"
      return Self.response(request, etag, byteCount: byteCount, cacheControl: cacheControl) { range in
        { writer in
          var offset = range.lowerBound
          while offset < range.upperBound {
            let (start, count) = (offset, min(Self.pieceByteCount, range.upperBound - offset))
            try await writer.write(NIOThreadPool.singleton.runIfActive { try file.read(count, at: start) })
            offset += count
          }
        }
      }
    }
  }

  private static func response(
    _ request: HTTPRequest, _ etag: String, byteCount: Int, cacheControl: String,
    _ write: (Range<Int>) -> @Sendable (BodyWriter) async throws -> Void
  ) -> Response {
    var headers: HTTPFields = [.eTag: etag, .cacheControl: cacheControl, .acceptRanges: "bytes"]
    if let known = request.headerFields[.ifNoneMatch], names(known, etag) {
      return Response(status: .notModified, headers: headers)
    }
    headers[.contentType] = "application/octet-stream"
    var range = 0..<byteCount
    var status = HTTPResponse.Status.ok
    let isSame = request.headerFields[.ifRange].map { $0 == etag } ?? true
    if isSame, let field = request.headerFields[.range], let asked = Self.range(field) {
      guard let part = asked.part(of: byteCount) else {
        headers[.contentRange] = "bytes */\(byteCount)"
        return Response(status: .rangeNotSatisfiable, headers: headers)
      }
      headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(byteCount)"
      range = part
      status = .partialContent
    }
    headers[.contentLength] = "\(range.count)"
    return Response(status: status, headers: headers, body: .stream(write(range)))
  }

  /// Whether a list of entity tags has one (RFC 9110, 13.1.2).
  private static func names(_ list: String, _ etag: String) -> Bool {
    let weak = "W/" + etag
    return list.split(separator: ",").contains { item in
      let name = item.filter { $0 != " " }
      return name == "*" || name == etag || name == weak
    }
  }

  /// One range of bytes (RFC 9110, 14.1.2).
  struct ByteRange: Equatable {
    var first: Int?
    var last: Int?

    /// The bytes of a file; `nil` if it has none of them.
    func part(of byteCount: Int) -> Range<Int>? {
      if let first {
        guard first < byteCount else { return nil }
        return first..<min(last ?? byteCount - 1, byteCount - 1) + 1
      }
      guard let last, last > 0, byteCount > 0 else { return nil }
      return max(0, byteCount - last)..<byteCount
    }
  }

  /// Reads the field `Range`; `nil` if it is to be ignored: another unit, several ranges, or none.
  static func range(_ field: String) -> ByteRange? {
    guard field.lowercased().hasPrefix("bytes=") else { return nil }
    let ends = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return nil }
    // A number that is too large is after the end of any file.
    let (first, last) = (ends[0].isEmpty ? nil : Int(ends[0]) ?? .max, ends[1].isEmpty ? nil : Int(ends[1]) ?? .max)
    if first == nil, last == nil { return nil }
    if let first, let last, last < first { return nil }
    return ByteRange(first: first, last: last)
  }
}
