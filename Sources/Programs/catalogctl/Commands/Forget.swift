import ArgumentParser
import DocumentFormat
import Documents
import Essentials
import JSONFormat
import LogStore
import Platform
import UploadQueue
import Workspace

struct Forget: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Erase uploads, misses, set sessions or documents, and their bytes in the file.",
    discussion: """
      catalogctl forget --uploads --misses --sessions --older-than 30
      catalogctl forget --documents members --older-than 365 --time user.lastSeen
      catalogctl forget --user ana --uploads --misses --sessions --yes

      For people who have to erase what may tell of a person. What is older than --older-than days goes, or all without \
      it. Uploads are as old as their recording, misses as their last time, sessions as their end: an open one goes \
      only without --older-than. Documents are as old as the time in the field --time: a date, text such as \
      2026-01-31T12:00:00Z, or seconds since 1970; those without one stay and are counted.

      Then the file is written anew, so that it no longer has the bytes: that needs room for one more copy. The daemon \
      may run meanwhile. An upload that is being sent stays, and the exit code is 75: try again. On a terminal the \
      command asks first; elsewhere --yes is required. What is left in other places (files of a repair, backups, what \
      was sent) is in the documentation, under Erasing; the files next to this one are named at the end.
      """)

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Flag(help: "Uploads of all queues that wait or are parked, and scans that wait to be looked up again.")
  var uploads = false
  @Flag(help: "Codes that matched nothing.") var misses = false
  @Flag(help: "Set sessions and their scans.") var sessions = false
  @Option(
    name: .customLong("documents"),
    help: ArgumentHelp("The documents of this collection; may be given several times.", valueName: "collection"))
  var collections: [String] = []
  @Option(help: ArgumentHelp("Only what is older than this.", valueName: "days")) var olderThan: Double?
  @Option(help: ArgumentHelp("The field of documents that says how old they are.", valueName: "field"))
  var time: String?
  @Flag(help: "Do not ask.") var yes = false
  @Flag(help: "Say what would be erased, and erase nothing.") var dryRun = false

  func validate() throws {
    guard uploads || misses || sessions || !collections.isEmpty else {
      throw ValidationError("give what to forget: --uploads, --misses, --sessions or --documents, or several of them")
    }
    if let olderThan, !(0...36_500).contains(olderThan) {
      throw ValidationError("--older-than is 0 to 36500 days")
    }
    if !collections.isEmpty, olderThan != nil, time == nil {
      throw ValidationError("documents have no age: give --time with the field that says when, such as --time created")
    }
    if time != nil, collections.isEmpty || olderThan == nil {
      throw ValidationError("--time comes with --documents and --older-than")
    }
    if collections.contains(where: { $0.hasPrefix(DocumentStore.reservedPrefix) }) {
      throw ValidationError("--documents: names that begin with \(DocumentStore.reservedPrefix) are this program's")
    }
    _ = try path()
  }

  private func path() throws -> FieldPath? {
    do { return try time.map { try FieldPath(parsing: $0) } } catch {
      throw ValidationError("--time is a field such as user.lastSeen: \(error)")
    }
  }

  /// What was found, or erased.
  private struct Counts {
    var uploads = ForgottenUploads()
    var pending = 0
    var misses = 0
    var sessions = 0
    var documents = 0
    /// Documents whose field has no time.
    var untimed = 0

    var total: Int { uploads.count + pending + misses + sessions + documents }

    var words: String {
      let parts: [(Int, String)] = [
        (uploads.count, "upload"), (pending, "waiting scan"), (misses, "missed code"), (sessions, "session"),
        (documents, "document"),
      ]
      let found = parts.filter { $0.0 > 0 }.map { Quantity.of($0.0, $0.1) }
      return found.isEmpty ? "nothing" : found.joined(separator: ", ")
    }
  }

  func run() async throws {
    let age = olderThan.map { Date(timeIntervalSinceNow: -$0 * 86_400) }
    let workspace = documents.owner.store.workspace
    if let user = try documents.owner.userID(), try workspace.catalogue(of: user) == nil {
      throw WorkspaceError.noSuchUser(user)
    }
    guard let existing = try documents.existing(), try existing.fileByteCount() > 0 else {
      report(Counts(), before: 0, after: 0, [])
      return try refuse(collections)
    }
    let names = try existing.snapshot().collectionNames
    let unknown = collections.filter { !names.contains($0) }
    let found = try await counts(existing, before: age, isDryRun: true)
    let before = try existing.fileByteCount()
    if dryRun {
      report(found, before: before, after: before, leftovers(existing))
      return try refuse(unknown)
    }
    if found.total > 0, !yes { try ask(found) }
    let store = try documents.writable(write)
    let erased = try await counts(store, before: age, isDryRun: false)
    if erased.total > 0 { DurableChange.report("\(erased.words) erased") }
    do { try store.compact() } catch {
      Console.say(
        "catalogctl: \(erased.words) erased, but the bytes are still in \(store.path), which could not be written anew;"
          + " 'catalogctl documents compact' does it")
      throw error
    }
    DurableChange.report("\(erased.words) erased, and the file is written anew")
    report(erased, before: before, after: try store.fileByteCount(), leftovers(store))
    if erased.uploads.beingSent > 0 {
      throw Failure(
        .temporary,
        "\(Quantity.of(erased.uploads.beingSent, "upload")) being sent stay; try again when the attempt has ended")
    }
    try refuse(unknown)
  }

  /// Says that collections do not exist: a mistyped name must not look as if all was erased.
  private func refuse(_ unknown: [String]) throws {
    if unknown.isEmpty { return }
    throw Failure(
      .no,
      "there is no collection \(unknown.map(\.debugDescription).joined(separator: ", ")); 'catalogctl documents list'"
        + " names those that there are")
  }

  private func ask(_ found: Counts) throws {
    guard isatty(STDIN_FILENO) == 1, Console.isWatched else {
      throw Failure(.usage, "nobody is here to be asked; --yes erases \(found.words) without asking")
    }
    Console.show("erase \(found.words) for good? [y/N] ")
    guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
      throw Failure(.no, "nothing was erased")
    }
  }

  // MARK: Counting and erasing

  private func counts(_ store: DocumentStore, before age: Date?, isDryRun: Bool) async throws -> Counts {
    var counts = Counts()
    let records = ScanRecords(store)
    let seconds = age?.timeIntervalSince1970
    if uploads {
      for name in try UploadQueue.names(in: store) {
        let queue = try UploadQueue(in: store, name: name, isReadOnly: true)
        let found =
          isDryRun
          ? try queue.forgettable(enqueuedBefore: age) : try await queue.forget(enqueuedBefore: age)
        counts.uploads.count += found.count
        counts.uploads.beingSent += found.beingSent
      }
      counts.pending = try records.forgetPendingScans(before: seconds, isDryRun: isDryRun)
    }
    if misses { counts.misses = try records.forgetMisses(before: seconds, isDryRun: isDryRun) }
    if sessions { counts.sessions = try records.forgetSessions(closedBefore: seconds, isDryRun: isDryRun).count }
    for collection in collections {
      try forget(store.untypedCollection(collection), before: age, isDryRun, &counts)
    }
    return counts
  }

  private func forget(
    _ collection: UntypedCollection, before age: Date?, _ isDryRun: Bool, _ counts: inout Counts
  ) throws {
    guard let age, let path = try path() else {
      counts.documents += isDryRun ? try collection.count() : try collection.deleteAll()
      return
    }
    var old: [DocumentValue] = []
    try collection.query { id, document in
      guard let time = document.value(at: path)?.time else { return counts.untimed += 1 }
      if time < age { old.append(id) }
    }
    counts.documents += old.count
    if isDryRun { return }
    var rest = old[...]
    while !rest.isEmpty {
      let part = rest.prefix(1000)
      rest = rest.dropFirst(part.count)
      try collection.store.transaction { transaction in
        for id in part { _ = try transaction.delete(id, from: collection) }
      }
    }
  }

  // MARK: Reporting

  /// The files next to the store that hold what a repair or a crash left.
  private func leftovers(_ store: DocumentStore) -> [String] {
    let location = store.location
    let names = (try? location.directory.names()) ?? []
    let kept = [".damaged-", ".previous", ".new", ".spill-"].map { location.name + $0 }
    return names.filter { name in kept.contains { name.hasPrefix($0) } }.map { location.directory.path + "/" + $0 }
  }

  private func report(_ counts: Counts, before: Int, after: Int, _ leftovers: [String]) {
    if counts.untimed > 0 {
      Console.say(
        "catalogctl: \(Quantity.of(counts.untimed, "document")) without a time in \(time ?? "") stay; 'catalogctl"
          + " documents delete' takes a condition")
    }
    for path in leftovers {
      Console.say("catalogctl: \(path.shown) may hold what was erased; remove it when it is not needed")
    }
    if output.json {
      JSONText.object(
        [
          ("uploads", .int(counts.uploads.count)), ("beingSent", .int(counts.uploads.beingSent)),
          ("pendingScans", .int(counts.pending)), ("misses", .int(counts.misses)),
          ("sessions", .int(counts.sessions)), ("documents", .int(counts.documents)),
          ("withoutTime", .int(counts.untimed)), ("bytesBefore", .int(before)), ("bytesAfter", .int(after)),
          ("leftovers", .array(leftovers.map(JSONText.text))),
        ] + (dryRun ? [("dryRun", .bool(true))] : [])
      ).print()
    } else if dryRun {
      Console.print("would be erased: \(counts.words)")
    } else {
      Console.print("erased: \(counts.words); \(Quantity.bytes(before)) before, \(Quantity.bytes(after)) after")
    }
  }
}

extension DocumentValue {
  /// The time that a field holds; `nil` if it holds none.
  fileprivate var time: Date? {
    switch self {
    case .date(let date): date
    case .text(let text): DateText.date(text)
    case .integer(let seconds): Date(timeIntervalSince1970: Double(seconds))
    case .unsigned(let seconds): Date(timeIntervalSince1970: Double(seconds))
    case .double(let seconds): seconds.isFinite ? Date(timeIntervalSince1970: seconds) : nil
    default: nil
    }
  }

  /// The value of a field, which may be in an object in an object; `nil` if there is none.
  fileprivate func value(at path: FieldPath) -> DocumentValue? {
    path.names.reduce(Optional(self)) { value, name in value?[name] }
  }
}
