import JSONOutput
import ServiceLifecycle
import Synchronization
import Workspace

/// Tells of each sign-in and sign-out, by this process or another one.
final class UserWatch: Service {
  private let access: CatalogueAccess
  private let events: EventLog
  private let problems: Problems
  private let environment: DaemonEnvironment
  private let onChange: @Sendable () -> Void
  /// Who was told last.
  private let told: Mutex<String?>

  init(
    _ access: CatalogueAccess, _ events: EventLog, _ problems: Problems, _ environment: DaemonEnvironment,
    onChange: @escaping @Sendable () -> Void
  ) {
    self.access = access
    self.events = events
    self.problems = problems
    self.environment = environment
    self.onChange = onChange
    told = Mutex((try? access.workspace.current()) ?? nil)
  }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do {
          // Somebody may have signed in between two rounds.
          try self.look()
          for try await _ in self.access.workspace.changes {
            try self.look()
            self.problems.clear("users")
          }
        } catch {
          if !Task.isCancelled { self.problems.note("users", "\(error)") }
        }
        try? await self.environment.time.sleep(.seconds(1))
      }
    }
  }

  /// Looks who is signed in, and tells if it is somebody else than was told.
  func look() throws {
    let user = try access.workspace.current()
    let previous = told.withLock { told -> String?? in
      // Byte by byte: a String's `==` takes two normal forms of Unicode for one.
      if UserDocumentsTable.Key(told) == UserDocumentsTable.Key(user) { return nil }
      defer { told = user }
      return .some(told)
    }
    guard let previous else { return }
    let data = JSONText.object([("user", .optional(user)), ("previous", .optional(previous))])
    events.publish(.user, data.bytes)
    onChange()
  }
}
