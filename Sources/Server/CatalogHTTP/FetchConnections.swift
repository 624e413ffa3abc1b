import CurlClient
import Synchronization

/// The connections of a transport's requests, and what they carried.
final class FetchConnections: Sendable {
  let client: HTTPClient
  /// Whether a later request may use the connection of an earlier one.
  let areKept: Bool
  /// Guards the counts.
  private let counts = Mutex((requests: 0, bytesIn: 0))

  init(areKept: Bool) {
    client = HTTPClient(keepsConnections: areKept)
    self.areKept = areKept
  }

  /// The requests that were begun, and the bytes of heads and bodies that were read.
  var traffic: (requests: Int, bytesIn: Int) { counts.withLock { $0 } }

  func countRequest() { counts.withLock { $0.requests += 1 } }

  func count(bytesIn: Int) { counts.withLock { $0.bytesIn += bytesIn } }
}
