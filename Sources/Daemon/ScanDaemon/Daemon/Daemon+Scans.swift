import Catalog
import Documents
import Essentials
import JSONFormat
public import ScanInputs
import UploadQueue
import Workspace

extension Daemon {
  /// Returns the catalogue's match for a code. Has no side effects: no event, no upload, no journal entry.
  ///
  /// - Parameters:
  ///   - code: The code as a scanner sends it.
  ///   - symbology: The symbology as the sender names it; a name that is not known changes nothing.
  /// - Throws: `StoreError`, `CatalogError`, `WorkspaceError` if the catalogue cannot be read.
  /// - Complexity: That of ``catalogue()``, and one lookup.
  public func look(_ code: String, symbology: String? = nil) throws -> ScanAnswer {
    let now = context.time.now()
    let reading = Reading(input: "http", code: code, symbology: symbology)
    do { return try lookUp(reading, id: context.ids.next(now: now), now, repeats: nil).answer } catch {
      health.failed(reading, error)
      throw error
    }
  }

  /// As ``look(_:symbology:)``, but while there is no catalogue, a publication that it follows is asked.
  ///
  /// - Complexity: While there is no catalogue, a few requests, for at most five seconds.
  package func lookAlsoInPublication(_ code: String, symbology: String? = nil) async throws -> ScanAnswer {
    let answer = try look(code, symbology: symbology)
    guard answer.lookup == .noCatalogue, let firstAnswers = sync.firstAnswers else { return answer }
    return await firstAnswers.answer(answer)
  }

  /// Whether ``lookAlsoInPublication(_:symbology:)`` may ask a publication.
  package var followsPublication: Bool { sync.firstAnswers != nil }

  /// Answers a scan: publishes an event, queues its uploads, and enters a miss in the journal. Returns when these are
  /// durable.
  ///
  /// Read and write errors are part of the answer and are not thrown: see ``ScanAnswer/Recording/failed(_:)``.
  ///
  /// - Complexity: That of ``catalogue()``, and one lookup; if the scan is recorded, also the wait for a shared commit.
  public func scan(_ reading: Reading) async -> ScanAnswer { await process([reading])[0].answer }

  /// Answers a scan of an input. The answer is one line of JSON.
  public func answer(_ reading: Reading) async -> ReadingAnswer { await answer([reading])[0] }

  /// Answers scans that an input read together. Their records share commits.
  ///
  /// The answer to a reading of several codes has a line for each, if its input is one of
  /// ``DaemonOptions/splitInputs``.
  public func answer(_ readings: [Reading]) async -> [ReadingAnswer] {
    let parts = readings.map(codes)
    var responses = await process(parts.flatMap { $0 })[...]
    return parts.map { part in
      let own = responses.prefix(part.count)
      responses = responses.dropFirst(part.count)
      return ReadingAnswer(
        line: Array(own.map(\.line).joined(separator: [UInt8(ascii: "\n")])),
        isRepeat: own.allSatisfy { $0.answer.repeats != nil })
    }
  }

  /// Returns the reading of each code, if a reading has several and its input is to be split; otherwise the reading.
  private func codes(_ reading: Reading) -> [Reading] {
    guard context.splitInputs.contains(reading.input), reading.undecodedBytes == nil else { return [reading] }
    // If the catalogue cannot be read, the answer to the whole reading says so.
    let match = try? context.access.withCatalogue { catalogue, stores in
      try catalogue.match(reading, context.access.matching.table(of: stores))
    }
    guard let match, !match.gluedCodes.isEmpty else { return [reading] }
    return match.gluedCodes.map { code in
      var part = reading
      part.code = code
      return part
    }
  }

  // MARK: Scans

  /// A scan after its lookup.
  private struct ProcessedScan {
    let start: Duration
    /// The input's label in metrics.
    let label: String
    var answer: ScanAnswer
    /// The stores to record the scan in; `nil` if they are unknown.
    let stores: UserStores?
  }

  /// An answer in the form its caller receives.
  private struct Response {
    let answer: ScanAnswer
    /// The answer as a line of JSON.
    let line: [UInt8]
  }

  private func process(_ readings: [Reading]) async -> [Response] {
    var responses: [Response] = []
    var rest = readings[...]
    while !rest.isEmpty {
      // A repeated code is processed after the first one was recorded, or could not be.
      var codes: Set<[UInt8]> = []
      let together = rest.prefix { codes.insert(Array($0.code.utf8)).inserted }
      rest = rest.dropFirst(together.count)
      responses += await process(askPublication(together.map(lookUp)))
    }
    return responses
  }

