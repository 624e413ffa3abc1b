import ArgumentParser
import Catalog
import CatalogHTTP
import CatalogSync
import JSONFormat
import RowSources
import ServerAnswers
import Workspace

struct Sync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Bring the catalogue up to date, from a server or from files.",
    discussion: """
      With --url, one step of the protocol: a full update the first time, an increment after that, and a full update \
      again when the increment would be too large. With --from, the server's answer is read from a file (- is standard \
      input), which may be packed with gzip; a bare payload is taken as well. Several --from are taken one after \
      another. The catalogue is locked when an answer is there, not while it is waited for.

      Settings replace options that are always the same: 'catalogctl config set sync.url URL', also sync.organisation, \
      sync.caFile, sync.authorizationFile and sync.extra, the keys of products beyond their fields that are kept. An option overrides a setting, and a setting of the user overrides one \
      of the default store.

      With --organisation, a user who has no catalogue yet begins with that of another user of the same organisation \
      and the same source, if there is one here: without a download, and without room for a second copy. The first \
      sync then is an increment. The source is the URL; for files, --source names it. After a sync without \
      --organisation, no other user begins with this catalogue, because its organisation is not known.

      Credentials for the server are the value of the Authorization header, such as 'Bearer …'. They come from \
      --authorization-file, a file that nobody else may read (chmod 600), from $CATALOG_AUTHORIZATION, or from \
      --authorization, which shows them in the list of processes. Credentials of a setting go to the host of sync.url \
      only. $http_proxy, $https_proxy and $no_proxy are honoured.

      A row that exceeds a limit of the format is skipped, up to 1 % of the rows (at least 10). An answer is refused \
      if more than 1 % of its products (and at least 100) have no id of their own; --accept-loss takes it.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var accept: UpdateOptions
  @OptionGroup var connection: ConnectionOptions

  @Option(help: ArgumentHelp("The server's address; without it, the setting sync.url.", valueName: "url"))
  var url: String?
  @Option(help: ArgumentHelp("A file with the server's answer.", valueName: "file"), completion: .file())
  var from: [String] = []
  @Option(
    help: ArgumentHelp("The address of a publication, in place of a server's.", valueName: "url"))
  var published: String?
  @Option(
    help: ArgumentHelp("A neighbour that has the publication too, and is asked first.", valueName: "url"))
  var mirror: [String] = []
  @Option(
    help: ArgumentHelp(
      "The public root key of the publication; without it, the first one that is met.",
      valueName: "file"), completion: .file())
  var rootKey: String?
  @Flag(help: "Take the answer as a full update.") var full = false
  @Flag(help: "Set a damaged catalogue aside and start a new one; with --full.") var replaceDamaged = false
  @Option(
    help: ArgumentHelp("The organisation whose catalogue this is: its users share what is common.", valueName: "id"))
  var organisation: String?
  @Option(help: ArgumentHelp("Where the files' answers come from, together with --organisation.", valueName: "name"))
  var source: String?
  @Option(
    help: ArgumentHelp("Ask for a full update if a list of an increment has this many rows.", valueName: "rows"))
  var threshold = 1000
  @Option(
    help: ArgumentHelp("Keep what the server sends in a file, also if it is refused.", valueName: "file"),
    completion: .file())
  var keepAnswer: String?
  @Flag(help: "Show progress even if standard error is not a terminal.") var progress = false

  func validate() throws {
    guard url == nil || from.isEmpty else { throw ValidationError("give --url URL or --from FILE, one of them") }
    if published != nil, url != nil || !from.isEmpty {
      throw ValidationError("give --published URL, --url URL or --from FILE, one of them")
    }
    if url != nil || !from.isEmpty, rootKey != nil || !mirror.isEmpty {
      throw ValidationError("--root-key and --mirror belong to --published URL")
    }
    if published != nil, organisation != nil || source != nil || keepAnswer != nil || replaceDamaged {
      throw ValidationError("--organisation, --source, --keep-answer and --replace-damaged do not go with --published")
    }
    guard organisation != "", source != "" else { throw ValidationError("--organisation and --source are not empty") }
    if from.isEmpty, source != nil {
      throw ValidationError("with --url the URL is the source; --source goes with --from")
    }
    if !from.isEmpty, organisation != nil, source == nil {
      throw ValidationError(
        "with --from, --organisation and --source go together: the source is what the files are answers of")
    }
    if replaceDamaged, !full {
      throw ValidationError("--replace-damaged begins anew, which takes everything: give --full as well")
    }
    if !from.isEmpty, keepAnswer != nil {
      throw ValidationError("--keep-answer keeps what a server sends; --from has it in a file already")
    }
    guard threshold > 0 else { throw ValidationError("--threshold is at least 1") }
  }

  func run() async throws {
    // Report a catalogue that cannot be opened before anything else.
    if !full { _ = try store.snapshot() }
    let settings = try readSettings()
    if let published {
      return try await PublishedSync(
        store: store, write: write, output: output, accept: accept, url: published, mirrors: mirror, rootKey: rootKey,
        isFull: full
      ).run { try connection.options(to: $0, settings) }
    }
    let organisation = organisation ?? (from.isEmpty || source != nil ? settings.organisation : nil)
    if !from.isEmpty {
      if source != nil, organisation == nil {
        throw Failure(.usage, "--source and --organisation go together: they say whose catalogue the files are")
      }
      return try takeFiles(SyncOrigin(store, write, source: source, organisation: organisation), settings)
    }
    guard let url = url ?? settings.url else {
      throw Failure(
        .usage,
        "no server is known: give --url URL, or say it once and for all with 'catalogctl config set sync.url URL';"
          + " --from FILE takes an answer from a file")
    }
    let transport = try connection.transport(to: url, settings)
    let origin = try SyncOrigin(store, write, source: url, organisation: organisation, shownSource: transport.url)
    origin.hint()
    let display = SyncDisplay(host: transport.host, isForced: progress)
    guard let keepAnswer else {
      return try await synchronize(with: transport.announcing(on: display), display, origin, settings)
    }
    let keeper = try AnswerKeeper(transport.announcing(on: display), keepAnswer)
    defer { keeper.publish() }
    try await synchronize(with: keeper, display, origin, settings) { keeper.publish() }
  }

  /// The settings, as far as they are needed. Settings that cannot be read are ignored if all values are given as
  /// options.
  private func readSettings() throws -> SyncSettings {
    if !from.isEmpty, source == nil || organisation != nil {
      var settings = SyncSettings()
      settings.extraKeys = try store.extraKeys()
      return settings
    }
    do { return try SyncSettings(of: store.userID(), in: store.workspace) } catch let error where url != nil {
      _ = try store.userID()
      Console.say("catalogctl: warning: only options count, as the settings of 'sync' cannot be read: \(error)")
      return SyncSettings()
    }
  }

  // MARK: From a server

  /// - Parameter keep: Saves the server's response; called before the report, which may end the process.
  private func synchronize<Transport: CatalogTransport>(
    with transport: Transport, _ display: SyncDisplay, _ origin: SyncOrigin, _ settings: SyncSettings,
    keep: () -> Void = {}
  ) async throws {
    let adopted = try origin.prepare(full: full)
    let start = ContinuousClock.now
    var synchronizer = Synchronizer(transport)
    synchronizer.options = accept.importOptions(threshold: threshold, extraKeys: settings.extraKeys)
    synchronizer.options.skipsUnchanged = true
    // Report the durable commit before compacting.
    synchronizer.compaction = .never
    synchronizer.onProgress = { display.update($0) }
    synchronizer.willWrite = { writer, mode in
      if mode == .full { try writer.roomForFullUpdate().warnIfScarce() }
      try origin.confirm()
    }
    display.begin()
    defer { display.end() }
    let destination = SyncDestination(try store.workspace.makeCatalogue(of: store.userID())) {
      try store.writer(lockTimeout: write.lockTimeout, replacesDamaged: replaceDamaged)
    }
    _ = try await synchronizer.run(destination, full: full) { writer, report in
      display.end()
      origin.recordSynchronization()
      writer.sayWhatWasSetAside()
      keep()
      DurableChange.report(commit: report.update.sequence, filesAfter: 0)
      print(report, origin, adopted, seconds: (ContinuousClock.now - start) / .seconds(1))
      writer.tidyUp()
    }
  }

  // MARK: From files

  private func takeFiles(_ origin: SyncOrigin, _ settings: SyncSettings) throws {
    // Report a missing file before a store is created.
    let files = try from.map(InputFile.init)
    let location = try store.workspace.makeCatalogue(of: store.userID())
    for (index, file) in files.enumerated() {
      let arrived = try file.arrived(nextTo: location)
      // Only the first file can adopt another user's catalogue.
      let adopted = try index == 0 ? origin.prepare(full: full) : nil
      let writer = try store.writer(lockTimeout: write.lockTimeout, replacesDamaged: replaceDamaged)
      defer { writer.close() }
      try origin.confirm()
      try take(arrived, writer, origin, adopted, settings, filesAfter: files.count - 1 - index)
    }
  }

  private func take(
    _ file: InputFile, _ writer: CatalogWriter, _ origin: SyncOrigin, _ adopted: AdoptedBase?,
    _ settings: SyncSettings, filesAfter: Int
  ) throws {
    let start = ContinuousClock.now
    let mode: UpdateMode = try full || writer.snapshot().cursor.isEmpty ? .full : .incremental
    if mode == .full { try writer.roomForFullUpdate().warnIfScarce() }
    var options = accept.importOptions(threshold: threshold, extraKeys: settings.extraKeys)
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
      state.rowsWritten = report.payload.rows
      bar.update(state)
      origin.recordSynchronization()
      writer.sayWhatWasSetAside()
      DurableChange.report(commit: report.update.sequence, filesAfter: filesAfter)
      print(report, origin, adopted, seconds: (ContinuousClock.now - start) / .seconds(1))
    } catch {
      answer.cancel()
      bar.end()
      throw Failure(named: file.name, error)
    }
    writer.tidyUp()
  }

  private func print(_ report: ImportReport, _ origin: SyncOrigin, _ adopted: AdoptedBase?, seconds: Double) {
    let words = SyncReport(report)
    if output.json {
      var fields = words.fields(seconds: seconds)
      if origin.organisation != nil { fields.append(("adopted", adopted?.json ?? .null)) }
      JSONText.object(fields).print()
    } else {
      words.print(seconds: seconds)
    }
    words.warn()
  }
}

extension StoreOptions {
  /// The keys of the setting `sync.extra`. Settings that cannot be read are reported, and no key is kept then.
  ///
  /// - Throws: `WorkspaceError.notSignedIn`.
  func extraKeys() throws -> Set<String> {
    let user = try userID()
    do { return try SyncSettings.extraKeys(of: user, in: workspace) } catch {
      Console.say(
        "catalogctl: warning: no keys beyond the fields are kept, as the setting sync.extra cannot be read: \(error)")
      return []
    }
  }
}

extension CatalogWriter {
  /// Reports the path of a damaged catalogue that was replaced by an earlier commit.
  func sayWhatWasSetAside() {
    if let damagedPath { Console.say("catalogctl: the damaged catalogue is now \(damagedPath)") }
  }
}

/// The options that limit an update.
struct UpdateOptions: ParsableArguments {
  @Flag(help: "Take an update however many products or codes it loses, or products have no id of their own.")
  var acceptLoss = false
  @Option(
    help: ArgumentHelp(
      "The share of the products, and of their codes, 0 to 1, that an update may lose; without it, 0.5 of more than 1,000.",
      valueName: "share"))
  var maxLoss: Double?
  @Option(
    help: ArgumentHelp(
      "Refuse what unpacks to more than this; without it, more than 16 GiB, or more than 256 MiB and 100 times its packed size.",
      valueName: "bytes"))
  var maxUnpacked: Int?

  func validate() throws {
    if let maxUnpacked, maxUnpacked < 1 { throw ValidationError("--max-unpacked is at least 1 byte") }
    guard 0...1 ~= maxLoss ?? 0 else { throw ValidationError("--max-loss is 0 to 1") }
  }

  /// The limits above which a readable response is refused.
  var limits: WireLimits {
    var limits = WireLimits()
    if let maxUnpacked {
      limits.unpackedByteCount = maxUnpacked
      limits.absoluteByteCount = maxUnpacked
    }
    return limits
  }

  /// What is asked for counts for small catalogues too.
  var lossLimit: LossLimit {
    acceptLoss ? .open : maxLoss.map { LossLimit(share: $0, smallCatalogue: 0) } ?? LossLimit()
  }

  private var rowLimits: RowLimits { acceptLoss || maxLoss == 1 ? .acceptingCollapse : RowLimits() }

  /// The options of an import with these limits.
  ///
  /// - Parameters:
  ///   - threshold: The number of rows in a list of an increment that makes a full update due.
  ///   - extraKeys: The keys of a product, other than its fields, that are kept.
  func importOptions(threshold: Int?, extraKeys: Set<String>) -> ImportOptions {
    var options = ImportOptions()
    options.extraKeys = extraKeys
    options.threshold = threshold
    options.lossLimit = lossLimit
    options.limits = limits
    options.rowLimits = rowLimits
    return options
  }
}

extension AdoptedBase {
  fileprivate var json: JSONText {
    .object([("cursor", .text(cursor)), ("bytes", .int(byteCount)), ("shared", .bool(isShared))])
  }
}

extension Failure {
  /// Creates an error about an input, prefixed with the input's name.
  init(named name: String, _ error: any Error) {
    guard let failure = Failure(error) else {
      self.init(.data, "\(name): \(error)")
      return
    }
    self.init(
      failure.code, failure.code == .data || error is DatabaseError ? "\(name): \(failure.message)" : failure.message)
  }
}
