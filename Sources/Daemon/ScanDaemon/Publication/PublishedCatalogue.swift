import Catalog
import CatalogHTTP
import CatalogSync
import DocumentFormat
import Essentials
import JSONFormat
import LogStore
import Logging
import Platform
import PublicationFormat
import PublicationSync
import ServerAnswers
import Synchronization
import UploadQueue
import Workspace

/// A catalogue that follows a publication: one step of it, when the next one is due, and what there is to say about it.
///
/// A device asks for the head once in each interval, at a moment of the interval that is its own, also after a restart: so
/// a hundred thousand devices whose power returns do not ask at once. Only an empty catalogue is filled at once.
final class PublishedCatalogue: Sendable {
  /// How many intervals may pass without news of the head, or with a mirror that is behind.
  private static let patience = 3

  private struct State {
    weak var stores: UserStores?
    /// The head that was checked last.
    var head: PublicationHead?
    /// When there was news of the head, or when the first was to be got, on the clock that only goes forward.
    var asked: Int64
    /// Whether the next step is one of the schedule.
    var isPoll = false
    /// When all rows may be fetched in place of deltas, on the same clock; `nil` if they need not be.
    var baseDue: Int64?
    /// How often in a row the address had no head.
    var goneCount = 0
    var refusal: (reason: String, time: Date)?
    /// Why the last attempt failed.
    var failure: (code: String, reason: String)?
    /// The mirror that the last files came from.
    var mirror: String?
    /// The mirrors that answered with something else than was published, and why.
    var wrongMirrors: [String: String] = [:]
    /// The mirrors that have an older state, since when, and why.
    var olderMirrors: [String: (since: Int64, reason: String)] = [:]
  }

  let options: PublicationOptions
  private let sync: SyncOptions
  private let origin: FileTransport
  private let mirrors: [FileTransport]
  private let context: DaemonContext
  private let state: Mutex<State>

  /// - Throws: `TransportError` for an invalid address or header.
  init(_ options: PublicationOptions, _ sync: SyncOptions, _ context: DaemonContext) throws(TransportError) {
    self.options = options
    self.sync = sync
    self.context = context
    var transport = sync.transport
    // The schedule tries again and reports; the transport only passes over failures of moments.
    transport.retry.maximumAttempts = min(2, transport.retry.maximumAttempts)
    origin = try FileTransport(url: options.url, options: transport)
    // The credentials are for the publication, and a mirror needs none. There are other places to ask.
    transport.retry.maximumAttempts = 1
    transport.authorization = nil
    transport.headers = []
    var mirrors: [FileTransport] = []
    for url in options.mirrors { mirrors.append(try FileTransport(url: url, options: transport)) }
    self.mirrors = mirrors
    state = Mutex(State(asked: context.time.uptime()))
  }

  // MARK: One step

  /// The next step is one of the schedule, which nobody has asked for.
  func willPoll() { state.withLock { $0.isPoll = true } }

  /// Brings the stores to the state that is published for this device.
  func run(_ stores: UserStores, _ extent: CatalogueSync.Extent) async throws -> Synchronization {
    let location = try stores.catalogueLocation()
    prepare(stores)
    var client = try client(stores)
    let isPoll = state.withLock { state in
      defer { state.isPoll = false }
      return state.isPoll
    }
    client.asksOriginToo = !isPoll || schedule(stores).asksOriginToo(fraction: context.time.fraction())
    var sync = PublicationSync(client)
    sync.lossLimit = self.sync.lossLimit
    sync.isFull = extent == .full
    sync.replacesDamaged = extent == .replacement
    sync.checkProbe = { try PublicationProbeCheck.check($0, $1) }
    sync.didCheckHead = { [self] head in checked(head) }
    sync.willFetchBase = { [self] head, deltasFailed in
      if deltasFailed { try postpone(head) }
    }
    let destination = SyncDestination(location) {
      try stores.forgetOrigin()
      return try stores.importWriter(replacesDamaged: extent == .replacement)
    }
    let before = mirrors.map(\.traffic.bytesIn)
    defer { note(client.mirrorFaults.all) }
    do {
      var damagedPath: String?
      let report = try await sync.run(destination) { writer, _ in damagedPath = writer.damagedPath }
      let used = zip(mirrors, before).map { ($0.name, $0.traffic.bytesIn - $1) }.max { $0.1 < $1.1 }
      succeeded(report, mirror: used.flatMap { $0.1 > 0 ? $0.0 : nil })
      return try synchronization(report.update, location, bytesIn: report.bytesIn, damagedPath)
    } catch is Postponed {
      return try synchronization(nil, location, bytesIn: 0, nil)
    } catch let error as PublicationFailure {
      failed(error)
      throw error
    }
  }

