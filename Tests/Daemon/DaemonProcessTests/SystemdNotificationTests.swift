import DatagramTestSupport
import Synchronization
import Testing

@testable import DaemonProcess

@Suite struct SystemdNotificationTests {
  @Test func `the environment says where the manager is, and for whom its watchdog is`() throws {
    #expect(ServiceManager(environment: [:]) == nil)
    for address in ["", "/", "@", "relative", "vsock:2:1", "/" + String(repeating: "a", count: 107)] {
      #expect(ServiceManager(environment: ["NOTIFY_SOCKET": address]) == nil, "\(address)")
    }
    #expect(ServiceManager(environment: ["NOTIFY_SOCKET": "/" + String(repeating: "a", count: 106)]) != nil)
    func interval(_ more: [String: String]) -> Duration? {
      ServiceManager(environment: more.merging(["NOTIFY_SOCKET": "/run/notify"]) { $1 }, process: 42)?.watchdogInterval
    }
    #expect(interval([:]) == nil)
    #expect(interval(["WATCHDOG_USEC": "30000000"]) == .seconds(30))
    #expect(interval(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"]) == .seconds(30))
    #expect(interval(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "43"]) == nil)
    #expect(interval(["WATCHDOG_USEC": "9223372036854775807"]) == .seconds(86_400))
    for text in ["0", "-1", "", "soon", "99999999999999999999"] {
      #expect(interval(["WATCHDOG_USEC": text]) == nil, "\(text)")
    }
  }

  @Test(arguments: DatagramSocket.Place.allCases)
  func `a state arrives as one datagram`(_ place: DatagramSocket.Place) async throws {
    let socket = try DatagramSocket(place)
    let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": socket.address]))
    await manager.ready("listening on 127.0.0.1:8765\nMAINPID=1")
    #expect(try await socket.receive() == "READY=1\nSTATUS=listening on 127.0.0.1:8765 MAINPID=1")
    await manager.stopping()
    #expect(try await socket.receive() == "STOPPING=1\nSTATUS=ending")
  }

  @Test func `a reload tells the time at which it began`() async throws {
    let socket = try DatagramSocket(.path)
    let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": socket.address]))
    let before = ServiceManager.monotonicMicroseconds
    await manager.reloading()
    let lines = try await socket.receive().split(separator: "\n")
    #expect(lines.first == "RELOADING=1")
    let time = try #require(lines.dropFirst().first?.split(separator: "=").last.flatMap { UInt64($0) })
    #expect((before...ServiceManager.monotonicMicroseconds).contains(time))
  }

  @Test func `a manager that is gone stops nothing`() async throws {
    let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": "/nonexistent/notify"]))
    #expect(await manager.notify("READY=1") == false)
  }

  @Test func `signs of life come while the daemon is healthy, and at once when it is again`() async throws {
    let socket = try DatagramSocket(.path)
    let environment = ["NOTIFY_SOCKET": socket.address, "WATCHDOG_USEC": "20000"]
    let manager = try #require(ServiceManager(environment: environment))
    let asked = Mutex(0)
    let watchdog = Watchdog(manager) {
      asked.withLock {
        $0 += 1
        return $0 > 3
      }
    }
    let running = Task { try await watchdog.run() }
    #expect(try await socket.receive() == "WATCHDOG=1")
    #expect(asked.withLock { $0 } >= 4)
    #expect(try await socket.receive() == "WATCHDOG=1")
    running.cancel()
    try await running.value
  }

  @Test func `no sign is given to a manager that expects none`() async throws {
    let socket = try DatagramSocket(.path)
    let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": socket.address]))
    let running = Task { try await Watchdog(manager) { true }.run() }
    await manager.notify("STATUS=x")
    running.cancel()
    try await running.value
    #expect(try await socket.receive() == "STATUS=x")
    #expect(socket.isEmpty)
  }
}
