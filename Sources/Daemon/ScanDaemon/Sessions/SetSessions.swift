import Barcodes
import Catalog
import Documents
import Essentials
import Platform
import ScanInputs
import Synchronization
import Workspace

/// The set sessions of the signed-in user, which collect scans until a set is complete. They are stored in the user's
/// documents, so they survive the daemon.
///
/// Each change is published as an event; changes that come faster than a session can be evaluated are published
/// together. As many closed sessions are kept as may be open; beyond that, the sessions closed first are removed.
public final class SetSessions: Sendable {
  private let recorder: ScanRecorder
  private let context: DaemonContext
  /// The maximum length of the name of a session or its input, in bytes; a longer name is truncated.
  static let maximumNameByteCount = 200
  let maximumScans: Int
  let maximumCount: Int

  /// A session whose change has not been published yet.
  private struct Changed: Hashable {
    let id: String
    let owner: ObjectIdentifier
  }
  private let changed = Mutex<(all: [Changed: UserStores], isPublishing: Bool)>(([:], false))
  private let thread = BlockingThread("daemon.sessions")

  /// - Parameters:
  ///   - maximumScans: The maximum number of scans in one session.
  ///   - maximumCount: The maximum number of a user's open sessions, and of closed sessions that are kept.
  init(_ context: DaemonContext, recorder: ScanRecorder, maximumScans: Int, maximumCount: Int) {
    self.context = context
    self.recorder = recorder
    self.maximumScans = maximumScans
    self.maximumCount = maximumCount
  }

  // MARK: Changes

  /// Opens a session of the signed-in user. Durable when it returns, like all changes here.
  ///
  /// - Parameters:
  ///   - name: A name for people. Truncated to 200 bytes, as is `input`.
  ///   - input: The input whose scans are added to the session until it is closed, or another session takes the input.
  /// - Throws: ``SetSessionError/tooMany(limit:)``; the errors of a commit.
  public func open(name: String?, input: String?) async throws -> SetSession {
    let stores = try context.access.stores()
    let limit = maximumCount
    let time = context.time.now()
    let new = StoredSession(
      id: context.ids.next(now: time), name: name?.cut(to: Self.maximumNameByteCount),
      input: input?.cut(to: Self.maximumNameByteCount), created: Double(time) / 1e6, holdsInput: input != nil)
    let reservation = SessionReservation(new.id, limit: limit)
    let documents: UserDocuments
    do {
      documents = try await recorder.perform(for: stores) { transaction, documents in
        try reservation.hold(in: documents)
        if let input = new.input, let holder = documents.index.withLock({ $0.holders[input] }),
          var old = try transaction.get(holder, from: documents.sessions)
        {
          old.holdsInput = false
          try transaction.upsert(old, into: documents.sessions)
        }
        try transaction.insert(new, into: documents.sessions)
        return documents
      }
    } catch {
      reservation.release()
      throw error
    }
    documents.index.withLock { $0.update(new) }
    reservation.release()
    publishSoon(new.id, stores)
    return try session(new, documents, documents.store.snapshot(), matcher(of: stores))
  }

  /// Adds scans, either all of them or none.
  ///
  /// - Returns: The session with the added scans.
  /// - Complexity: One match for each of its codes.
  /// - Throws: ``SetSessionError/unknown(_:)``, `.closed`, `.full`; the errors of a commit.
  @discardableResult
  public func add(_ codes: [String], to id: String) async throws -> SetSession {
    let stores = try context.access.stores()
    let limit = maximumScans
    let readings = codes.map { Reading(input: "", code: $0) }
    let (session, documents) = try await recorder.perform(for: stores) { transaction, documents in
      (try documents.append(readings, to: id, limit: limit, transaction), documents)
    }
    publishSoon(id, stores)
    return try self.session(session, documents, documents.store.snapshot(), matcher(of: stores))
  }

  /// Closes a session. It is kept until it is removed, or until too many others have been closed. Closing a closed
  /// session changes nothing.
  ///
  /// - Throws: ``SetSessionError/unknown(_:)``; the errors of a commit.
  public func close(_ id: String) async throws -> SetSession {
    let stores = try context.access.stores()
    let (limit, time) = (maximumCount, Double(context.time.now()) / 1e6)
    let (session, dropped, documents) = try await recorder.perform(for: stores) { transaction, documents in
      guard var session = try transaction.get(id, from: documents.sessions) else { throw SetSessionError.unknown(id) }
      if session.closed != nil { return (session, [String](), documents) }
      session.closed = time
      session.holdsInput = false
      try transaction.upsert(session, into: documents.sessions)
      let ended = documents.index.withLock { $0.closed }
      let dropped = Array(ended.prefix(max(0, ended.count + 1 - limit)))
      for old in dropped {
        if let old = try transaction.get(old, from: documents.sessions) { try documents.remove(old, transaction) }
      }
      return (session, dropped, documents)
    }
    documents.index.withLock { index in
      index.update(session)
      for id in dropped { index.remove(id) }
    }
    publishSoon(id, stores)
    return try self.session(session, documents, documents.store.snapshot(), matcher(of: stores))
  }

