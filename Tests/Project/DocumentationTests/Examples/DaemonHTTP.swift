// The example of Sources/Daemon/DaemonHTTP/DaemonHTTP.docc/DaemonHTTP.md
import DaemonHTTP
import Logging
import ScanDaemon
import ServiceLifecycle

/// Serves the catalogue in a root directory on a Unix domain socket until the process receives SIGTERM.
func serve(_ directory: String, at socket: String) async throws {
  let logger = Logger(label: "serve")
  let daemon = try Daemon(DaemonOptions(root: directory), logger: logger)
  var options = DaemonServer.Options()
  options.address = .socket(path: socket)
  let server = try DaemonServer(daemon, options: options, logger: logger)
  let services = daemon.services + [server]
  try await ServiceGroup(services: services, gracefulShutdownSignals: [.sigterm], logger: logger).run()
}
