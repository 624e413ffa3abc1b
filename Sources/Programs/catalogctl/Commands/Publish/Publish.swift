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
    to.hasPrefix(S3Location.scheme) ? try bucket() : DirectoryStore(to)
  }

  private func bucket() throws -> S3Store {
    try S3Store(
      S3Location(parsing: to), options: S3Options(region: region, endpoint: endpoint),
      environment: ProcessInfo.processInfo.environment)
  }

  /// The place through which a publisher writes. The first time, a bucket is asked whether it keeps conditions.
  func checkedObjects(_ workspace: WorkspaceDirectory) async throws -> any ObjectStore {
    try await Publisher.checkedStore(objects(), from: location(workspace), isSinglePublisher: singlePublisher)
  }

  /// The directory of the publisher: one for each place.
  func location(_ workspace: WorkspaceDirectory) throws -> StoreLocation {
    // Buckets of different servers may have the same name.
    let place = try to.hasPrefix(S3Location.scheme) ? bucket().url : URL(filePath: to).standardizedFileURL.path
    let name = Hexadecimal.text(Array(try Hash.sha256(of: Array(place.utf8)).prefix(8)), .lowercase)
    return try StoreLocation.creating(workspace.root + "/publications/" + name, name: "published")
  }

  /// The key that signs.
  func signingKey(_ workspace: WorkspaceDirectory) async throws -> SignifySecretKey {
    if let key { return try KeyFiles.secret(key) }
    let path = workspace.root + "/publications/publisher.key"
    if !FileManager.default.fileExists(atPath: path) {
      // A new key is none of those of a publication that is there.
      if try await objects().exists(KeyList.name) {
        throw Failure(
          .permission, "\(to.shown) has keys already, and \(path) is not there: name one of them with --key")
      }
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

      --rollback N publishes the rows of the state N again, as a new state: devices never go back. The next \
      publication from a source publishes the rows of that source, so correct it first. --prune DAYS removes the \
      files that no head of the last DAYS days names; without --yes it says which. Alone with --to, it publishes \
      nothing.

      What was published is remembered in --root. If that is lost, or an older copy, --take-over reads it back \
      from where it was published, once; the key must be one of those of the publication.

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
  @Option(
    help: ArgumentHelp(
      "Publish again and again, after pauses of this length; what may pass, such as a server that does not answer,"
        + " or a file that is half written, does not end it.", valueName: "seconds"))
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
  @Option(
    help: ArgumentHelp(
      "Write each state as ndjson/SEQUENCE.ndjson.zst too, for DuckDB, pandas and people.", valueName: "ndjson"))
  var also: PublishedText?
  @Option(help: ArgumentHelp("Publish the rows of an earlier state again, as a new one.", valueName: "sequence"))
  var rollback: UInt64?
  @Option(
    help: ArgumentHelp("Say which files no head of so many days names; remove them with --yes.", valueName: "days"))
  var prune: Double?
  @Flag(help: "With --prune: remove the files.") var yes = false
  @Flag(help: "Go on from what another publisher has published to --to, whose directory is lost.")
  var takeOver = false

  /// Whether nothing is published.
  private var isPruningOnly: Bool {
    prune != nil && from == nil && store.user == nil && rollback == nil && every == nil && activate == nil
      && probe == nil && also == nil && !takeOver
  }

  func validate() throws {
    if rollback != nil, from != nil || store.user != nil || every != nil {
      throw ValidationError(
        "--rollback takes the rows from what was published to --to: leave out --from, --user and --every")
    }
    if yes, prune == nil { throw ValidationError("--yes belongs to --prune") }
    if let prune, !(prune >= 0 && prune <= 36_500) { throw ValidationError("--prune is 0 to 36500 days") }
    if let activate, ActivationTime(activate) == nil {
      throw ValidationError(
        "--activate is a date with a time, such as 2026-12-31T22:00:00Z, 2026-12-31T23:00:00+01:00, or"
          + " '2026-12-31 22:00' for the local time of each device; not '\(activate.shown)'")
    }
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
    if isPruningOnly {
      // Nothing is signed, and nothing is written on condition.
      let key = try SignifySecretKey.new("unused")
      let publisher = Publisher(
        try target.location(workspace), to: try target.objects(),
        PublisherOptions(key: key, publisher: Self.publisherName()))
      guard let pruned = try await pruned(publisher) else { return }
      return show(PublishReport(sequence: pruned.sequence), pruned)
    }
    var options = PublisherOptions(key: try await target.signingKey(workspace), publisher: Self.publisherName())
    options.lifetime = expires * 86_400
    options.poll = poll
    options.activation = activate
    options.probe = try probe.map(Self.readProbe)
    options.writesNDJSON = also != nil
    let location = try target.location(workspace)
    let publisher = Publisher(location, to: try await target.checkedObjects(workspace), options)
    if takeOver, let head = try await publisher.takeOver() {
      Console.say("catalogctl: goes on from the state \(head.sequence), which \(head.publisher.shown) has published")
    }
    var importer: SourceImport?
    if let from { importer = SourceImport(try source(from), accept.lossLimit) }
    guard let every else { return try await publish(publisher, importer, location) }
    while true {
      do {
        try await publish(publisher, importer, location)
      } catch {
        // What may pass does not end the watch, such as a file that is being written; what somebody must decide does.
        let isSource = error is SourceUnreadable || error is SourceRefused
        guard let failure = Failure(error), isSource || failure.code == .unavailable || failure.code == .temporary
        else { throw error }
        Console.say("catalogctl: \(failure.message); the next attempt is in \(Quantity.of(Int(every), "second"))")
      }
      try await Task.sleep(for: .seconds(every))
    }
  }

  private func publish(_ publisher: Publisher, _ importer: SourceImport?, _ location: StoreLocation) async throws {
    let snapshot: CatalogSnapshot
    if let rollback {
      snapshot = try publisher.snapshot(ofState: rollback)
    } else if let importer {
      snapshot = try await Self.read(importer, location)
    } else {
      snapshot = try store.snapshot()
    }
    if let probe = publisher.options.probe { try PublicationProbeCheck.check(probe, snapshot) }
    let report = try await publisher.publish(snapshot)
    if !report.isPublished, activate != nil || probe != nil {
      Console.say("catalogctl: nothing has changed, so there is no new state for --activate or --probe")
    }
    show(report, try await pruned(publisher))
  }

  private func pruned(_ publisher: Publisher) async throws -> PruneReport? {
    guard let prune else { return nil }
    return try await publisher.prune(after: prune * 86_400, isDryRun: !yes)
  }

  private func show(_ report: PublishReport, _ pruned: PruneReport?) {
    if output.json { return report.json(pruned).print() }
    if !isPruningOnly { report.print(to: target.to) }
    pruned?.print(from: target.to)
  }

  /// Who publishes, for messages of other publishers.
  static func publisherName() -> String {
    "\(ProcessInfo.processInfo.hostName), process \(ProcessInfo.processInfo.processIdentifier)"
  }

  private static func readProbe(_ path: String) throws -> PublicationProbe {
    let file = try InputFile(path)
    var bytes: [UInt8] = []
    while bytes.count <= PublicationProbe.byteLimit, let piece = try file.next() { bytes += piece }
    let probe: PublicationProbe
    do { probe = try PublicationProbe(json: bytes) } catch { throw Failure(.data, "\(path): \(error)") }
    if probe.found.isEmpty, probe.missing.isEmpty, probe.products == nil {
      throw Failure(.data, "\(path): the probe has none of found, missing and products, so it would check nothing")
    }
    return probe
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

/// What is written besides the files of devices.
enum PublishedText: String, ExpressibleByArgument, CaseIterable {
  case ndjson
}

extension PruneReport {
  var json: JSONText {
    .object([
      ("objects", .int(names.count)), ("bytes", byteCount.map(JSONText.int) ?? .null), ("dryRun", .bool(isDryRun)),
    ])
  }

  func print(from place: String) {
    let files = Quantity.of(names.count, "file") + (byteCount.map { " with \(Quantity.bytes($0))" } ?? "")
    if names.isEmpty { return Console.print("no file of \(place.shown) is old enough to be removed") }
    guard isDryRun else { return Console.print("\(files) removed from \(place.shown)") }
    for name in names { Console.print(name) }
    Console.print("dry run: \(files) would be removed from \(place.shown); --yes removes them")
  }
}

extension PublishReport {
  func json(_ pruned: PruneReport? = nil) -> JSONText {
    .object(
      [
        ("sequence", .uint(sequence)), ("published", .bool(isPublished)),
        ("base", baseByteCount.map { .object([("bytes", .int($0))]) } ?? .null),
        (
          "deltas",
          .array(
            deltas.map {
              .object([("from", .uint($0.from)), ("to", .uint($0.to)), ("bytes", .int($0.file.byteCount))])
            })
        ), ("objects", .int(objects)), ("bytesOut", .int(bytesOut)),
      ] + (pruned.map { [("pruned", $0.json)] } ?? []))
  }

  func print(to place: String) {
    guard isPublished else {
      return Console.print("nothing has changed since state \(sequence): nothing was written to \(place.shown)")
    }
    var parts: [String] = []
    if changed > 0 { parts.append(Quantity.of(changed, "change")) }
    if let baseByteCount { parts.append("all rows in \(Quantity.bytes(baseByteCount))") }
    if let delta = deltas.first(where: { $0.to - $0.from == 1 }) {
      parts.append("a delta of \(Quantity.bytes(delta.file.byteCount))")
    }
    let what = parts.isEmpty ? "the head alone" : parts.joined(separator: ", ")
    Console.print(
      "state \(sequence) published to \(place.shown): \(what); \(Quantity.of(objects, "file")) with \(Quantity.bytes(bytesOut)) written"
    )
  }
}
