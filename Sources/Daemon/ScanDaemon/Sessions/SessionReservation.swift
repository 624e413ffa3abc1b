import Synchronization

/// A reservation for a session that is about to be opened, which counts against the limit of open sessions until the
/// session is open.
///
/// A commit that fails may run again, on other documents of the same user. The reservation then moves with it.
/// Releasing it releases only what this reservation holds, never another one's.
final class SessionReservation: Sendable {
  private let id: String
  private let limit: Int
  /// Guards the documents that the reservation is held in, if any.
  private let holder = Mutex<UserDocuments?>(nil)

  /// - Parameters:
  ///   - id: The session that is about to be opened.
  ///   - limit: How many sessions may be open at once.
  init(_ id: String, limit: Int) {
    self.id = id
    self.limit = limit
  }

  /// Reserves the session in `documents`. Does nothing if it is already reserved there.
  ///
  /// - Throws: `SetSessionError.tooMany`.
  func hold(in documents: UserDocuments) throws {
    let former = holder.withLock { $0 }
    if former === documents { return }
    try documents.index.withLock { try $0.reserve(id, limit: limit) }
    holder.withLock { $0 = documents }
    former?.index.withLock { $0.release(id) }
  }

  /// Releases the reservation, if it is held.
  func release() {
    let documents = holder.withLock { holder in
      defer { holder = nil }
      return holder
    }
    documents?.index.withLock { $0.release(id) }
  }
}