  /// A client for the stores.
  func client(_ stores: UserStores) throws -> PublicationClient {
    let cache = PublicationCache(of: try stores.catalogueLocation(), keepsObjects: options.isMirror)
    let id = PublicationClient.deviceID(ofUser: stores.user ?? "")
    return PublicationClient(
      origin: origin, mirrors: mirrors.map { MirrorOrigin($0, context.time) }, cache: cache, rootKey: options.rootKey,
      deviceNumber: try PublicationClient.deviceNumber(of: id))
  }

  /// Lookups in the publication for stores that have no rows. Their requests fail soon, and are not those of the
  /// synchronisation.
  func lookup(_ stores: UserStores) throws -> PublicationLookup {
    var transport = sync.transport
    transport.retry.maximumAttempts = 1
    transport.connectTimeout = min(transport.connectTimeout, FirstAnswers.timeout)
    let origin = try FileTransport(url: options.url, options: transport)
    transport.authorization = nil
    transport.headers = []
    let id = PublicationClient.deviceID(ofUser: stores.user ?? "")
    return PublicationLookup(
      origin: origin, mirrors: try options.mirrors.map { try FileTransport(url: $0, options: transport) },
      rootKey: options.rootKey, deviceNumber: try PublicationClient.deviceNumber(of: id),
      arriving: PublicationCache(of: try stores.catalogueLocation()))
  }

  /// The head that was checked last.
  func head(_ stores: UserStores) -> PublicationHead? {
    prepare(stores)
    return state.withLock { $0.head }
  }

  /// Asks the publication for its head, which the next synchronisation brings the rows to.
  func newHead(_ stores: UserStores) async throws -> PublicationHead {
    prepare(stores)
    let head = try await client(stores).head(stores.catalogue().publication, takesOther: false).head
    checked(head)
    return head
  }

  private func synchronization(
    _ update: UpdateReport?, _ location: StoreLocation, bytesIn: Int, _ damagedPath: String?
  ) throws -> Synchronization {
    let known = try update ?? CatalogReader.open(location).flatMap { try UpdateReport(ofLast: $0.snapshot()) }
    guard let known else { throw PublicationFailure.unavailable("the catalogue was removed meanwhile") }
    var payload = PayloadSummary()
    payload.bytesIn = bytesIn
    return Synchronization(
      ImportReport(update: known, payload: payload), damagedPath: damagedPath, isUnchanged: update == nil)
  }

  /// All rows are to be fetched later.
  private struct Postponed: Error {}

  /// Lets the devices whose deltas failed, which may be all, fetch all rows one after the other, over the time that the
  /// head names.
  private func postpone(_ head: PublicationHead) throws {
    let now = context.time.uptime()
    let (due, isNew) = state.withLock { state in
      if let due = state.baseDue { return (due, false) }
      let pause = PollSchedule.pauseBeforeBase(spread: head.spread, fraction: context.time.fraction())
      let due = now + pause.nanoseconds / 1000
      state.baseDue = due
      return (due, true)
    }
    if now >= due { return }
    if isNew {
      context.logger.notice(
        "the deltas cannot be used, maybe by no device: all rows are fetched later",
        metadata: ["seconds": "\((due - now) / 1_000_000)"])
    }
    throw Postponed()
  }

  // MARK: What came of it

  /// Forgets what belongs to another user.
  private func prepare(_ stores: UserStores) {
    let now = context.time.uptime()
    let kept = state.withLock { $0.stores === stores } ? nil : keptHead(stores)
    state.withLock { state in
      if state.stores === stores { return }
      state = State(stores: stores, head: kept, asked: now)
    }
  }

  /// The head that an earlier process has checked.
  private func keptHead(_ stores: UserStores) -> PublicationHead? {
    guard let location = try? stores.catalogueLocation(),
      let json = try? PublicationCache(of: location).read(PublicationCache.head)
    else { return nil }
    return try? PublicationHead(json: json)
  }

