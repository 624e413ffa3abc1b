import ArgumentParser
import JSONFormat
import Logging
import Publisher

struct FleetCollect: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "collect", abstract: "Receive the reports of devices, and keep the last one of each.",
    discussion: """
      Devices send their reports to the address that it prints: set it as sync.reportsUrl of catalogd. The last report \
      of each device is kept in DIR, durably before it is answered; one that comes late or twice changes nothing. \
      'catalogctl fleet status --from DIR' shows them, also while this runs. GET /metrics answers Prometheus, and \
      GET /healthz whether it runs. Ends at SIGINT or SIGTERM. Exit code 75 if another process collects in DIR.

      Whoever can reach the address can report for any device. Give devices a secret with --authorization-file, and \
      put a proxy with TLS in front if they are on other networks.
      """)

  /// The options are common to all commands; this one opens no store of a user.
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Option(
    help: ArgumentHelp("Where the reports are kept; created if it is not there.", valueName: "dir"),
    completion: .directory)
  var to: String
  @Option(help: "Port to listen on; 0 takes a free one.") var port: Int
  @Option(help: "Address to listen on.") var address = "127.0.0.1"
  @Option(
    help: ArgumentHelp(
      "File with the value of the Authorization header that devices have to send, mode 0600.", valueName: "file"),
    completion: .file())
  var authorizationFile: String?
  @Option(
    help: ArgumentHelp("The most devices that are kept; others are told to try again later.", valueName: "number"))
  var maxDevices = FleetStore.standardDeviceLimit

  func validate() throws {
    if to.isEmpty { throw ValidationError("--to names no directory") }
    guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
    if address.isEmpty { throw ValidationError("--address names no address") }
    guard (1...10_000_000).contains(maxDevices) else { throw ValidationError("--max-devices is 1 to 10000000") }
  }

  func run() async throws {
    var options = FleetCollector.Options()
    options.host = address
    options.port = port
    options.authorization = try authorizationFile.map(SecretFile.read)
    let logger = Logger(label: "fleet") { TerminalLogHandler(label: $0) }
    let reports = try FleetStore.collecting(to, deviceLimit: maxDevices)
    let host = address.contains(":") ? "[\(address)]" : address
    let isJSON = output.json
    options.onListening = { port in
      let url = "http://\(host):\(port)/reports"
      if isJSON { JSONText.object([("url", .text(url))]).print() } else { Console.print("listening on \(url)") }
    }
    try await FleetCollector(reports, options, logger: logger).runUntilSignal()
  }
}
