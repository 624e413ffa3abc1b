import ArgumentParser
import CatalogOrigin
import JSONFormat
import Logging

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve a catalogue from files, as the company's server would.",
    discussion: """
      Answers GET /?updateTime=CURSOR with the full catalogue for an empty cursor, else with the rows that are later, \
      deleted ones with delFlag 1. Watches its files and serves what changed. Deletions are remembered for as \
      long as it runs. Ends at SIGINT or SIGTERM.
      """)

  /// The options are common to all commands; this one opens no store.
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Option(
    help: ArgumentHelp("NDJSON, plain or gzip, a product a line.", valueName: "file"), completion: .file())
  var products: String
  @Option(help: ArgumentHelp("NDJSON, plain or gzip, a relation a line.", valueName: "file"), completion: .file())
  var relations: String?
  @Option(help: "Port to listen on; 0 takes a free one.") var port = 8080
  @Option(help: "Address to listen on.") var host = "127.0.0.1"
  @Option(help: "Bearer token that clients must show.") var token: String?
  @Option(help: ArgumentHelp("How often to look at the files.", valueName: "seconds")) var watch = 1.0

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
    guard watch > 0, watch < 86_400 else { throw ValidationError("--watch is more than 0 seconds, at most a day") }
  }

  func run() async throws {
    let logger = Logger(label: "serve") { StreamLogHandler.standardError(label: $0) }
    let store = try OriginStore(files: OriginFiles(products: products, relations: relations), logger: logger)
    var options = OriginServer.Options()
    options.host = host
    options.port = port
    options.token = token
    options.watchInterval = .seconds(watch)
    let host = host.contains(":") ? "[\(host)]" : host
    let isJSON = output.json
    options.onListening = { port in
      let url = "http://\(host):\(port)/"
      if isJSON { JSONText.object([("url", .text(url))]).print() } else { Console.print("listening on \(url)") }
    }
    try await OriginServer(store: store, options: options, logger: logger).runUntilSignal()
  }
}
