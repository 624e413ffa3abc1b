import ServiceLifecycle

/// A service that notifies the service manager that the daemon is alive, twice per watchdog interval, as long as the
/// daemon is healthy.
///
/// A daemon that hangs sends nothing, so the manager restarts it. The service runs until graceful shutdown or
/// cancellation, and does nothing if the manager expects no notification.
package struct Watchdog: Service {
  private let manager: ServiceManager
  private let isHealthy: @Sendable () async -> Bool

  /// Creates a watchdog, which notifies the manager once ``run()`` is called.
  ///
  /// - Parameters:
  ///   - manager: The service manager to notify.
  ///   - isHealthy: Returns whether the daemon works. It is called before each notification; none is sent while it does
  ///     not return.
  package init(_ manager: ServiceManager, isHealthy: @escaping @Sendable () async -> Bool) {
    self.manager = manager
    self.isHealthy = isHealthy
  }

  /// Notifies the service manager until graceful shutdown or cancellation. Does nothing in between if the manager
  /// expects no sign.
  package func run() async throws {
    try? await cancelWhenGracefulShutdown { try await loop() }
  }

  private func loop() async throws {
    guard let interval = manager.watchdogInterval else {
      // There is nothing to do, but a service that returns would end the others.
      while true { try await Task.sleep(for: .seconds(86_400)) }
    }
    while true {
      if await isHealthy() { await manager.notify("WATCHDOG=1") }
      try await Task.sleep(for: interval / 2)
    }
  }
}
