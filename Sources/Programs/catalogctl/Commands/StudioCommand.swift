import ArgumentParser
import JSONFormat
import Logging
import Studio
import Workspace

struct StudioCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "studio", abstract: "Show the stores in a browser.",
    discussion: """
      Prints the address of the first page, with a token that this run accepts, and serves it on 127.0.0.1 until \
      SIGINT or SIGTERM. Nothing is written, upgraded or locked, also while other programs write. With --edit, pages \
      can undo a commit, change documents, settings and products of a catalogue without a server, and retry and drop \
      uploads. Behind a proxy, name the host of its address with --name.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Option(help: "Port to listen on; 0 takes a free one.") var port = 0
  @Option(
    name: .customLong("name"), help: "Name of a host, without a port, that the studio answers to; may be repeated.")
  var names: [String] = []
  @Flag(help: "Allow pages to change something.") var edit = false

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
    if let name = names.first(where: { !StudioServer.isHostName($0) }) {
      throw ValidationError(
        "--name '\(name)' is no name of a host without a scheme and a port, such as shop.example.org")
    }
  }

  func run() async throws {
    let logger = Logger(label: "studio") { TerminalLogHandler(label: $0) }
    // With nobody signed in there is nothing to show.
    _ = try store.userID()
    let (workspace, user) = (store.workspace, store.user)
    let stores = StudioStores(
      workspace, version: Catalogctl.version, isEditable: edit,
      user: {
        if let user { return user }
        guard let current = try workspace.currentUser() else { throw WorkspaceError.notSignedIn }
        return current
      })
    let isJSON = output.json
    let server = StudioServer(stores, port: port, names: names, logger: logger) { url in
      if isJSON { JSONText.object([("url", .text(url))]).print() } else { Console.print(url) }
    }
    do { try await server.runUntilSignal() } catch let error as StudioServerError {
      throw Failure(.unavailable, "\(error)")
    }
  }
}
