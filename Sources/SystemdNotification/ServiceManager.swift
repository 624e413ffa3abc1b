/// The service manager that started this process, if one did and wants to be told (`sd_notify`, NOTIFY_SOCKET).
public struct ServiceManager: Sendable {
  /// How often the manager expects a sign of life; `nil` for never.
  public let watchdogInterval: Duration?

  /// As the environment says; `nil` where there is no manager.
  public init?(environment: [String: String]) { fatalError("being built") }

  /// Sends lines of state, such as `READY=1`.
  public func notify(_ state: String) { fatalError("being built") }
}
