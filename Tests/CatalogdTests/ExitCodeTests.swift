import CatalogHTTP
import DaemonProcess
import DaemonHTTP
import LogStore
import ScanDaemon
import Testing
import Workspace

@testable import catalogd

@Suite struct ExitCodeTests {
  @Test func `what stops the daemon has the code that catalogctl gives it`() {
    struct Unforeseen: Error {}
    #expect(ExitCode.code(for: DaemonServerError.cannotListen("a", reason: "b")) == 69)
    #expect(ExitCode.code(for: DaemonServerError.tokenMissing(host: "a")) == 64)
    #expect(ExitCode.code(for: StoreError.closed(path: "a")) == 75)
    #expect(ExitCode.code(for: WorkspaceError.nobodySignedIn) == 64)
    #expect(ExitCode.code(for: TransportError.invalidHeader(name: "a")) == 64)
    #expect(ExitCode.code(for: DaemonError.rootInUse(path: "a", holder: "b")) == 75)
    #expect(ExitCode.code(for: Unforeseen()) == 70)
  }

  @Test func `an address is told as people write it`() {
    #expect(DaemonServer.Address.host("::1", port: 0).name(at: "80") == "http://[::1]:80")
    #expect(DaemonServer.Address.host("localhost", port: 0).name(at: "80") == "http://localhost:80")
    #expect(DaemonServer.Address.socket(path: "/run/a").name(at: "/run/a") == "unix:/run/a")
  }
}