  /// Asks a publication for what was scanned while there is no catalogue, for all scans at the same time.
  private func askPublication(_ scans: [ProcessedScan]) async -> [ProcessedScan] {
    guard let firstAnswers = sync.firstAnswers, scans.contains(where: { $0.answer.lookup == .noCatalogue }) else {
      return scans
    }
    return await withTaskGroup(of: (Int, ScanAnswer).self) { group in
      for (index, scan) in scans.enumerated() where scan.answer.lookup == .noCatalogue {
        group.addTask { (index, await firstAnswers.answer(scan.answer)) }
      }
      var answered = scans
      for await (index, answer) in group { answered[index].answer = answer }
      return answered
    }
  }

  private func process(_ scans: [ProcessedScan]) async -> [Response] {
    let recorded = await record(scans)
    return zip(scans, recorded).map { scan, recorded in
      defer { context.metrics.answer.recordNanoseconds((context.uptime() - scan.start).nanoseconds) }
      if scan.answer.repeats != nil {
        context.metrics.count("shelfmark_repeats_total", [("input", scan.label)])
        return Response(answer: recorded.answer, line: recorded.line)
      }
      return end(recorded, scan.label, after: context.uptime() - scan.start)
    }
  }

  private func lookUp(_ reading: Reading) -> ProcessedScan {
    let start = context.uptime()
    let now = context.time.now()
    let id = context.ids.next(now: now)
    rate.count(at: start)
    let label = inputs.label(reading.input)
    let repeats = inputs.read(reading, id: id, at: start)
    do {
      let (answer, stores) = try lookUp(reading, id: id, now, repeats: repeats)
      return ProcessedScan(start: start, label: label, answer: answer, stores: stores)
    } catch {
      health.failed(reading, error)
      let answer = unreadable(reading, id, now, repeats, error)
      do {
        return ProcessedScan(start: start, label: label, answer: answer, stores: try context.access.stores())
      } catch {
        // The user to record it for is unknown.
        return ProcessedScan(start: start, label: label, answer: answer.recorded(.failed("\(error)")), stores: nil)
      }
    }
  }

  /// Counts and publishes an answer.
  private func end(_ recorded: Recorded, _ label: String, after latency: Duration) -> Response {
    let answer = recorded.answer
    var isFailed = false
    if case .failed = answer.recording { isFailed = true }
    if isFailed { context.metrics.unrecorded.increment() }
    let kind = answer.lookup == .noCatalogue ? "no-catalogue" : answer.kind
    context.metrics.count("shelfmark_scans_total", [("input", label), ("match", kind)])
    inputs.answered(
      answer.reading.input, id: answer.id, isMiss: answer.isMiss, isFailed: isFailed,
      at: answer.time)
    events.publish(.scan, recorded.publicLine, latency: latency)
    if let session = recorded.session { sessions.publishSoon(session.id, session.stores) }
    return Response(answer: answer, line: recorded.line)
  }

  private func lookUp(
    _ reading: Reading, id: String, _ now: Int64, repeats: String?
  ) throws -> (answer: ScanAnswer, stores: UserStores) {
    try context.access.withCatalogue { catalogue, stores in
      let answer = ScanAnswer(
        id: id, time: Date(microseconds: now), reading: reading,
        match: try catalogue.match(reading, context.access.matching.table(of: stores)),
        catalogue: context.access.age(catalogue, of: stores), repeats: repeats,
        lookup: catalogue.sequence > 0 || reading.undecodedBytes != nil ? .done : .noCatalogue, recording: .notNeeded)
      return (answer, stores)
    }
  }

  /// The answer if the catalogue cannot be read.
  private func unreadable(
    _ reading: Reading, _ id: String, _ now: Int64, _ repeats: String?, _ error: any Error
  ) -> ScanAnswer {
    let match: Match
    let table = context.access.matching.bestTable(of: try? context.access.stores())
    do { match = try CatalogSnapshot.empty.match(reading, table) } catch {
      preconditionFailure("nothing can be wrong with a catalogue that is no file")
    }
    let age = CatalogueAge(user: (try? workspace.current()) ?? nil, cursor: "", sequence: 0, currentAt: nil)
    return ScanAnswer(
      id: id, time: Date(microseconds: now), reading: reading, match: match, catalogue: age, repeats: repeats,
      lookup: reading.undecodedBytes == nil ? .unreadable("the catalogue cannot be read: \(error)") : .done,
      recording: .notNeeded)
  }

