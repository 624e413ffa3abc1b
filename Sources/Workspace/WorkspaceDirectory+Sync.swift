import Catalog
public import CatalogSync
import LogStore

/// What a user's catalogue began with, in the place of a download.
public struct AdoptedBase: Sendable, Equatable {
  /// The cursor from which the first synchronisation goes on.
  public let cursor: String
  /// Bytes that the user has without having fetched them.
  public let byteCount: Int
  /// Whether the disk holds them once; if not, they had to be copied.
  public let isShared: Bool
}

/// What a synchronisation did.
public struct Synchronization: Sendable {
  /// What the catalogue began with, if this was its first synchronisation and somebody had something to begin with.
  public let adopted: AdoptedBase?
  public let report: ImportReport
  /// Why it could not be noted where the catalogue comes from, so that nobody else begins with it: a warning, as what was
  /// committed is durable all the same.
  public let noteFailure: WorkspaceError?
  /// Where the catalogue is now that could not be opened, and whose place this one took; `nil` if it could be.
  public let damagedPath: String?
}

extension WorkspaceDirectory {
  /// What precedes a synchronisation of a user's catalogue: where there is none yet, and another user has one of the same origin,
  /// the user begins with that one.
  ///
  /// A note of another origin, or of one where the caller tells none, is taken back before anything is committed that does
  /// not belong to it: a crash must not leave it. If the synchronisation fails then, the next user begins with a download.
  ///
  /// - Parameters:
  ///   - id: of the user.
  ///   - origin: where the answers come from; `nil` if the caller cannot tell.
  ///   - isFull: whether a full update was asked for, which needs nothing to begin with.
  /// - Returns: what was adopted, durably.
  /// - Throws: `WorkspaceError.userID`, `.store`.
  public func prepareSynchronization(
    of id: String, from origin: CatalogueOrigin?, full isFull: Bool = false
  ) throws(WorkspaceError) -> AdoptedBase? {
    try forgetOrigin(of: id, unless: origin)
    guard let origin, !isFull,
      let cursor = try adoptBase(for: id, source: origin.source, organisation: origin.organisation)
    else { return nil }
    if let base = try sharedBase(of: id) {
      return AdoptedBase(cursor: cursor, byteCount: base.byteCount, isShared: true)
    }
    return AdoptedBase(cursor: cursor, byteCount: try byteCount(of: id), isShared: false)
  }

  /// What precedes a commit of a synchronisation, while its catalogue is locked: another process may have noted another
  /// origin since ``prepareSynchronization(of:from:full:)``, of rows that this commit replaces.
  ///
  /// - Throws: `WorkspaceError.userID`, `.store`.
  public func confirmOrigin(of id: String, from origin: CatalogueOrigin?) throws(WorkspaceError) {
    try forgetOrigin(of: id, unless: origin)
  }

  /// What follows a synchronisation that committed something, or found nothing new, while its catalogue is locked:
  /// others may begin with this catalogue.
  ///
  /// - Parameters:
  ///   - id: The user.
  ///   - origin: Where the answers come from; `nil` if the caller cannot tell.
  ///   - source: The server's URL without anything secret, if it was a server: what others who are about to fetch the
  ///     same catalogue are told.
  /// - Throws: `WorkspaceError.userID`, `.store`. What was committed stays so.
  public func noteSynchronization(
    of id: String, from origin: CatalogueOrigin?, source: String? = nil
  ) throws(WorkspaceError) {
    if let origin { try rememberOrigin(of: id, source: origin.source, organisation: origin.organisation) }
    if let source { try noteSource(source, of: id) }
  }
}

extension UserStores {
  /// Brings the catalogue up to date: one step of the protocol. A user without a catalogue begins with that of another user of
  /// the same organisation, if there is one: then the first answer is an increment, and the disk holds the common part once.
  ///
  /// - Parameters:
  ///   - synchronizer: how the server is asked, and how its answer is taken.
  ///   - origin: what is asked, and whose catalogue that gives the user; `nil` shares nothing, and lets nobody begin with this
  ///     catalogue from now on.
  ///   - source: the server's URL without anything secret, if it is a server.
  ///   - full: a full update whatever the cursor says.
  ///   - replacesDamaged: Whether a catalogue that cannot be opened is set aside, and begun anew. It needs a full update.
  /// - Returns: what was done, and is durable.
  /// - Throws: `WorkspaceError.closed`, `.store`; what the transport throws; `WireError`, `CatalogError`, `StoreError`. The catalogue
  ///   is as it was then, or what was adopted.
  nonisolated(nonsending) public func synchronize<Transport>(
    _ synchronizer: Synchronizer<Transport>, from origin: CatalogueOrigin?, source: String? = nil, full: Bool = false,
    replacesDamaged: Bool = false
  ) async throws -> Synchronization {
    precondition(full || !replacesDamaged, "a catalogue is begun anew with a full update")
    try checkOpen()
    var synchronizer = synchronizer
    var adopted: AdoptedBase?
    if let user {
      adopted = try directory.prepareSynchronization(of: user, from: origin, full: full)
      let willWrite = synchronizer.willWrite
      synchronizer.willWrite = { [directory] writer, mode in
        try directory.confirmOrigin(of: user, from: origin)
        try willWrite?(writer, mode)
      }
    }
    // What has begun is finished, whether or not the user is still signed in when the answer is there.
    let destination = SyncDestination(try directory.makeStore("catalogue", of: user)) { [directory, user] in
      try directory.catalogueWriter(of: user, waiting: directory.waiting, replacesDamaged: replacesDamaged)
    }
    var damagedPath: String?
    var failure: WorkspaceError?
    let report = try await synchronizer.run(destination, full: full) { [directory, user] writer, _ in
      damagedPath = writer.damagedPath
      guard let user else { return }
      do throws(WorkspaceError) {
        try directory.noteSynchronization(of: user, from: origin, source: source)
      } catch { failure = error }
    }
    return Synchronization(adopted: adopted, report: report, noteFailure: failure, damagedPath: damagedPath)
  }
}
