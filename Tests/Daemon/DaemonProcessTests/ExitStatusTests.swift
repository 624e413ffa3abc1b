import CatalogHTTP
import DaemonHTTP
import LogStore
import ScanDaemon
import Platform
import Testing
import Workspace

@testable import DaemonProcess

@Suite struct ExitStatusTests {
  @Test func `what stops the daemon has the code that catalogctl gives it`() {
    struct Unforeseen: Error {}
    #expect(ExitStatus(DaemonServerError.cannotListen("a", reason: "b")).rawValue == 69)
    #expect(ExitStatus(DaemonServerError.tokenMissing(host: "a")).rawValue == 64)
    #expect(ExitStatus(StoreError.closed(path: "a")).rawValue == 75)
    #expect(ExitStatus(WorkspaceError.notSignedIn).rawValue == 64)
    #expect(ExitStatus(TransportError.invalidHeader(name: "a")).rawValue == 64)
    #expect(ExitStatus(DaemonError.rootInUse(path: "a", holder: "b")).rawValue == 75)
    #expect(ExitStatus(Unforeseen()).rawValue == 70)
  }

  @Test func `an address is written as people write it`() {
    #expect(DaemonServer.Address.host("::1", port: 0).name(at: "80") == "http://[::1]:80")
    #expect(DaemonServer.Address.host("localhost", port: 0).name(at: "80") == "http://localhost:80")
    #expect(DaemonServer.Address.socket(path: "/run/a").name(at: "/run/a") == "unix:/run/a")
  }
}
