import Bytes
import CatalogHTTP
import Platform
import PublicationSync
import Synchronization
import UploadQueue

/// A mirror, for one synchronisation. While it says that it fetches a file itself (503), it is asked again: else all of its
/// neighbours would fetch that file over the line that they share.
final class MirrorOrigin: PublicationOrigin {
  /// How long a mirror may take for all files that it has to fetch.
  static let patience: Duration = .seconds(120)
  static let pause: Duration = .seconds(5)

  private let transport: FileTransport
  private let time: QueueEnvironment
  /// How long this mirror has been waited for.
  private let waited = Mutex(Duration.zero)

  init(_ transport: FileTransport, _ time: QueueEnvironment) {
    self.transport = transport
    self.time = time
  }

  var name: String { transport.name }
  var traffic: (requests: Int, bytesIn: Int) { transport.traffic }

  func contents(
    of name: String, limit: Int, validators: FileValidators?, isFresh: Bool
  ) async throws -> OriginContents {
    var request = FileRequest(limit: limit)
    request.validators = validators
    request.isFresh = isFresh
    var bytes: [UInt8] = []
    switch try await answer(name, request, onPiece: { bytes.append(copying: $0) }) {
    case .notModified: return .unchanged
    case .missing(let status, _): return .missing(status: status)
    case .rangeRefused: return .missing(status: 416)
    case .body(let body): return .bytes(bytes, body.validators)
    }
  }

  nonisolated(nonsending) func read(
    _ name: String, _ range: Range<Int>, isFresh: Bool, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> Bool {
    var request = FileRequest(limit: range.count)
    request.offset = range.lowerBound
    request.byteCount = range.count
    request.isFresh = isFresh
    guard case .body(let body) = try await answer(name, request, onPiece: onPiece) else { return false }
    return body.byteCount == range.count
  }

  nonisolated(nonsending) private func answer(
    _ name: String, _ request: FileRequest, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> FileAnswer {
    while true {
      let began = time.uptime()
      do { return try await transport.get(name, request, onPiece: onPiece) } catch let error as TransportError {
        guard case .refused(_, 503, _, _) = error, name.hasPrefix("objects/") else {
          throw PublicationFailure.unavailable("\(error)")
        }
        try await pause(since: began, error)
      }
    }
  }

  /// Waits until the mirror may have the file.
  private func pause(since began: Int64, _ error: TransportError) async throws {
    let passed = Duration.microseconds(time.uptime() - began)
    let isOver = waited.withLock { waited in
      waited += passed + Self.pause
      return waited > Self.patience
    }
    if isOver { throw PublicationFailure.unavailable("\(error)") }
    try await time.sleep(Self.pause * (1 + 0.25 * time.fraction()))
  }
}