  // MARK: Recording

  /// A session that a scan was added to.
  private struct ChangedSession {
    let id: String
    let stores: UserStores
  }

  /// The result of recording a scan.
  private struct Recorded {
    var answer: ScanAnswer
    /// The answer as a line of JSON; empty until the answer is final.
    var line: [UInt8] = []
    /// The same without secrets, for everybody but the caller.
    var publicLine: [UInt8] = []
    /// The session that the scan was added to, if any.
    var session: ChangedSession?
  }

  /// The data to record for a scan.
  fileprivate struct Record {
    /// The index of the scan.
    let index: Int
    let durable: ScanAnswer
    let line: [UInt8]
    let publicLine: [UInt8]
    let hooks: [String]
    let payload: UploadPayload?
    let miss: NewMiss?
    let pending: PendingScan?
  }

  /// Records scans and encodes their answers. Scans of one user share commits, in the given order.
  private func record(_ scans: [ProcessedScan]) async -> [Recorded] {
    var recorded = scans.map { Recorded(answer: $0.answer) }
    var start = 0
    while start < scans.count {
      let stores = scans[start].stores
      let end = scans[start...].firstIndex { $0.stores !== stores } ?? scans.count
      if let stores { await record(scans, start..<end, stores, &recorded) }
      start = end
    }
    for index in recorded.indices where recorded[index].line.isEmpty {
      (recorded[index].line, recorded[index].publicLine) = recorded[index].answer.lines
    }
    return recorded
  }

  /// Records scans of the same user.
  private func record(
    _ scans: [ProcessedScan], _ range: Range<Int>, _ stores: UserStores, _ recorded: inout [Recorded]
  ) async {
    var records: [Record] = []
    for index in range where scans[index].answer.repeats == nil {
      let answer = scans[index].answer
      do {
        if let record = try await self.record(of: answer, at: index, stores) { records.append(record) }
      } catch { recorded[index].answer = answer.recorded(.failed("\(error)")) }
    }
    if records.isEmpty { return }
    let limit = options.maximumScansPerSession
    let results = await recorder.perform(
      for: stores,
      records.map { record in
        { (transaction: DocumentTransaction, documents: UserDocuments) in
          try documents.enter(record, limit: limit, transaction)
        }
      })
    for (record, result) in zip(records, results) {
      switch result {
      case .success(let entered):
        let session = entered.session.map { ChangedSession(id: $0, stores: stores) }
        recorded[record.index] = Recorded(
          answer: record.durable, line: record.line, publicLine: record.publicLine, session: session)
        if !record.hooks.isEmpty { uploads.recorded(stores.user) }
        problems.clear(.uploadsRefused)
        if !entered.hasRoom {
          problems.report(
            .rematchFailing, "\(PendingScan.maximumCount) scans wait to be looked up again, and no more are taken")
        }
      case .failure(let error):
        if error is UploadQueueError { problems.report(.uploadsRefused, "\(error)") }
        recorded[record.index].answer = scans[record.index].answer.recorded(.failed("\(error)"))
      }
    }
  }

  /// Returns the record to write before the answer is given; `nil` if there is nothing to write. Schedules a miss to be
  /// entered later in that case.
  private func record(of answer: ScanAnswer, at index: Int, _ stores: UserStores) async throws -> Record? {
    let hooks = webhooks.wanting(answer).map(\.name)
    let miss = answer.isMiss ? NewMiss(answer, stores) : nil
    let pending = options.rematches && answer.lookup != .done ? PendingScan(answer) : nil
    let isBound = try await isBound(answer.reading.input, stores)
    guard isBound || !hooks.isEmpty || pending != nil else {
      if let miss { recorder.enterSoon(miss) }
      return nil
    }
    let durable = answer.recorded(.durable)
    let (line, publicLine) = durable.lines
    let payload = hooks.isEmpty ? nil : UploadPayload.json(UploadJSON(written: publicLine))
    return Record(
      index: index, durable: durable, line: line, publicLine: publicLine, hooks: hooks, payload: payload, miss: miss,
      pending: pending)
  }

  /// Whether scans of an input are added to a session.
  private func isBound(_ input: String, _ stores: UserStores) async throws -> Bool {
    let documents: UserDocuments
    if let open = context.userDocuments.opened(for: stores) {
      documents = open
    } else {
      do {
        guard let opened = try await recorder.open(stores) else { return false }
        documents = opened
      } catch {
        context.report(.recordingFailing, error, of: stores.user)
        throw error
      }
    }
    return documents.index.withLock { $0.holders[input] != nil }
  }

