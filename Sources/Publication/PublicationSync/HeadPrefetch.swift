import CatalogHTTP
import PublicationFormat
import Synchronization

/// A place whose head, list of keys and signatures are asked for at once, before they are needed: on a slow line, one after
/// the other takes four times as long. Each is used once; a further request goes to the place.
final class HeadPrefetch: PublicationOrigin {
  private let place: any PublicationOrigin
  /// Guards the requests whose answer was not used yet.
  private let requests: Mutex<[String: Task<OriginContents, any Error>]>

  init(_ place: any PublicationOrigin) {
    self.place = place
    let files = [
      (PublicationHead.name, PublicationHead.byteLimit, false),
      (PublicationHead.signatureName, 2 * PublicationHead.byteLimit, false),
      (KeyList.name, KeyList.byteLimit, true), (KeyList.signatureName, 2 * KeyList.byteLimit, true),
    ]
    var requests: [String: Task<OriginContents, any Error>] = [:]
    for (name, limit, isFresh) in files {
      requests[name] = Task {
        try await place.contents(of: name, limit: limit, validators: nil, isFresh: isFresh)
      }
    }
    self.requests = Mutex(requests)
  }

  deinit { cancel() }

  /// Ends the requests whose answer nobody needed.
  func cancel() {
    let rest = requests.withLock { requests in
      defer { requests = [:] }
      return requests
    }
    for task in rest.values { task.cancel() }
  }

  var name: String { place.name }
  var traffic: (requests: Int, bytesIn: Int) { place.traffic }

  func contents(
    of name: String, limit: Int, validators: FileValidators?, isFresh: Bool
  ) async throws -> OriginContents {
    guard let task = requests.withLock({ $0.removeValue(forKey: name) }) else {
      return try await place.contents(of: name, limit: limit, validators: validators, isFresh: isFresh)
    }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  nonisolated(nonsending) func read(
    _ name: String, _ range: Range<Int>, isFresh: Bool, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> Bool {
    try await place.read(name, range, isFresh: isFresh, onPiece: onPiece)
  }
}
