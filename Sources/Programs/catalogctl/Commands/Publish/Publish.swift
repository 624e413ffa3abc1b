import ArgumentParser
import Catalog
import CatalogSources
import CatalogSync
import Cryptography
import Essentials
import JSONFormat
import LogStore
import ObjectStores
import Platform
import PublicationFormat
import PublicationSync
import Publisher
import RowFiles
import RowSources
import ServerAnswers
import TextFormat
import Workspace

struct Publish: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish", abstract: "Publish a catalogue as signed files that any web server can serve.",
    subcommands: [PublishRun.self, PublishKeys.self, PublishRing.self], defaultSubcommand: PublishRun.self)
}

/// The options that say where a publication is, and who signs it.
struct PublicationTarget: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Where the files go: a directory that a web server serves, or s3://BUCKET/PREFIX.", valueName: "dir|s3://…"),
    completion: .directory)
  var to: String
  @Option(
    help: ArgumentHelp(
      "The secret key that signs, of 'publish keys new' or 'signify -G -n'; without it, one that is made in --root.",
      valueName: "file"), completion: .file())
  var key: String?
  @Option(help: ArgumentHelp("The region of the bucket.", valueName: "name")) var region: String?
  @Option(help: ArgumentHelp("The server of the bucket, if it is not Amazon's.", valueName: "url")) var endpoint:
    String?
  @Flag(help: "Publish to a bucket that does not keep conditions of writes: nobody else may publish there.")
  var singlePublisher = false

  func validate() throws {
    if to.isEmpty { throw ValidationError("--to names no directory") }
    if !to.hasPrefix(S3Location.scheme), region != nil || endpoint != nil || singlePublisher {
      throw ValidationError("--region, --endpoint and --single-publisher belong to --to s3://BUCKET/PREFIX")
    }
    if to.contains("://"), !to.hasPrefix(S3Location.scheme) {
      throw ValidationError("--to is a directory or s3://BUCKET/PREFIX: files are written there, not to a web server")
    }
  }

  func objects() throws -> any ObjectStore {
    guard to.hasPrefix(S3Location.scheme) else { return DirectoryStore(to) }
    return try S3Store(
      S3Location(parsing: to), options: S3Options(region: region, endpoint: endpoint),
      environment: ProcessInfo.processInfo.environment)
  }

  /// The directory of the publisher: one for each place.
  func location(_ workspace: WorkspaceDirectory) throws -> StoreLocation {
    let place = to.hasPrefix(S3Location.scheme) ? to : URL(filePath: to).standardizedFileURL.path
    let name = Hexadecimal.text(Array(try Hash.sha256(of: Array(place.utf8)).prefix(8)), .lowercase)
    return try StoreLocation.creating(workspace.root + "/publications/" + name, name: "published")
  }

  /// The key that signs.
  func signingKey(_ workspace: WorkspaceDirectory) throws -> SignifySecretKey {
    if let key { return try KeyFiles.secret(key) }
    let path = workspace.root + "/publications/publisher.key"
    if !FileManager.default.fileExists(atPath: path) {
      _ = try StoreLocation.creating(workspace.root + "/publications", name: "published")
      let new = try SignifySecretKey.new("publisher")
      try KeyFiles.write(new, to: path)
      Console.say(
        "catalogctl: made the key \(path), which signs from now on: keep a copy of it in a safe place. Devices get"
          + " \(path).pub with --root-key")
    }
    return try KeyFiles.secret(path)
  }
}

