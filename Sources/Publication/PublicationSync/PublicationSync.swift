package import Catalog
import Bytes
import CatalogRows
package import CatalogSync
import Cryptography
import DocumentFormat
package import Essentials
import LogStore
import Platform
package import PublicationFormat
import Storage
import Zstd

/// What a synchronisation with a publication did.
package struct PublicationReport: Sendable {
  /// Which files brought the rows.
  package enum Mode: String, Sendable {
    case base, delta, unchanged
  }

  package var mode: Mode
  /// The report of the commit; `nil` if nothing was written.
  package var update: UpdateReport?
  /// The head that counts.
  package var head: PublicationHead
  /// The state that this device has now.
  package var sequence: UInt64
  /// The requests that were made, and the bytes that they brought.
  package var requests: Int
  package var bytesIn: Int
  /// What went wrong on the way without being a reason to stop.
  package var notes: [String]
  /// Whether the root key was taken from the publication itself, because none was known.
  package var trustedFirstKey: String?

  /// When this device switches to the newest state, as the head says; `nil` if it does not wait for that.
  package var waitsFor: String?

  /// Whether the head was to be replaced by now.
  package func isExpired(at now: Date) -> Bool { head.expires < now }
}

/// Brings a catalogue to the state that a publication has for this device.
///
/// The rows change in one commit, together with the sequence number and the keys that vouch for it. Before the commit the
/// digest must be the published one: if deltas lead to another one, all rows are fetched. Whatever happens, the catalogue has
/// the rows of one published state, and never those of an older one than before.
package struct PublicationSync: Sendable {
  package var client: PublicationClient
  /// The limit on what the first base may lose of the rows that are there.
  package var lossLimit = LossLimit()
  /// Whether all rows are fetched, whatever the catalogue has; and from another publication too, if it is one.
  package var isFull = false
  /// Whether the newest state is taken, whatever the rings say.
  package var takesNewest = false
  /// Whether a catalogue that cannot be read is replaced; all rows are fetched then.
  package var replacesDamaged = false
  /// Whether the codes of a probe are found; called with the new state before it counts.
  package var checkProbe: @Sendable (PublicationProbe, CatalogSnapshot) throws -> Void = { _, _ in }

  /// Called when there is news of the head, even if nothing else can be fetched.
  package var didCheckHead: @Sendable (PublicationHead) -> Void = { _ in }
  /// Called before all rows are fetched; an error that it throws ends the synchronisation. The second argument is
  /// whether that is so because deltas cannot be used.
  package var willFetchBase: @Sendable (PublicationHead, Bool) async throws -> Void = { _, _ in }

  /// The clock of the device.
  package var now: @Sendable () -> Date = { Date() }

  package init(_ client: PublicationClient) { self.client = client }

  /// Synchronises a catalogue.
  ///
  /// - Parameter onCommit: Called when the rows are durable, while the catalogue is still locked.
  /// - Throws: ``PublicationFailure``; `StoreError`, `CatalogError`, `StorageError`; `CancellationError`. Nothing was
  ///   changed in these cases.
  nonisolated(nonsending) package func run(
    _ destination: SyncDestination, onCommit: (CatalogWriter, UpdateReport) -> Void = { _, _ in }
  ) async throws -> PublicationReport {
    let lock = try client.cache.lock()
    defer { lock.release() }
    let before = traffic
    let old = replacesDamaged ? try? destination.snapshot() : try destination.snapshot()
    let takesAll = isFull || replacesDamaged
    // Who takes over goes on from what is published, even if it is older.
    let mark = takesNewest ? nil : old?.publication
    let (checked, isReached) = try await head(mark)
    if isReached { didCheckHead(checked.head) }
    let state = takesNewest ? checked.head.state : checked.head.state(ofDevice: client.deviceNumber)
    var report = PublicationReport(
      mode: .unchanged, head: checked.head, sequence: mark?.sequence ?? 0, requests: 0, bytesIn: 0,
      notes: checked.notes)
    if client.rootKey == nil, mark == nil || mark?.rootKey.isEmpty == true {
      report.trustedFirstKey = checked.trust.root.map { "\($0.number)" }
    }
    let follows = mark?.catalogue == checked.head.catalogue
    if follows, let mark, !takesAll {
      // A ring may have an older state than the device has already.
      let isThere = state.sequence <= mark.sequence
      var isWhole = mark.rowSum != nil
      if isThere, !isWhole, let old {
        isWhole = try CatalogDigest(old).description == state.digest || state.sequence < mark.sequence
      }
      if isThere, isWhole, state.sequence == mark.sequence, mark.rowSum != nil, let old {
        // A publisher that lost its last states may have used their numbers again.
        isWhole = try old.rowSum().digest(cursor: old.cursor).description == state.digest
        if !isWhole {
          report.notes.append(
            "the state \(state.sequence) has other rows than when this device got it: all rows are fetched")
        }
      }
      if isThere, isWhole {
        report.requests = traffic.requests - before.requests
        report.bytesIn = traffic.bytesIn - before.bytesIn
        return report
      }
    }
    try checkLimits(checked.head, destination)
    if follows, !takesAll, let mark, let activation = state.activation,
      !isDue(activation, checked.head, isReached: isReached, &report)
    {
      try await fetchAhead(state, from: mark.sequence)
      report.waitsFor = activation
      report.requests = traffic.requests - before.requests
      report.bytesIn = traffic.bytesIn - before.bytesIn
      return report
    }
    let new = PublicationMark(
      catalogue: checked.head.catalogue, sequence: state.sequence, keysVersion: checked.trust.minimumVersion,
      rootKey: PublicationClient.bytes(of: checked.trust.root))
    let start = follows && !takesAll ? mark.map(\.sequence).flatMap { $0 < state.sequence ? $0 : nil } : nil
    let probe = try await probe(state)
    // Deltas that cannot be had are left out, and the next cheapest way is tried.
    var usable = state
    var from = start
    var deltasFailed = false
    while report.mode == .unchanged {
      let plan = PublicationPlan.cheapest(from: from, to: usable)
      do {
        switch plan {
        case .deltas(let deltas):
          report.update = try await take(deltas, state, new, probe, destination, onCommit)
          report.mode = .delta
        case .base(let base, let deltas):
          try await willFetchBase(checked.head, deltasFailed)
          report.update = try await take(base, deltas, state, new, probe, follows: follows, destination, onCommit)
          report.mode = .base
        }
      } catch let failure as UnusableDelta {
        report.notes.append("a delta cannot be used (\(failure.reason)): another way is taken")
        deltasFailed = true
        usable.deltas.removeAll { $0 == failure.delta }
        if case .base = PublicationPlan.cheapest(from: from, to: usable), !PublicationPlan.reaches(usable) {
          throw PublicationFailure.unavailable(failure.reason)
        }
      } catch let error as DigestMismatch where from != nil {
        report.notes.append("the deltas lead to other rows than were published (\(error)): all rows are fetched")
        deltasFailed = true
        from = nil
      }
    }
    if !client.cache.keepsObjects { try? client.cache.forgetObjects(except: []) }
    report.sequence = state.sequence
    report.requests = traffic.requests - before.requests
    report.bytesIn = traffic.bytesIn - before.bytesIn
    return report
  }

  // MARK: Activation

  /// The head, and whether it is as the publication has it now. A device that cannot reach the publication goes on with
  /// the head that it has, if a state of it waited for its time.
  private func head(_ mark: PublicationMark?) async throws -> (PublicationClient.CheckedHead, isReached: Bool) {
    do { return (try await client.head(mark, takesOther: isFull), true) } catch let error as PublicationFailure {
      switch error {
      case .unavailable, .gone:
        guard !isFull, let mark, var kept = client.keptHead(mark) else { throw error }
        let state = kept.head.state(ofDevice: client.deviceNumber)
        guard state.activation != nil, state.sequence > mark.sequence else { throw error }
        kept.notes.append("the publication cannot be reached (\(error)): what was fetched before counts")
        return (kept, false)
      case .refused, .older, .probeFailed, .busy: throw error
      }
    }
  }

  /// Whether the time of a state has come, by a clock that can be right.
  ///
  /// A clock is wrong if it is before the time at which the head was published, or after the time at which a head that was
  /// read just now expires.
  private func isDue(
    _ activation: String, _ head: PublicationHead, isReached: Bool, _ report: inout PublicationReport
  ) -> Bool {
    let now = now()
    let tolerance: TimeInterval = 300
    if now < head.published - tolerance || isReached && now > head.expires + tolerance {
      report.notes.append(
        "the clock of this device says \(DateText.text(now)), and the head was published at"
          + " \(DateText.text(head.published)): set the clock; until then no state is switched to by its time")
      return false
    }
    return Self.isReached(activation, at: now)
  }

  /// Whether the time of a state has come.
  package static func isReached(_ activation: String, at now: Date) -> Bool {
    let seconds = Int(now.timeIntervalSince1970)
    switch ActivationTime(activation) {
    case .instant(let time): return seconds >= time
    case .local(let time): return seconds + LocalTime.secondsAheadOfUTC(at: Int64(seconds)) >= time
    case nil: return true
    }
  }

  /// Fetches the files of the way to a state, and keeps them.
  private func fetchAhead(_ state: PublicationHead.State, from sequence: UInt64) async throws {
    var client = client
    client.cache.keepsObjects = true
    if let probe = state.probe { _ = try await client.object(probe.name("probe"), probe) }
    let deltas: [PublicationHead.Delta]
    switch PublicationPlan.cheapest(from: sequence, to: state) {
    case .deltas(let way): deltas = way
    case .base(let base, let way):
      deltas = way
      _ = try await BaseDownload(client, base, client.cache.openBase(base))
      try client.cache.finishBase(base)
    }
    for delta in deltas { _ = try await client.object(delta.name, delta.file) }
  }

  private var traffic: (requests: Int, bytesIn: Int) {
    (client.mirrors + [client.origin]).reduce(into: (requests: 0, bytesIn: 0)) {
      $0.requests += $1.traffic.requests
      $0.bytesIn += $1.traffic.bytesIn
    }
  }

  /// Refuses what this device cannot hold, before it is fetched.
  private func checkLimits(_ head: PublicationHead, _ destination: SyncDestination) throws(PublicationFailure) {
    let limits = head.limits
    if limits.rows >= 1 << 31 || limits.text > 1 << 20 {
      throw .refused(
        "the publication has \(limits.rows) rows and a text of \(limits.text) bytes, which no catalogue holds")
    }
    if let room = destination.availableByteCount, room < limits.bytes {
      throw .refused(
        "the publication has \(limits.bytes) bytes of rows, and \(room) are free where the catalogue lies: make room")
    }
  }

  private func probe(_ state: PublicationHead.State) async throws -> PublicationProbe? {
    guard let file = state.probe else { return nil }
    do {
      return try PublicationProbe(json: await client.object(file.name("probe"), file))
    } catch let error as PublicationError {
      throw PublicationFailure.refused("\(error)")
    }
  }

  // MARK: Deltas

  /// A delta is missing or damaged wherever it was looked for.
  private struct UnusableDelta: Error {
    let delta: PublicationHead.Delta
    let reason: String
  }

  private func read<Sink: RowGroupSink>(_ delta: PublicationHead.Delta, into sink: inout Sink) async throws {
    do {
      let bytes = try await client.object(delta.name, delta.file)
      try DeltaFile.forEachGroup(of: bytes, from: delta.from, to: delta.to) { try $0.forEachEntry(into: &sink) }
    } catch PublicationFailure.unavailable(let reason) {
      throw UnusableDelta(delta: delta, reason: reason)
    } catch let error as PublicationError {
      throw UnusableDelta(delta: delta, reason: "\(delta.name): \(error)")
    } catch let error as ZstdError {
      throw UnusableDelta(delta: delta, reason: "\(delta.name): \(error)")
    }
  }

  nonisolated(nonsending) private func take(
    _ deltas: [PublicationHead.Delta], _ state: PublicationHead.State, _ mark: PublicationMark,
    _ probe: PublicationProbe?, _ destination: SyncDestination, _ onCommit: (CatalogWriter, UpdateReport) -> Void
  ) async throws -> UpdateReport {
    var rows = ReplacementSink()
    for delta in deltas { try await read(delta, into: &rows) }
    let replacement = rows.rows
    return try destination.withWriter { writer in
      guard try writer.snapshot().publication?.sequence == destination.snapshot()?.publication?.sequence else {
        throw PublicationFailure.busy("another process changed the catalogue")
      }
      if let probe { try check(probe, after: replacement, state, mark, destination) }
      let report = try replacement.commit(to: writer, cursor: state.cursor, mark, digest: state.digest)
      onCommit(writer, report)
      return report
    }
  }

  /// Makes the new state in a copy of the catalogue, and tries the codes of the probe on it.
  private func check(
    _ probe: PublicationProbe, after rows: RowReplacement, _ state: PublicationHead.State, _ mark: PublicationMark,
    _ destination: SyncDestination
  ) throws {
    let directory = destination.location.directory
    let copy = destination.location.sibling("publication-probe")
    func remove() {
      for name in (try? directory.names()) ?? [] where name.hasPrefix("publication-probe.") {
        _ = try? directory.remove(name)
      }
    }
    remove()
    defer { remove() }
    _ = try StoreCopy.make(of: destination.location, at: copy)
    let writer = try CatalogWriter(copy)
    defer { writer.close() }
    _ = try rows.commit(to: writer, cursor: state.cursor, mark, digest: state.digest)
    try checkProbe(probe, writer.snapshot())
  }

  private struct ReplacementSink: RowGroupSink {
    var rows = RowReplacement()
    mutating func entry(_ id: RawSpan) { rows.entry(id) }
    mutating func product(_ row: borrowing ProductRow) throws { try rows.product(row) }
    mutating func relation(_ row: borrowing RelationRow) throws { try rows.relation(row) }
    mutating func code(_ row: borrowing CodeRow) throws { try rows.code(row) }
  }

  // MARK: The base

  nonisolated(nonsending) private func take(
    _ base: PublicationHead.Base, _ deltas: [PublicationHead.Delta], _ state: PublicationHead.State,
    _ mark: PublicationMark, _ probe: PublicationProbe?, follows: Bool, _ destination: SyncDestination,
    _ onCommit: (CatalogWriter, UpdateReport) -> Void
  ) async throws -> UpdateReport {
    let file = try client.cache.openBase(base)
    let download = try await BaseDownload(client, base, file)
    var later = LaterRows()
    for delta in deltas {
      try await read(delta, into: &later)
      later.endDelta()
    }
    let rows = later
    let report = try destination.withWriter { writer in
      let update = try writer.beginFullUpdate(follows ? .open : lossLimit)
      var sink = FullSink(update: update, later: rows)
      do {
        let unpacker = try GroupUnpacker(dictionary: download.top.dictionary)
        try download.forEachGroup { packed in
          try Task.checkCancellation()
          do {
            try RowGroupReader(unpacker.unpack(packed)).forEachEntry(into: &sink)
          } catch let error as PublicationError {
            throw PublicationFailure.refused("the base: \(error)")
          } catch let error as ZstdError {
            throw PublicationFailure.refused("the base: \(error)")
          }
        }
        try sink.finish()
      } catch {
        sink.update.cancel()
        throw error
      }
      var mark = mark
      mark.rowSum = PublicationMark.RowSum(sink.sum)
      let sum = sink.sum
      let digest = sum.digest(cursor: state.cursor).description
      if digest != state.digest {
        sink.update.cancel()
        throw Self.otherRows(digest, state)
      }
      let report = try sink.update.commit(cursor: state.cursor, publication: mark) { candidate in
        // Every row that was read was written, so the digest is that of the catalogue unless ids are there twice.
        if !sum.hasCounts(of: candidate) { throw Self.otherRows(try CatalogDigest(candidate).description, state) }
        if let probe { try checkProbe(probe, candidate) }
      }
      onCommit(writer, report)
      return report
    }
    try? client.cache.finishBase(base)
    return report
  }

  private static func otherRows(_ digest: String, _ state: PublicationHead.State) -> PublicationFailure {
    .refused(
      "the rows of the base have the digest \(digest), and \(state.digest) was published: the publisher must publish it"
        + " again")
  }

  /// The entries of deltas that follow a base: the last one of each id counts.
  private struct LaterRows: RowGroupSink {
    struct Entry {
      var product: ProductRow?
      var relations: [RelationRow] = []
      var codes: [CodeRow] = []
    }

    private(set) var entries: [[UInt8]: Entry] = [:]
    private var id: [UInt8]?
    private var entry = Entry()

    mutating func entry(_ id: RawSpan) {
      endDelta()
      self.id = id.copied()
    }
    mutating func product(_ row: borrowing ProductRow) { entry.product = copy row }
    mutating func relation(_ row: borrowing RelationRow) { entry.relations.append(copy row) }
    mutating func code(_ row: borrowing CodeRow) { entry.codes.append(copy row) }

    mutating func endDelta() {
      if let id { entries[id] = entry }
      id = nil
      entry = Entry()
    }
  }

  /// Writes the entries of a base, but those of later deltas in their place.
  private struct FullSink: RowGroupSink {
    var update: FullUpdate
    var sum = CatalogRowSum()
    private let later: LaterRows
    private var isReplaced = false

    init(update: FullUpdate, later: LaterRows) {
      self.update = update
      self.later = later
    }

    mutating func entry(_ id: RawSpan) {
      isReplaced = !later.entries.isEmpty && later.entries[id.copied()] != nil
    }

    mutating func product(_ row: borrowing ProductRow) throws {
      if isReplaced { return }
      try update.product(row)
      sum.add(row)
    }

    mutating func relation(_ row: borrowing RelationRow) throws {
      if isReplaced { return }
      try update.relation(row)
      sum.add(row)
    }

    mutating func code(_ row: borrowing CodeRow) throws {
      if isReplaced { return }
      try update.code(row)
      sum.add(row)
    }

    mutating func finish() throws {
      isReplaced = false
      for (_, entry) in later.entries.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        if let row = entry.product { try product(row) }
        for row in entry.relations { try relation(row) }
        for row in entry.codes { try code(row) }
      }
    }
  }
}
