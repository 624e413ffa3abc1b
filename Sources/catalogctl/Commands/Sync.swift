import ArgumentParser
import Catalog
import CatalogHTTP
import CatalogSync
import CatalogWire
import Foundation
import JSONOutput
import Workspace

struct Sync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Bring the catalogue up to date, from a server or from files.",
    discussion: """
      With --url, one step of the protocol: a full update the first time, an increment after that, and a full update \
      again when the increment would be too large. With --from, the server's answer is read from a file (- is \
      standard input), which may be packed with gzip; a bare payload is taken as well. Several --from are taken one after \
      another.

      With --organisation, a user who has no catalogue yet begins with that of another user of the same organisation and the \
      same source, if there is one here: without a download, and without room for a second copy. The first sync then is an \
      increment. The source is the URL; for files, --source names it. Without --organisation, nobody begins with this \
      catalogue from now on, as nobody can tell whose it is.

      Credentials for the server come from --authorization or $CATALOG_AUTHORIZATION (the whole header value, such as \
      'Bearer …'); the environment keeps them out of the list of processes.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var accept: UpdateOptions

  @Option(help: ArgumentHelp("The server's address.", valueName: "url")) var url: String?
  @Option(help: ArgumentHelp("A file with the server's answer.", valueName: "file"), completion: .file())
  var from: [String] = []
  @Flag(help: "Take the answer as a full update.") var full = false
  @Flag(help: "Set a catalogue that cannot be opened aside, and begin anew; with --full.") var replaceDamaged = false
  @Option(
    help: ArgumentHelp("The organisation whose catalogue this is: its users share what is common.", valueName: "id"))
  var organisation: String?
  @Option(help: ArgumentHelp("Where the files' answers come from, together with --organisation.", valueName: "name"))
  var source: String?
  @Option(
    help: ArgumentHelp("So many rows in one list of an increment call for a full update.", valueName: "rows"))
  var threshold = 1000
  @Option(help: ArgumentHelp("Value of the Authorization header.", valueName: "value"))
  var authorization: String?
  @Option(
    help: ArgumentHelp("PEM file of the authorities to trust instead of the system's.", valueName: "file"),
    completion: .file())
  var caFile: String?
  @Option(help: ArgumentHelp("The longest time for everything.", valueName: "seconds"))
  var timeout = 3600
  @Option(help: ArgumentHelp("How often a failed request is tried in all.", valueName: "times"))
  var attempts = 5
  @Flag(help: "Show progress even where nobody watches.") var progress = false

  func validate() throws {
    guard (url == nil) != from.isEmpty else { throw ValidationError("give --url URL or --from FILE, one of them") }
    guard organisation != "", source != "" else { throw ValidationError("--organisation and --source are not empty") }
    if url != nil, source != nil {
      throw ValidationError("with --url the URL is the source; --source goes with --from")
    }
    if from.isEmpty == false, (organisation == nil) != (source == nil) {
      throw ValidationError(
        "with --from, --organisation and --source go together: the source is what the files are answers of")
    }
    if replaceDamaged, !full {
      throw ValidationError("--replace-damaged begins anew, which takes everything: give --full as well")
    }
    guard threshold > 0 else { throw ValidationError("--threshold is at least 1") }
    guard timeout > 0 else { throw ValidationError("--timeout is at least 1 second") }
    guard attempts > 0 else { throw ValidationError("--attempts is at least 1") }
  }

  func run() async throws {
    if let url {
      let transport = try transport(url)
      let adopted = try prepare()
      let writer = try store.writer(waiting: write.milliseconds, replacesDamaged: replaceDamaged)
      defer { writer.close() }
      try await synchronize(transport, writer, adopted)
    } else {
      // A file that is not there should be told before a store is made.
      let files = try from.map(InputFile.init)
      var adopted = try prepare()
      let writer = try store.writer(waiting: write.milliseconds, replacesDamaged: replaceDamaged)
      defer { writer.close() }
      for file in files {
        try take(file, writer, adopted)
        // It was told of the first one.
        adopted = nil
      }
    }
  }

  /// Where the catalogue comes from, as far as that was told.
  private var origin: CatalogueOrigin? {
    guard let organisation, let source = url ?? source else { return nil }
    return CatalogueOrigin(source: source, organisation: organisation)
  }

  private var workspace: WorkspaceDirectory {
    var workspace = store.workspace
    workspace.waiting = write.milliseconds
    return workspace
  }

  /// Lets a user without a catalogue begin with that of another one, and says so.
  private func prepare() throws -> AdoptedBase? {
    let adopted = try workspace.prepareSynchronization(of: store.userID(), from: origin, full: full)
    if let adopted {
      Console.say(
        "catalogctl: began with the catalogue of another user of \(organisation ?? ""):"
          + " \(Quantity.bytes(adopted.byteCount)) \(adopted.isShared ? "shared" : "copied"), cursor \(adopted.cursor)")
    }
    return adopted
  }

  /// Notes behind a commit where the catalogue comes from. Where that fails the commit is durable all the same.
  private func note() {
    do { try workspace.noteSynchronization(of: store.userID(), from: origin) } catch {
      Console.say(
        "catalogctl: warning: everything was committed, but not noted for other users to begin with: \(error)")
    }
  }

  private var options: ImportOptions {
    var options = ImportOptions()
    options.threshold = threshold
    options.gate = accept.gate
    options.limits = accept.limits
    return options
  }

  private func transport(_ url: String) throws -> HTTPTransport {
    var options = TransportOptions()
    let environment = ProcessInfo.processInfo.environment
    options.authorization = authorization ?? environment["CATALOG_AUTHORIZATION"]
    options.certificateAuthorityFile = caFile
    options.totalTimeout = .seconds(timeout)
    options.retry.maximumAttempts = attempts
    options.onRetry = { notice in
      Console.say(
        "catalogctl: attempt \(notice.attempt) of \(notice.maximumAttempts) failed: \(notice.error.ofOneAttempt);"
          + " trying again in \(Quantity.rounded(notice.pause / .seconds(1))) s")
    }
    return try HTTPTransport(url: url, options: options)
  }

  private func synchronize(
    _ transport: HTTPTransport, _ writer: CatalogWriter, _ adopted: AdoptedBase?
  ) async throws {
    if full { try writer.roomForFullUpdate().warnIfScarce() }
    let start = ContinuousClock.now
    let bar = Shared(ProgressBar(isForced: progress))
    var synchronizer = Synchronizer(transport)
    synchronizer.options = options
    synchronizer.options.skipsUnchanged = true
    // What is durable is told first.
    synchronizer.compaction = .never
    synchronizer.onProgress = { bar.value.update($0) }
    let report: ImportReport
    do { report = try await synchronizer.run(writer, full: full) } catch {
      bar.value.end()
      throw error
    }
    note()
    print(report, adopted, seconds: ContinuousClock.now - start)
    writer.sayWhatWasSetAside()
    writer.tidyUp()
  }

  private func take(_ file: InputFile, _ writer: CatalogWriter, _ adopted: AdoptedBase?) throws {
    let start = ContinuousClock.now
    let mode: UpdateMode = try full || writer.snapshot().cursor.isEmpty ? .full : .incremental
    if mode == .full { try writer.roomForFullUpdate().warnIfScarce() }
    var options = options
    options.allowsBarePayload = true
    var bar = ProgressBar(isForced: progress, expectedByteCount: file.byteCount)
    var answer = try AnswerImport(writer, mode, options)
    var state = SyncProgress(mode: mode)
    do {
      var text = InputText(file, limits: accept.limits)
      while let piece = try text.next() {
        try answer.consume(piece.span)
        state.bytesReceived = text.byteCount
        state.rowsDecoded = answer.progress.rows
        bar.update(state)
      }
      let report = try answer.finish {
        state.phase = .committing
        bar.update(state)
      }
      state.phase = .done
      state.bytesReceived = text.byteCount
      state.rowsWritten = report.payload.products + report.payload.relations
      bar.update(state)
      note()
      print(report, adopted, seconds: ContinuousClock.now - start)
      writer.sayWhatWasSetAside()
    } catch {
      answer.cancel()
      bar.end()
      throw Failure(named: file.name, error)
    }
    writer.tidyUp()
  }

  private func print(_ report: ImportReport, _ adopted: AdoptedBase?, seconds: Duration) {
    let update = report.update
    let counts = update.counts
    let time = Double(seconds.components.seconds) + Double(seconds.components.attoseconds) / 1e18
    if output.json {
      var fields: [(String, JSONText)] = [
        ("mode", .text(update.mode.name)), ("sequence", .uint(update.sequence)),
        ("generation", .uint(update.generation)),
        (
          "products",
          .object([("upserted", .int(counts.productsUpserted)), ("deleted", .int(counts.productsDeleted))])
        ),
        (
          "relations",
          .object([
            ("written", .int(counts.relationsWritten)), ("deleted", .int(counts.relationsDeleted)),
            ("ignored", .int(counts.relationsIgnored)),
          ])
        ),
        ("defaulted", .int(counts.defaulted)), ("cursor", .text(update.cursor)),
        ("bytesIn", .int(report.payload.bytesIn)), ("seconds", .double((time * 1000).rounded() / 1000)),
      ]
      if organisation != nil {
        let base = adopted.map { base in
          JSONText.object([
            ("cursor", .text(base.cursor)), ("bytes", .int(base.byteCount)), ("shared", .bool(base.isShared)),
          ])
        }
        fields.append(("adopted", base ?? .null))
      }
      JSONText.object(fields).print()
    } else {
      Console.print(
        "\(update.mode.name) update, commit \(update.sequence): \(Quantity.count(counts.productsUpserted)) products"
          + " upserted, \(Quantity.count(counts.productsDeleted)) deleted;"
          + " \(Quantity.count(counts.relationsWritten)) relations written,"
          + " \(Quantity.count(counts.relationsDeleted)) deleted, \(Quantity.count(counts.relationsIgnored)) ignored")
      Console.print(
        "\(Quantity.bytes(report.payload.bytesIn)) in \(Quantity.rounded(time)) s; cursor \(update.cursor.shown)")
    }
    warn(report)
  }

  /// Says what was taken otherwise than it was sent.
  private func warn(_ report: ImportReport) {
    let defaulted = report.payload.defaulted
    guard defaulted.total > 0 else { return }
    let fields = defaulted.byField.map { "\($0.name) \($0.count) ×" }.joined(separator: ", ")
    Console.say("catalogctl: fields of another type than theirs took their default: \(fields)")
  }
}

extension CatalogWriter {
  /// Says where a catalogue is now that could not be opened, and that the commit before took the place of.
  fileprivate func sayWhatWasSetAside() {
    if let damagedPath { Console.say("catalogctl: the damaged catalogue is now \(damagedPath)") }
  }
}

/// What a full update may do.
struct UpdateOptions: ParsableArguments {
  @Flag(help: "Take a full update however many products it loses.") var acceptLoss = false
  @Option(
    help: ArgumentHelp("The share of the products, 0 to 1, that a full update may lose.", valueName: "share"))
  var maxLoss = 0.5
  @Option(
    help: ArgumentHelp(
      "Refuse what unpacks to more than this; without it, more than 16 GiB, or more than 256 MiB and 100 times its packed size.",
      valueName: "bytes"))
  var maxUnpacked: Int?

  func validate() throws {
    if let maxUnpacked, maxUnpacked < 1 { throw ValidationError("--max-unpacked is at least 1 byte") }
    guard maxLoss >= 0, maxLoss <= 1 else { throw ValidationError("--max-loss is 0 to 1") }
  }

  /// What is refused although it could be read.
  var limits: WireLimits {
    var limits = WireLimits()
    if let maxUnpacked {
      limits.unpackedByteCount = maxUnpacked
      limits.absoluteByteCount = maxUnpacked
    }
    return limits
  }

  var gate: LossGate { acceptLoss ? .open : LossGate(share: maxLoss) }
}

/// A value that closures of one task share.
final class Shared<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
}

extension Failure {
  /// An error about an input, with the input's name before it.
  init(named name: String, _ error: any Error) {
    guard let failure = Failure(error) else {
      self.init(.data, "\(name): \(error)")
      return
    }
    self.init(failure.code, failure.code == .data ? "\(name): \(failure.message)" : failure.message)
  }
}