struct PublishRun: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Publish what changed since the last time (the default).",
    discussion: """
      Writes what changed as small files that never change again, and then the head catalogue.json, which names them, \
      with its signature: any web server or object store can serve them. The first time, and when it pays, all rows are \
      written as well. Without changes nothing is written, except a head whose expiry is near. An interrupted publication \
      is completed by the next one.

      The source is the catalogue of --user, or a file, a folder or a database in --from, read as 'import' reads it. A \
      source that would lose more than --max-loss of the products is refused.

      Devices follow with 'catalogctl sync --published URL --root-key FILE.pub'.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var target: PublicationTarget
  @Option(
    help: ArgumentHelp(
      "A file of your own, a folder whose newest file counts, or a PostgreSQL database; in place of --user.",
      valueName: "source"), completion: .file())
  var from: String?
  @Option(
    help: ArgumentHelp("With a database: a statement that returns a row for each product.", valueName: "SQL"))
  var products: String?
  @Option(
    help: ArgumentHelp(
      "With a database: a statement that returns productId, subProductId and groupNum.", valueName: "SQL"))
  var relations: String?
  @OptionGroup var database: DatabaseOptions
  @OptionGroup var mapping: MappingOptions
  @Option(help: ArgumentHelp("How the file is written, whatever it is called.", valueName: "csv|tsv|ndjson|json"))
  var format: RowFileFormat?
  @OptionGroup var irregularities: RowRuleOptions
  @OptionGroup var accept: UpdateOptions
  @Option(help: ArgumentHelp("Publish again and again, after pauses of this length.", valueName: "seconds"))
  var every: Double?
  @Option(
    help: ArgumentHelp("How long a head counts; it is renewed after half of this time.", valueName: "days"))
  var expires = 30.0
  @Option(help: ArgumentHelp("How often devices should ask for news.", valueName: "seconds")) var poll = 300
  @Option(
    help: ArgumentHelp(
      "When devices switch: a date and time, of a zone ('2026-12-31T22:00:00Z') or local to each device.",
      valueName: "time"))
  var activate: String?
  @Option(
    help: ArgumentHelp(
      "Codes that devices try before they switch: {\"found\":[…],\"missing\":[…],\"products\":n}.", valueName: "file"),
    completion: .file())
  var probe: String?

  func validate() throws {
    if from != nil, store.user != nil { throw ValidationError("give --from or --user, one of them") }
    let isDatabase = from.map(DatabaseQuery.isURL) ?? false
    if !isDatabase, database.areGiven || products != nil || relations != nil {
      throw ValidationError("--products, --relations, --table, --since and --statement-timeout belong to a database")
    }
    if from == nil, !mapping.arguments.isEmpty || !irregularities.arguments.isEmpty || format != nil {
      throw ValidationError("the options of a mapping belong to --from")
    }
    if from == "-", every != nil { throw ValidationError("--every cannot read standard input again") }
    if from == "-" { throw ValidationError("--from is a file, a folder or a database; standard input is not one") }
    if mapping.saveMap != nil { throw ValidationError("publish writes no mapping; use 'import --dry-run --save-map'") }
    if let every, !(every >= 1 && every <= 86_400) { throw ValidationError("--every is 1 to 86400 seconds") }
    guard expires >= 0.01, expires <= 3650 else { throw ValidationError("--expires is 0.01 to 3650 days") }
    guard (1...86_400).contains(poll) else { throw ValidationError("--poll is 1 to 86400 seconds") }
  }

  func run() async throws {
    let workspace = store.workspace
    var options = PublisherOptions(key: try target.signingKey(workspace), publisher: Self.publisherName())
    options.lifetime = expires * 86_400
    options.poll = poll
    options.activation = activate
    options.probe = try probe.map(Self.readProbe)
    let location = try target.location(workspace)
    let publisher = Publisher(location, to: try target.objects(), options)
    var importer: SourceImport?
    if let from { importer = SourceImport(try source(from), accept.lossLimit) }
    while true {
      let snapshot: CatalogSnapshot
      if let importer {
        snapshot = try await Self.read(importer, location)
      } else {
        snapshot = try store.snapshot()
      }
      if let probe = options.probe { try PublicationProbeCheck.check(probe, snapshot) }
      let report = try await publisher.publish(snapshot)
      if output.json { report.json.print() } else { report.print(to: target.to) }
      guard let every else { return }
      try await Task.sleep(for: .seconds(every))
    }
  }

  /// Who publishes, for messages of other publishers.
  static func publisherName() -> String {
    "\(ProcessInfo.processInfo.hostName), process \(ProcessInfo.processInfo.processIdentifier)"
  }

  private static func readProbe(_ path: String) throws -> PublicationProbe {
    let file = try InputFile(path)
    var bytes: [UInt8] = []
    while bytes.count <= PublicationProbe.byteLimit, let piece = try file.next() { bytes += piece }
    do { return try PublicationProbe(json: bytes) } catch { throw Failure(.data, "\(path): \(error)") }
  }

  private func source(_ from: String) throws -> CatalogueSource {
    var map = try mapping.file()
    irregularities.apply(to: &map)
    if DatabaseQuery.isURL(from) {
      let query = try database.query(from, products: products, relations: relations, map)
      var source = CatalogueSource(
        query, decoding: SourceDecoding(format: .ndjson, rules: map.rules, mapping: map.mapping, limits: accept.limits))
      try addCodes(map, to: &source)
      return source
    }
    var source = CatalogueSource(
      path: from,
      decoding: SourceDecoding(
        format: format ?? map.format, rules: map.rules, mapping: map.mapping, encoding: map.encoding,
        limits: accept.limits))
    try addCodes(map, to: &source)
    return source
  }

  private func addCodes(_ map: MappingFile, to source: inout CatalogueSource) throws {
    do { try source.addCodes(map) } catch { throw Failure(.usage, error.message) }
  }

  /// Imports the source into the publisher's own catalogue of its rows.
  private static func read(_ source: SourceImport, _ published: StoreLocation) async throws -> CatalogSnapshot {
    let location = StoreLocation(published.directory, name: "source")
    let destination = SourceDestination(
      location: location, last: try? CatalogReader.open(location)?.snapshot(),
      open: { try CatalogWriter(location, previousLifetime: .zero, indexes: .none, replacesDamaged: true) })
    let result = try await source.run(.difference, into: destination) { try await Task.sleep(for: $0) }
    for notice in result.notices { Console.say("catalogctl: \(notice)") }
    for refused in result.refused { Console.say("catalogctl: warning: \(refused)") }
    guard let snapshot = try CatalogReader.open(location)?.snapshot() else {
      throw Failure(.data, "the source has no products")
    }
    return snapshot
  }
}

extension PublishReport {
  var json: JSONText {
    .object([
      ("sequence", .uint(sequence)), ("published", .bool(isPublished)),
      ("base", baseByteCount.map { .object([("bytes", .int($0))]) } ?? .null),
      (
        "deltas",
        .array(
          deltas.map {
            .object([("from", .uint($0.from)), ("to", .uint($0.to)), ("bytes", .int($0.file.byteCount))])
          })
      ), ("objects", .int(objects)), ("bytesOut", .int(bytesOut)),
    ])
  }

  func print(to place: String) {
    guard isPublished else {
      return Console.print("nothing has changed since state \(sequence): nothing was written to \(place.shown)")
    }
    var words = "state \(sequence) published to \(place.shown): \(Quantity.of(changed, "change"))"
    if let baseByteCount { words += ", all rows in \(Quantity.bytes(baseByteCount))" }
    if let delta = deltas.first(where: { $0.to - $0.from == 1 }) {
      words += ", a delta of \(Quantity.bytes(delta.file.byteCount))"
    }
    Console.print("\(words); \(Quantity.of(objects, "file")) with \(Quantity.bytes(bytesOut)) written")
  }
}
