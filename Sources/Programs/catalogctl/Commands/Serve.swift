import ArgumentParser
import CatalogOrigin
import CatalogSources
import JSONFormat
import Logging
import RowFiles
import RowSources
import ServerAnswers

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve a catalogue from files, as the company's server would.",
    discussion: """
      Answers GET /?updateTime=CURSOR with the full catalogue for an empty cursor, else with the rows that are later, \
      deleted ones with delFlag 1. Watches its files, or asks its database each minute, and serves what changed. A \
      folder in --from serves its newest file, once it has stood still for a second; hidden files and .tmp and .part \
      files do not count, and a file with an error leaves the former rows. With --from, or with --state, deletions are \
      remembered across restarts, else for as long as it runs. Ends at SIGINT or SIGTERM.
      """)

  /// The options are common to all commands; this one opens no store.
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Option(
    help: ArgumentHelp(
      "NDJSON, plain or gzip, a product a line. With a database in --from: a statement that returns a row for each product.",
      valueName: "file|SQL"), completion: .file())
  var products: String?
  @Option(
    help: ArgumentHelp(
      "A file of your own, a folder whose newest file counts, or a PostgreSQL database, read as 'import' reads it, with the"
        + " same mapping; in place of --products.",
      valueName: "source"), completion: .file())
  var from: String?
  @OptionGroup var database: DatabaseOptions
  @Option(
    help: ArgumentHelp(
      "With --since: how often to read all rows, which finds deletions; 3600 if nothing is said.", valueName: "seconds")
  )
  var reconcile: Int?
  @OptionGroup var mapping: MappingOptions
  @Option(help: ArgumentHelp("How the file is written, whatever it is called.", valueName: "csv|tsv|ndjson|json"))
  var format: RowFileFormat?
  @OptionGroup var irregularities: RowRuleOptions
  @Option(
    help: ArgumentHelp("Refuse a file of your own that unpacks to more than this.", valueName: "bytes"))
  var maxUnpacked: Int?
  @Option(
    help: ArgumentHelp(
      "NDJSON, plain or gzip, a relation a line. With a database: a statement that returns productId, subProductId and"
        + " groupNum.",
      valueName: "file|SQL"), completion: .file())
  var relations: String?
  @Option(
    help: ArgumentHelp(
      "NDJSON, plain or gzip, a code a line: productId, barcode, quantity, unit, kind. Codes may be lines of --products too,"
        + " if that is a dump.",
      valueName: "file"), completion: .file())
  var codes: String?
  @Option(
    help: ArgumentHelp(
      "Where deletions and what clients were sent are kept across restarts; with --from, FILE.state if nothing is said, or serve.state in --root for a database.",
      valueName: "dir"), completion: .directory)
  var state: String?
  @Option(help: "Port to listen on; 0 takes a free one.") var port = 8080
  @Option(help: "Address to listen on.") var host = "127.0.0.1"
  @Option(help: "Bearer token that clients must show.") var token: String?
  @Option(
    help: ArgumentHelp("How often to look: 1 for files, 60 for a database if nothing is said.", valueName: "seconds"))
  var watch: Double?

  func validate() throws {
    let isDatabase = from.map(DatabaseQuery.isURL) ?? false
    if isDatabase {
      if format != nil || mapping.encoding != nil || mapping.delimiter != nil || irregularities.areOfTables {
        throw ValidationError(
          "--format, --encoding, --delimiter, --excel and --uneven-rows are for files, not for a database")
      }
    } else if database.areGiven || reconcile != nil {
      throw ValidationError(
        "--table, --since, --reconcile and --statement-timeout belong to a database, postgresql://…")
    }
    if let reconcile, !(1...2_592_000).contains(reconcile) {
      throw ValidationError("--reconcile is 1 to 2592000 seconds, a month")
    }
    guard isDatabase || (products == nil) != (from == nil) else {
      throw ValidationError("give --products or --from, one of them")
    }
    if from == "-" { throw ValidationError("--from is a file: standard input cannot be read again when it changes") }
    if from != nil, !isDatabase, relations != nil {
      throw ValidationError("--relations belongs to --products, not to --from")
    }
    if codes != nil, from != nil {
      throw ValidationError("--codes belongs to --products, not to --from; a mapping of --from has \"codes\"")
    }
    if from == nil, !mapping.arguments.isEmpty || !irregularities.arguments.isEmpty || format != nil {
      throw ValidationError("the options of a mapping belong to --from")
    }
    if let maxUnpacked, maxUnpacked < 1 { throw ValidationError("--max-unpacked is at least 1 byte") }
    if mapping.saveMap != nil { throw ValidationError("serve writes no mapping; use 'import --dry-run --save-map'") }
    guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
    guard (watch ?? 1) > 0, (watch ?? 1) < 86_400 else {
      throw ValidationError("--watch is more than 0 seconds, at most a day")
    }
  }

  private func source() throws -> CatalogueSource {
    guard let from else { return CatalogueSource(serverRows: products ?? "", relations: relations, codes: codes) }
    var map = try mapping.file()
    irregularities.apply(to: &map)
    let rules = map.rules
    var limits = WireLimits()
    if let maxUnpacked {
      limits.unpackedByteCount = maxUnpacked
      limits.absoluteByteCount = maxUnpacked
    }
    if DatabaseQuery.isURL(from) {
      let query = try database.query(from, products: products, relations: relations, map)
      if reconcile != nil, query.since == nil {
        throw Failure(.usage, "--reconcile belongs to --since; without it, all rows are read each time")
      }
      var source = CatalogueSource(
        query, decoding: SourceDecoding(format: .ndjson, rules: rules, mapping: map.mapping, limits: limits))
      source.reconcileInterval = .seconds(reconcile ?? 3600)
      try addCodes(map, to: &source)
      return source
    }
    var source = CatalogueSource(
      path: from,
      decoding: SourceDecoding(
        format: format ?? map.format, rules: rules, mapping: map.mapping, encoding: map.encoding, limits: limits))
    try addCodes(map, to: &source)
    return source
  }

  /// Adds the table of codes of the mapping.
  private func addCodes(_ map: MappingFile, to source: inout CatalogueSource) throws {
    do { try source.addCodes(map) } catch { throw Failure(.usage, error.message) }
  }

  /// The directory that keeps stamps and deletions; `nil` if none does.
  private var stateDirectory: String? {
    if let state { return state }
    guard let from else { return nil }
    if DatabaseQuery.isURL(from) { return store.workspace.root + "/serve.state" }
    var path = from
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path + ".state"
  }

  func run() async throws {
    let logger = Logger(label: "serve") { TerminalLogHandler(label: $0) }
    let source = try source()
    let store = try await OriginStore(source: source, state: stateDirectory, logger: logger)
    defer { store.removeTemporaryFiles() }
    var options = OriginServer.Options()
    options.host = host
    options.port = port
    options.token = token
    options.watchInterval = .seconds(watch ?? (source.database == nil ? 1 : 60))
    let host = host.contains(":") ? "[\(host)]" : host
    let isJSON = output.json
    options.onListening = { port in
      let url = "http://\(host):\(port)/"
      if isJSON { JSONText.object([("url", .text(url))]).print() } else { Console.print("listening on \(url)") }
    }
    try await OriginServer(store: store, options: options, logger: logger).runUntilSignal()
  }
}
