/// Another user is signed in than before, or nobody.
public struct WorkspaceChange: Sendable {
  /// Who was signed in; `nil` for nobody.
  public let previous: String?
  /// Who is; `nil` for nobody. The same as ``previous`` where a user signed in again, whose stores are new ones.
  public let current: String?
}

/// Tells of each sign-in and sign-out by any process, from the moment on in which somebody begins to listen; those that nobody
/// waited for are told as one. It ends when the workspace is closed.
public struct WorkspaceChanges: AsyncSequence, Sendable {
  public typealias Element = WorkspaceChange

  let signedIn: SignedIn

  public func makeAsyncIterator() -> Iterator { Iterator(signedIn) }

  public struct Iterator: AsyncIteratorProtocol {
    private let signedIn: SignedIn
    private var signals: AsyncStream<Void>.Iterator
    private var seen: UserStores?

    init(_ signedIn: SignedIn) {
      self.signedIn = signedIn
      signals = signedIn.observers.signals().makeAsyncIterator()
      seen = (try? signedIn.look()) ?? nil
    }

    /// - Returns: `nil` when the workspace was closed.
    /// - Throws: `WorkspaceError.settings`, `.store`.
    public mutating func next() async throws -> WorkspaceChange? {
      while await signals.next() != nil {
        let now: UserStores?
        do { now = try signedIn.look() } catch WorkspaceError.closed { return nil }
        if now === seen { continue }
        defer { seen = now }
        return WorkspaceChange(previous: seen?.user, current: now?.user)
      }
      return nil
    }
  }
}
