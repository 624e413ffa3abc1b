/// A change of the signed-in user.
public struct WorkspaceChange: Sendable {
  /// The ID of the user who was signed in before; `nil` if none was.
  public let previous: String?
  /// The ID of the user who is signed in now; `nil` if none is. Equal to ``previous`` if the same user signed in again
  /// and has new stores.
  public let current: String?
}

/// An asynchronous sequence of sign-ins and sign-outs by any process, from the time at which iteration begins. Changes
/// between two calls of `next()` are merged. It ends when the workspace is closed.
public struct WorkspaceChanges: AsyncSequence, Sendable {
  /// The user before and after the change.
  public typealias Element = WorkspaceChange

  let signedIn: SignedIn

  /// Begins an iteration over the changes from now on.
  public func makeAsyncIterator() -> Iterator { Iterator(signedIn) }

  /// An iterator that waits for the next sign-in or sign-out.
  public struct Iterator: AsyncIteratorProtocol {
    private let signedIn: SignedIn
    private var signals: AsyncStream<Void>.Iterator
    private var seen: UserStores?

    init(_ signedIn: SignedIn) {
      self.signedIn = signedIn
      signals = signedIn.observers.signals().makeAsyncIterator()
      seen = (try? signedIn.refresh()) ?? nil
    }

    /// The next change.
    ///
    /// - Returns: `nil` when the workspace was closed.
    /// - Throws: `WorkspaceError.settings`, `.store`.
    public mutating func next() async throws -> WorkspaceChange? {
      while await signals.next() != nil {
        let now: UserStores?
        do { now = try signedIn.refresh() } catch WorkspaceError.closed { return nil }
        if now === seen { continue }
        defer { seen = now }
        return WorkspaceChange(previous: seen?.user, current: now?.user)
      }
      return nil
    }
  }
}
