import CDaemon
import Dispatch
import Platform

/// The service manager that started this process, if one did and expects notifications (`sd_notify`, NOTIFY_SOCKET).
package struct ServiceManager: Sendable {
  /// How often the manager expects a sign of life; `nil` for never.
  package let watchdogInterval: Duration?

  /// Where it listens: a path, or a name of the abstract name space behind an `@`.
  let address: String

  /// Sending may wait for the manager, so it has a thread of its own; what is sent keeps its order.
  private static let queue = DispatchQueue(label: "shelfmark.service-manager")

  /// Finds the service manager; `nil` if none started this process, or if its address is not a Unix socket.
  ///
  /// - Parameters:
  ///   - environment: The environment variables. Systemd sets `NOTIFY_SOCKET`, `WATCHDOG_PID` and `WATCHDOG_USEC`.
  ///   - process: The id of this process. A watchdog for another process is ignored.
  package init?(environment: [String: String], process: Int32 = getpid()) {
    guard let address = environment["NOTIFY_SOCKET"], address.hasPrefix("/") || address.hasPrefix("@"),
      (2...107).contains(address.utf8.count)
    else { return nil }
    self.address = address
    let isMeant = environment["WATCHDOG_PID"].map { Int32($0) == process } ?? true
    // A day is as good as never, and no product of it overflows.
    let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap {
      $0 > 0 ? min($0, 86_400_000_000) : nil
    }
    watchdogInterval = isMeant ? microseconds.map { .microseconds($0) } : nil
  }

  /// Sends lines of state, such as `READY=1`, and returns when they are sent.
  ///
  /// A manager that does not listen does not stop the daemon: it is tried for up to two seconds.
  /// - Returns: whether they were sent.
  @discardableResult
  package func notify(_ state: String) async -> Bool {
    let address = Array(address.utf8CString.dropLast())
    let bytes = Array(state.utf8)
    return await withCheckedContinuation { continuation in
      Self.queue.async { continuation.resume(returning: Self.send(bytes, to: address)) }
    }
  }

  private static func send(_ bytes: [UInt8], to address: [CChar]) -> Bool {
    // Both arrays live for the call, which copies what it needs and gets their lengths.
    unsafe address.withUnsafeBufferPointer { path in
      unsafe bytes.withUnsafeBytes { data in
        guard let name = path.baseAddress, let start = data.baseAddress else { return false }
        return unsafe shelfmark_send_datagram(name, path.count, start, data.count, 2000) == 0
      }
    }
  }
}

extension ServiceManager {
  /// The daemon answers scans.
  package func ready(_ status: String) async { await notify("READY=1\n" + Self.status(status)) }

  /// The daemon reads its configuration again; ``ready(_:)`` ends it.
  package func reloading() async {
    await notify(
      "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)\n" + Self.status("reading the configuration again"))
  }

  /// The daemon ends.
  package func stopping() async { await notify("STOPPING=1\n" + Self.status("ending")) }

  /// The line that `systemctl status` shows, without line breaks.
  static func status(_ text: String) -> String {
    "STATUS="
      + String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
  }

  /// The clock that the manager compares with: CLOCK_MONOTONIC.
  static var monotonicMicroseconds: UInt64 {
    var time = timespec()
    // The structure is this function's own, and the clock exists on every system.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }
}
