import JSONFormat
import ServiceLifecycle
import Synchronization
import Workspace

/// A service that publishes each sign-in and sign-out, by this process or another one.
final class UserWatch: Service {
  private let access: CatalogueAccess
  private let events: EventLog
  private let problems: Problems
  private let environment: DaemonEnvironment
  private let onChange: @Sendable () -> Void
  private struct Published {
    var user: String?
    /// The stores of the user; the default stores are always the same object.
    weak var stores: UserStores?
  }
  /// The user that was published last.
  private let published: Mutex<Published>

  init(
    _ access: CatalogueAccess, _ events: EventLog, _ problems: Problems, _ environment: DaemonEnvironment,
    onChange: @escaping @Sendable () -> Void
  ) {
    self.access = access
    self.events = events
    self.problems = problems
    self.environment = environment
    self.onChange = onChange
    let stores = try? access.stores()
    published = Mutex(Published(user: stores?.user, stores: stores))
  }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do {
          // Listen before the first check, so that no sign-in between the two is missed.
          var changes = self.access.workspace.changes.makeAsyncIterator()
          try self.look()
          self.problems.clear(.usersUnreadable)
          while try await changes.next() != nil {
            try self.look()
            self.problems.clear(.usersUnreadable)
          }
        } catch {
          if !Task.isCancelled { self.problems.note(.usersUnreadable, "\(error)") }
        }
        try? await self.environment.time.sleep(.seconds(1))
      }
    }
  }

  /// Checks which user is signed in, and publishes a change. A user who was removed and signed in again is the same
  /// user with other stores.
  func look() throws {
    let stores = try access.stores()
    let (isNews, isNew, previous) = published.withLock { published in
      // Byte by byte: a String's `==` treats canonically equivalent Unicode texts as equal.
      let isNews = UserDocumentsTable.Key(published.user) != UserDocumentsTable.Key(stores.user)
      let isNew = isNews || published.stores !== stores
      defer { published = Published(user: stores.user, stores: stores) }
      return (isNews, isNew, published.user)
    }
    if isNews {
      let data = JSONText.object([("user", .optional(stores.user)), ("previous", .optional(previous))])
      events.publish(.user, data.bytes)
    }
    if isNew { onChange() }
  }
}