  private func checked(_ head: PublicationHead) {
    let now = context.time.uptime()
    state.withLock { state in
      state.head = head
      state.asked = now
      state.goneCount = 0
      state.refusal = nil
    }
    context.problems.clear(.publicationRefused)
  }

  private func succeeded(_ report: PublicationReport, mirror: String?) {
    state.withLock { state in
      state.baseDue = nil
      state.failure = nil
      state.mirror = mirror
    }
    for note in report.notes {
      context.logger.info("the publication was not got as planned", metadata: ["reason": "\(note)"])
    }
    if let number = report.trustedFirstKey {
      context.logger.warning(
        "took the root key from the publication itself: compare it with the publisher's, or set sync.rootKey",
        metadata: ["key": "\(number)"])
    }
  }

  private func failed(_ error: PublicationFailure) {
    let now = Date(microseconds: context.time.now())
    let reason = String("\(Self.namingSettings(error))".prefix(500))
    let code = Self.problem(error) ?? .syncFailing
    state.withLock { state in
      state.failure = (code.rawValue, reason)
      switch error {
      case .gone: state.goneCount += 1
      case .refused, .older, .probeFailed:
        state.goneCount = 0
        state.refusal = (reason, now)
      case .unavailable, .busy: state.goneCount = 0
      }
    }
  }

  /// The problem that a failure is; `nil` if it is one of any synchronisation.
  static func problem(_ error: any Error) -> ProblemCode? {
    switch error as? PublicationFailure {
    case .refused, .older, .probeFailed: .publicationRefused
    case .unavailable, .gone, .busy, nil: nil
    }
  }

  /// The same error, with the daemon's settings in place of the options of `catalogctl`.
  static func namingSettings(_ error: PublicationFailure) -> any Error {
    func renamed(_ text: String) -> String {
      text.replacing("give it with --root-key", with: "set sync.rootKey to its file")
        .replacing("with --full it takes", with: "POST /v1/sync with {\"full\": true} takes")
    }
    return switch error {
    case .refused(let reason): PublicationFailure.refused(renamed(reason))
    default: error
    }
  }

  private func note(_ faults: [MirrorFaults.Fault]) {
    let now = context.time.uptime()
    state.withLock { state in
      let before = state.olderMirrors
      state.wrongMirrors = [:]
      state.olderMirrors = [:]
      for fault in faults {
        switch fault.kind {
        case .wrong: state.wrongMirrors[fault.mirror] = fault.reason
        case .older: state.olderMirrors[fault.mirror] = (before[fault.mirror]?.since ?? now, fault.reason)
        }
      }
    }
    reportMirrors()
  }

  private func reportMirrors() {
    let now = context.time.uptime()
    let late = interval * Self.patience
    let messages = state.withLock { state in
      var messages = state.wrongMirrors
      for (mirror, older) in state.olderMirrors where now - older.since >= late.nanoseconds / 1000 {
        messages[mirror] = messages[mirror] ?? older.reason
      }
      return messages
    }
    context.problems.set(.publicationMirror, messages)
  }

  // MARK: The schedule

  /// How often to ask for news.
  var interval: Duration {
    options.interval ?? state.withLock { $0.head }.map { .seconds(max(1, $0.poll)) } ?? PollSchedule.standardInterval
  }

  /// How long to wait after the start of the daemon; `nil` to ask at once, because there is no catalogue.
  func firstPause(_ stores: UserStores) -> Duration? {
    prepare(stores)
    guard (try? stores.catalogue().publication) != nil else { return nil }
    return schedule(stores).untilMoment(context.time.now())
  }

  /// How long to wait after a success.
  func pause(_ stores: UserStores?) -> Duration {
    if let due = state.withLock({ $0.baseDue }) {
      return .microseconds(max(1000, due - context.time.uptime()))
    }
    return schedule(stores).pause(context.time.now(), fraction: context.time.fraction())
  }

  /// How long to wait after a failure.
  ///
  /// - Parameter number: The number of failures in a row.
  func pause(after error: any Error, _ number: Int, _ stores: UserStores?) -> Duration {
    guard case PublicationFailure.gone = error else {
      return schedule(stores).pause(
        afterFailure: number, first: sync.firstRetry, fraction: context.time.fraction())
    }
    let count = state.withLock { $0.goneCount }
    return PollSchedule.pause(afterGone: count, fraction: context.time.fraction())
  }

