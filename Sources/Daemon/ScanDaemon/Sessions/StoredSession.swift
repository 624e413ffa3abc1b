import DocumentFormat
import Documents
import ScanInputs

/// A set session, as stored in its user's documents.
///
/// Its codes are separate documents: adding a scan writes a few bytes, however many codes there are.
struct StoredSession: Codable, Identifiable, Sendable, Equatable {
  var id: String
  var name: String?
  var input: String?
  /// The time at which the session was opened, in seconds since 1970.
  var created: Double
  /// The time at which the session was closed, in seconds since 1970; `nil` while it is open.
  var closed: Double?
  /// Whether scans of its input are added to it.
  var holdsInput: Bool
  /// The number of its codes.
  var count = 0
}

/// One code of a session.
struct StoredCode: Codable, Identifiable, Sendable {
  var id: String
  var code: String
  /// The symbology as the sender named it.
  var symbology: String?
  /// Whether the code could not be decoded, so that it is no product. `nil` if it could.
  var isUndecoded: Bool?

  static func id(_ session: String, _ number: Int) -> String { "\(session)/\(number)" }
}

/// An in-memory index of a user's sessions, which is consulted for each scan.
struct SessionIndex: Sendable {
  /// The open session that holds each input.
  var holders: [String: String] = [:]
  var open: Set<String> = []
  /// The closed sessions, in the order in which they were closed.
  var closed: [String] = []
  /// The reserved ids of sessions that are about to be opened.
  private(set) var reserved: Set<String> = []

  init(_ sessions: DocumentCollection<StoredSession>) throws {
    var ended: [(time: Double, id: String)] = []
    var holding: [StoredSession] = []
    for result in try sessions.query().results() {
      // A session that cannot be read is ignored.
      guard let session = try? result.get() else { continue }
      if let time = session.closed {
        ended.append((time, session.id))
      } else {
        open.insert(session.id)
        if session.holdsInput { holding.append(session) }
      }
    }
    closed = ended.sorted { ($0.time, $0.id) < ($1.time, $1.id) }.map(\.id)
    // If several sessions claim an input, the newest one holds it.
    for session in holding.sorted(by: { ($0.created, $0.id) < ($1.created, $1.id) }) {
      if let input = session.input { holders[input] = session.id }
    }
  }

  /// Updates the index with the new state of a session.
  mutating func update(_ session: StoredSession) {
    guard session.closed != nil else {
      open.insert(session.id)
      if session.holdsInput, let input = session.input { holders[input] = session.id }
      return
    }
    if open.remove(session.id) != nil { closed.append(session.id) }
    letGo(session.id)
  }

  /// Reserves a session that is about to be opened, so that it counts as open. Reserving it again changes nothing.
  ///
  /// - Throws: `SetSessionError.tooMany` if `limit` sessions are open or about to be.
  mutating func reserve(_ id: String, limit: Int) throws(SetSessionError) {
    if reserved.contains(id) { return }
    // A session counts once, also between its commit and the end of its reservation.
    guard open.count + reserved.subtracting(open).count < limit else { throw .tooMany(limit: limit) }
    reserved.insert(id)
  }

  /// Releases the reservation of this session; does nothing if it has none.
  mutating func release(_ id: String) { reserved.remove(id) }

  mutating func remove(_ id: String) {
    open.remove(id)
    closed.removeAll { $0 == id }
    letGo(id)
  }

  private mutating func letGo(_ id: String) { holders = holders.filter { $0.value != id } }
}

extension UserDocuments {
  /// Adds codes to a session within a transaction.
  ///
  /// - Throws: `SetSessionError.unknown`, `.closed`, `.full`, before anything is changed.
  func append(
    _ new: [Reading], to id: String, limit: Int, _ transaction: DocumentTransaction
  ) throws -> StoredSession {
    guard var session = try transaction.get(id, from: sessions) else { throw SetSessionError.unknown(id) }
    if session.closed != nil { throw SetSessionError.closed(id) }
    guard new.count <= limit - session.count else { throw SetSessionError.full(limit: limit) }
    for reading in new {
      let document = StoredCode(
        id: StoredCode.id(id, session.count), code: reading.withoutSecrets.code, symbology: reading.symbology,
        isUndecoded: reading.undecodedBytes == nil ? nil : true)
      try transaction.upsert(document, into: codes)
      session.count += 1
    }
    try transaction.upsert(session, into: sessions)
    return session
  }

  /// Removes a session and its codes within a transaction.
  func remove(_ session: StoredSession, _ transaction: DocumentTransaction) throws {
    for number in 0..<session.count { try transaction.delete(StoredCode.id(session.id, number), from: codes) }
    try transaction.delete(session.id, from: sessions)
  }

  /// The codes of a session, in the order of the scans.
  func codes(of session: StoredSession, in snapshot: DocumentSnapshot) throws -> [StoredCode] {
    try (0..<session.count).compactMap { try codes.get(StoredCode.id(session.id, $0), in: snapshot) }
  }
}
