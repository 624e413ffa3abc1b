import DaemonHTTP
import Logging
import ScanDaemon
import ScanInputs
import ServiceLifecycle

/// A custom daemon: it answers codes on standard input and over HTTP, and has an input of its own.
///
///     own-daemon ROOT USER SOCKET
@main
struct OwnDaemon {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4 else {
      print("usage: own-daemon ROOT USER SOCKET")
      return
    }
    let logger = Logger(label: "own-daemon")
    var options = DaemonOptions(root: arguments[1])
    options.user = arguments[2]
    let daemon = try Daemon(options, logger: logger)

    var http = DaemonServer.Options()
    http.address = .socket(path: arguments[3])
    let server = try DaemonServer(daemon, options: http, logger: logger)
    let input = ScanInput(InputOptions(name: "keyboard", source: .standardInput), handler: daemon, logger: logger)
    let selfTest = SelfTest(handler: daemon)

    // Services start together, and stop in reverse order on SIGTERM. An input that has ended stays until then.
    var services = daemon.services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
    services.append(.init(service: server))
    services.append(.init(service: selfTest, successTerminationBehavior: .ignore))
    services.append(.init(service: input))
    let group = ServiceGroupConfiguration(services: services, gracefulShutdownSignals: [.sigterm], logger: logger)
    try await ServiceGroup(configuration: group).run()
  }
}

/// A custom input: it scans one code when the daemon starts, and prints the answer.
struct SelfTest: Service {
  let handler: any ReadingHandler

  func run() async throws {
    let answer = await handler.answer(Reading(input: "self-test", code: "0078000202403"))
    print("self-test: " + String(decoding: answer.line, as: UTF8.self))
  }
}