  private func schedule(_ stores: UserStores?) -> PollSchedule {
    let phase = PublicationClient.pollPhase(of: PublicationClient.deviceID(ofUser: stores?.user ?? ""))
    return PollSchedule(interval: interval, jitter: sync.jitter, phase: phase)
  }

  // MARK: State

  /// Sets the problems that come with time.
  func reportProblems(_ stores: UserStores) {
    prepare(stores)
    let (head, asked, refusal) = state.withLock { ($0.head, $0.asked, $0.refusal) }
    if refusal == nil { context.problems.clear(.publicationRefused) }
    let stale = head.flatMap { head in
      isStale(head)
        ? "the head has expired at \(DateText.text(head.expires)): the publisher has not published since" : nil
    }
    context.problems.set(.publicationStale, stale)
    let passed = context.time.uptime() - asked
    let isOverdue = passed > (interval * Self.patience).nanoseconds / 1000
    context.problems.set(
      .publicationOverdue,
      isOverdue ? "there was no news of the publication for \(passed / 60_000_000) minutes" : nil)
    reportMirrors()
  }

  /// Ends the problems, because nobody is signed in.
  func clearProblems() {
    for code in [ProblemCode.publicationRefused, .publicationStale, .publicationOverdue] {
      context.problems.clear(code)
    }
    context.problems.set(.publicationMirror, [:])
  }

  /// What a report says.
  struct ReportedState {
    var catalogue: String
    var sequence: UInt64
    var digest: String?
    var mirror: String?
    var problem: (code: String, reason: String)?
    /// The percent of the ring that the device is in; `nil` without rings.
    var ring: Double?
    /// The state that the publisher has for this device now; `nil` if the head is not known.
    var target: UInt64?
  }

  /// What there is to report; `nil` before the first rows.
  func reportedState(_ stores: UserStores) -> ReportedState? {
    prepare(stores)
    guard let mark = try? stores.catalogue().publication else { return nil }
    let state = state.withLock { $0 }
    let head = state.head.flatMap { $0.catalogue == mark.catalogue ? $0 : nil }
    var problem = state.failure
    if problem == nil, let head, isStale(head) {
      problem = (
        ProblemCode.publicationStale.rawValue, "the head has expired at \(DateText.text(head.expires))"
      )
    }
    let number = try? PublicationClient.deviceNumber(of: PublicationClient.deviceID(ofUser: stores.user ?? ""))
    var target = number.flatMap { head?.state(ofDevice: $0) }
    if let activation = target?.activation, let known = target, known.sequence > mark.sequence,
      !PublicationSync.isReached(activation, at: Date(microseconds: context.time.now()))
    {
      // It is fetched ahead, and nothing is missing.
      target = head?.state(mark.sequence)
    }
    return ReportedState(
      catalogue: mark.catalogue, sequence: mark.sequence, digest: head?.state(mark.sequence)?.digest,
      mirror: state.mirror, problem: problem,
      ring: number.flatMap { number in head?.rings.first { number < $0.percent }?.percent }, target: target?.sequence)
  }

  private func isStale(_ head: PublicationHead) -> Bool { head.expires < Date(microseconds: context.time.now()) }

  /// What the status says about the publication.
  ///
  /// - Parameter firstAnswers: How many scans were answered from it while there was no catalogue.
  func json(_ stores: UserStores?, firstAnswers: Int) -> JSONText {
    if let stores { prepare(stores) }
    let state = state.withLock { $0 }
    let mark = stores.flatMap { try? $0.catalogue().publication }
    let own = state.head.flatMap { head in
      head.catalogue == mark?.catalogue ? mark.flatMap { head.state($0.sequence) } : nil
    }
    let refusal = state.refusal.map { refusal in
      JSONText.object([("reason", .text(refusal.reason)), ("time", .text(refusal.time.precise))])
    }
    return .object([
      ("url", .text(origin.name)), ("catalogue", .optional(mark?.catalogue)),
      ("sequence", mark.map { .uint($0.sequence) } ?? .null), ("digest", .optional(own?.digest)),
      ("newest", state.head.map { .uint($0.sequence) } ?? .null),
      ("published", .optional(state.head.map { DateText.text($0.published) })),
      ("expires", .optional(state.head.map { DateText.text($0.expires) })),
      ("stale", .bool(state.head.map(isStale) ?? false)), ("mirror", .optional(state.mirror)),
      ("refusal", refusal ?? .null), ("firstAnswers", .int(firstAnswers)),
    ])
  }
}