  /// Removes a session and its scans, whether open or closed. No event is published.
  ///
  /// - Throws: ``SetSessionError/unknown(_:)``; the errors of a commit.
  public func remove(_ id: String) async throws {
    let documents = try await recorder.perform(for: context.access.stores()) { transaction, documents in
      guard let session = try transaction.get(id, from: documents.sessions) else { throw SetSessionError.unknown(id) }
      try documents.remove(session, transaction)
      return documents
    }
    documents.index.withLock { $0.remove(id) }
  }

  // MARK: Reading

  /// The sessions of the signed-in user, newest first.
  ///
  /// - Throws: `StoreError`, `DocumentStoreError`, `CatalogError`, `WorkspaceError` if they cannot be read.
  /// - Complexity: One match for each code of each session.
  public func list() throws -> [SetSession] {
    let stores = try context.access.stores()
    guard let documents = try context.userDocuments.documents(of: stores, creates: false) else { return [] }
    let (matcher, snapshot) = (try matcher(of: stores), try documents.store.snapshot())
    return try documents.sessions.query().results(in: snapshot).map { try $0.get() }
      .sorted { ($0.created, $0.id) > ($1.created, $1.id) }
      .map { try session($0, documents, snapshot, matcher) }
  }

  /// A session of the signed-in user.
  ///
  /// - Throws: ``SetSessionError/unknown(_:)``; the errors of ``list()``.
  /// - Complexity: One match for each of its codes.
  public func session(_ id: String) throws -> SetSession {
    try session(id, of: context.access.stores())
  }

  private func session(_ id: String, of stores: UserStores) throws -> SetSession {
    guard let documents = try context.userDocuments.documents(of: stores, creates: false) else {
      throw SetSessionError.unknown(id)
    }
    let snapshot = try documents.store.snapshot()
    guard let stored = try documents.sessions.get(id, in: snapshot) else { throw SetSessionError.unknown(id) }
    return try session(stored, documents, snapshot, matcher(of: stores))
  }

  /// A catalogue, and how scans are matched with it.
  private typealias Matcher = (catalogue: CatalogSnapshot, table: MatchingTable)

  private func matcher(of stores: UserStores) throws -> Matcher {
    (try context.access.catalogue(of: stores), try context.access.matching.table(of: stores))
  }

  private func session(
    _ stored: StoredSession, _ documents: UserDocuments, _ snapshot: DocumentSnapshot, _ matcher: Matcher
  ) throws -> SetSession {
    let codes = try documents.codes(of: stored, in: snapshot)
    // Most codes come from the input that the session was opened for.
    let options = matcher.table.options(for: stored.input ?? "")
    let scans = codes.lazy.filter { $0.isUndecoded != true }.map { code in
      let symbology = code.symbology.flatMap { SymbologyIdentifier(named: $0) }
      return Scan(code.code, symbology: symbology, configuration: options.scan)
    }
    var completion = try matcher.catalogue.complete(scans: scans, options: options)
    completion.unknown += codes.filter { $0.isUndecoded == true }.map(\.code)
    return SetSession(
      id: stored.id, name: stored.name, input: stored.input, created: Date(timeIntervalSince1970: stored.created),
      isClosed: stored.closed != nil, codes: codes.map(\.code), completion: completion)
  }

  /// The number of open sessions.
  func openCount() -> Int {
    guard let stores = try? context.access.stores(),
      let documents = (try? context.userDocuments.documents(of: stores, creates: false)) ?? nil
    else { return 0 }
    return documents.index.withLock { $0.open.count }
  }

  // MARK: Events

  /// Schedules an event that reports a change of a session.
  func publishSoon(_ id: String, _ stores: UserStores) {
    let begins = changed.withLock { changed in
      changed.all[Changed(id: id, owner: ObjectIdentifier(stores))] = stores
      defer { changed.isPublishing = true }
      return !changed.isPublishing
    }
    if begins { thread.post { [self] in publishChanges() } }
  }

  private func publishChanges() {
    while true {
      let next = changed.withLock { changed in
        defer { changed.all = [:] }
        if changed.all.isEmpty { changed.isPublishing = false }
        return changed.all
      }
      if next.isEmpty { return }
      for (change, stores) in next {
        // Changes of a signed-out user, and of sessions that cannot be read, are not published.
        guard let session = try? session(change.id, of: stores) else { continue }
        context.events.publish(.session, session.json.bytes)
      }
    }
  }

  /// Returns when all changes until now have been published.
  func flush() async { _ = try? await thread.run {} }
}

extension String {
  /// The longest prefix that has at most this number of bytes.
  func cut(to byteCount: Int) -> String {
    if utf8.count <= byteCount { return self }
    var result = ""
    var left = byteCount
    for character in self {
      left -= character.utf8.count
      if left < 0 { break }
      result.append(character)
    }
    return result
  }
}
