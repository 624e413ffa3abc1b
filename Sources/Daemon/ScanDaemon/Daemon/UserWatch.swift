import JSONFormat
import ServiceLifecycle
import Synchronization
import Workspace

/// A service that publishes each sign-in and sign-out, by this process or another one.
final class UserWatch: Service {
  private let context: DaemonContext
  private let onChange: @Sendable () -> Void
  private struct Published {
    var user: String?
    /// The stores of the user; the default stores are always the same object.
    weak var stores: UserStores?
  }
  /// The user that was published last.
  private let published: Mutex<Published>

  init(_ context: DaemonContext, onChange: @escaping @Sendable () -> Void) {
    self.context = context
    self.onChange = onChange
    let stores = try? context.access.stores()
    published = Mutex(Published(user: stores?.user, stores: stores))
  }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do {
          // Listen before the first check, so that no sign-in between the two is missed.
          var changes = self.context.access.workspace.changes.makeAsyncIterator()
          try self.check()
          self.context.problems.clear(.usersUnreadable)
          while try await changes.next() != nil {
            try self.check()
            self.context.problems.clear(.usersUnreadable)
          }
        } catch {
          if !Task.isCancelled { self.context.problems.report(.usersUnreadable, "\(error)") }
        }
        try? await self.context.time.sleep(.seconds(1))
      }
    }
  }

  /// Checks which user is signed in, and publishes a change. A user who was removed and signed in again is the same
  /// user with other stores.
  func check() throws {
    let stores = try context.access.stores()
    let (isNews, isNew, previous) = published.withLock { published in
      // Byte by byte: a String's `==` treats canonically equivalent Unicode texts as equal.
      let isNews = UserDocumentsTable.Key(published.user) != UserDocumentsTable.Key(stores.user)
      let isNew = isNews || published.stores !== stores
      defer { published = Published(user: stores.user, stores: stores) }
      return (isNews, isNew, published.user)
    }
    if isNews {
      let data = JSONText.object([("user", .optional(stores.user)), ("previous", .optional(previous))])
      context.events.publish(.user, data.bytes)
    }
    if isNew { onChange() }
  }
}
