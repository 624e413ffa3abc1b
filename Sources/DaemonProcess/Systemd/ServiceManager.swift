import CDaemon
import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A client of the service manager that started this process and expects notifications (`sd_notify`, NOTIFY_SOCKET).
public struct ServiceManager: Sendable {
  /// The interval within which the manager expects a watchdog notification; `nil` if it expects none.
  public let watchdogInterval: Duration?

  /// The address of the manager's socket: a path, or a name in the abstract namespace after an `@`.
  let address: String

  /// Sending may block until the manager reads, so it runs on a queue of its own, which keeps the order of
  /// notifications.
  private static let queue = DispatchQueue(label: "shelfmark.service-manager")

  /// Creates a client from the environment; `nil` if there is no manager, or its address is not a Unix socket.
  ///
  /// - Parameter process: The id of this process. A watchdog that is meant for another process is ignored.
  public init?(environment: [String: String], process: Int32 = getpid()) {
    guard let address = environment["NOTIFY_SOCKET"], address.hasPrefix("/") || address.hasPrefix("@"),
      (2...107).contains(address.utf8.count)
    else { return nil }
    self.address = address
    let isMeant = environment["WATCHDOG_PID"].map { Int32($0) == process } ?? true
    // A longer interval is clamped to a day, so that products of it do not overflow.
    let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap {
      $0 > 0 ? min($0, 86_400_000_000) : nil
    }
    watchdogInterval = isMeant ? microseconds.map { .microseconds($0) } : nil
  }

  /// Sends state assignments, for example `READY=1`, and returns when they are sent.
  ///
  /// A manager that does not read does not stop the daemon: sending is tried for up to two seconds.
  ///
  /// - Returns: Whether they were sent.
  @discardableResult
  public func notify(_ state: String) async -> Bool {
    let address = Array(address.utf8CString.dropLast())
    let bytes = Array(state.utf8)
    return await withCheckedContinuation { continuation in
      Self.queue.async { continuation.resume(returning: Self.send(bytes, to: address)) }
    }
  }

  private static func send(_ bytes: [UInt8], to address: [CChar]) -> Bool {
    // Both arrays live during the call, which gets their lengths and copies what it needs.
    unsafe address.withUnsafeBufferPointer { path in
      unsafe bytes.withUnsafeBytes { data in
        guard let name = path.baseAddress, let start = data.baseAddress else { return false }
        return unsafe shelfmark_send_datagram(name, path.count, start, data.count, 2000) == 0
      }
    }
  }
}

extension ServiceManager {
  /// Reports that the daemon answers scans.
  public func ready(_ status: String) async { await notify("READY=1\n" + Self.status(status)) }

  /// Reports that the daemon reloads its configuration; ``ready(_:)`` ends this state.
  public func reloading() async {
    await notify(
      "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)\n" + Self.status("reading the configuration again"))
  }

  /// Reports that the daemon is shutting down.
  public func stopping() async { await notify("STOPPING=1\n" + Self.status("ending")) }

  /// Sets the status text that `systemctl status` shows.
  public func tell(_ status: String) async { await notify(Self.status(status)) }

  /// The status assignment, with the text on one line.
  static func status(_ text: String) -> String {
    "STATUS="
      + String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
  }

  /// The current time of the clock that the manager compares with: CLOCK_MONOTONIC.
  static var monotonicMicroseconds: UInt64 {
    var time = timespec()
    // The structure is local to this function, and the clock exists on every system.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }
}