  // MARK: Inputs

  /// Handles an event of an input: updates ``status()``, publishes the event, and logs it at a limited rate.
  public func note(_ event: InputEvent, input: String) {
    let time = Date(microseconds: context.time.now())
    let isNews = inputs.record(event, input: input, at: time)
    var fields: [(String, JSONText)] = [("input", .text(input)), ("time", .text(time.precise))]
    switch event {
    case .opened(let what):
      causes.checkInputs()
      context.metrics.setInput(inputs.label(input), isUp: true)
      fields += [("event", .text("opened")), ("message", .text(what))]
      if isNews { context.logger.notice("input opened", metadata: ["input": "\(input)", "source": "\(what)"]) }
    case .closed(let reason, let reopens):
      causes.checkInputs()
      context.metrics.setInput(inputs.label(input), isUp: false)
      fields += [("event", .text("closed")), ("message", .text(reason)), ("reopens", .bool(reopens))]
      if isNews {
        context.logger.notice(
          "input closed", metadata: ["input": "\(input)", "reason": "\(reason)", "reopens": "\(reopens)"])
      }
    case .fault(let fault):
      context.metrics.count("shelfmark_input_faults_total", [("input", inputs.label(input)), ("fault", fault.name)])
      fields += [("event", .text("fault")), ("fault", .text(fault.name)), ("message", .text("\(fault)"))]
      if isNews { context.logger.warning("fault of an input", metadata: ["input": "\(input)", "fault": "\(fault)"]) }
    case .refused(let refusal):
      context.metrics.count(
        "shelfmark_connections_refused_total", [("input", inputs.label(input)), ("reason", refusal.name)])
      if case .limit = refusal {
        problems.report(
          .connectionsRefused, "\(refusal)", about: inputs.label(input), endsAfter: CauseWatch.refusalTime)
      }
      // A client that reconnects again and again must not push other events out of the ring.
      guard isNews else { return }
      fields += [("event", .text("refused")), ("reason", .text(refusal.name)), ("message", .text("\(refusal)"))]
      context.logger.warning("connection refused", metadata: ["input": "\(input)", "reason": "\(refusal)"])
    case .connections(let count, _):
      context.metrics.setConnections(inputs.label(input), count)
      return
    }
    events.publish(.input, JSONText.object(fields).bytes)
  }
}

extension ScanAnswer {
  /// The answer as a line of JSON for its caller, and for everybody else.
  fileprivate var lines: (own: [UInt8], public: [UInt8]) {
    let (line, others) = (json.bytes, withoutSecrets)
    return (line, others.reading == reading ? line : others.json.bytes)
  }
}

/// The documents written for a scan.
private struct EnteredScan: Sendable {
  /// The session that the scan was added to.
  let session: String?
  /// Whether there was room for a scan that is looked up again later.
  let hasRoom: Bool
}

extension UserDocuments {
  /// Writes a scan to all documents that record it.
  fileprivate func enter(
    _ record: Daemon.Record, limit: Int, _ transaction: DocumentTransaction
  ) throws -> EnteredScan {
    let reading = record.durable.reading
    let session = try appendToHolder(reading, limit: limit, transaction)
    if let payload = record.payload {
      for hook in record.hooks {
        let key = hook + "/" + reading.input.cut(to: 900)
        try queue.enqueue(payload: payload, kind: hook, orderKey: key, in: transaction)
      }
    }
    if let miss = record.miss { try enter(miss, transaction) }
    let hasRoom = try record.pending.map { try enter($0, transaction) } ?? true
    return EnteredScan(session: session, hasRoom: hasRoom)
  }

  /// Adds a scan to the session that holds its input. A session that is full, or was just closed, does not get the
  /// scan, which is recorded nevertheless.
  ///
  /// - Returns: The session's id.
  fileprivate func appendToHolder(
    _ reading: Reading, limit: Int, _ transaction: DocumentTransaction
  ) throws -> String? {
    guard let id = index.withLock({ $0.holders[reading.input] }) else { return nil }
    do {
      _ = try append([reading], to: id, limit: limit, transaction)
      return id
    } catch let error as SetSessionError {
      // Another process has removed it.
      if case .unknown = error { index.withLock { $0.remove(id) } }
      return nil
    }
  }
}
