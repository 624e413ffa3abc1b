import Synchronization

/// A session that is about to be opened, which counts against the limit of open ones until it is.
///
/// A commit that fails may be run again, with other documents of the same user: the reservation moves with it, and what
/// is released is what this reservation holds, never another one's.
final class SessionReservation: Sendable {
  private let id: String
  private let limit: Int
  /// Guards where the reservation is held, if it is.
  private let holder = Mutex<UserDocuments?>(nil)

  /// - Parameters:
  ///   - id: The session that is about to be opened.
  ///   - limit: How many sessions may be open at once.
  init(_ id: String, limit: Int) {
    self.id = id
    self.limit = limit
  }

  /// Reserves the session among those of `documents`. Does nothing if it is reserved there.
  ///
  /// - Throws: `SetSessionError.tooMany`.
  func hold(in documents: UserDocuments) throws {
    let former = holder.withLock { $0 }
    if former === documents { return }
    try documents.index.withLock { try $0.reserve(id, limit: limit) }
    holder.withLock { $0 = documents }
    former?.index.withLock { $0.release(id) }
  }

  /// Gives the reservation back, if it was made.
  func release() {
    let documents = holder.withLock { holder in
      defer { holder = nil }
      return holder
    }
    documents?.index.withLock { $0.release(id) }
  }
}
