package import Catalog
public import CatalogSync
package import LogStore

/// A catalogue that a user started with instead of a download.
public struct AdoptedBase: Sendable, Equatable {
  /// The cursor from which the first synchronisation continues.
  public let cursor: String
  /// The number of bytes that did not have to be fetched.
  public let byteCount: Int
  /// Whether the users share the bytes on the disk; if false, they had to be copied.
  public let isShared: Bool
}

/// The result of a synchronisation.
public struct Synchronization: Sendable {
  /// The catalogue that the user started with; `nil` if this was not the first synchronisation, or no other user had
  /// one to share.
  public let adopted: AdoptedBase?
  /// What the synchronisation changed in the catalogue.
  public let report: ImportReport
  /// The error that prevented the origin from being stored, so that other users cannot start with the catalogue; `nil`
  /// if it was stored. It is only a warning: the committed data is durable.
  package let noteFailure: WorkspaceError?
  /// The new path of a catalogue that could not be opened and was replaced; `nil` if it could be opened.
  public let damagedPath: String?
  /// Whether nothing was written, because nothing had changed at a source that is looked at every few seconds.
  package let isUnchanged: Bool
  /// What a person should know about a person's own rows that were taken.
  package var notices: [String] = []

  init(adopted: AdoptedBase?, report: ImportReport, noteFailure: WorkspaceError?, damagedPath: String?) {
    self.adopted = adopted
    self.report = report
    self.noteFailure = noteFailure
    self.damagedPath = damagedPath
    isUnchanged = false
  }

  /// The result of an import of a person's own rows.
  package init(_ report: ImportReport, damagedPath: String?, isUnchanged: Bool) {
    adopted = nil
    self.report = report
    noteFailure = nil
    self.damagedPath = damagedPath
    self.isUnchanged = isUnchanged
  }
}

extension WorkspaceDirectory {
  /// Prepares a synchronisation of a user's catalogue. If the user has no catalogue, and another user has one from the
  /// same origin, the user starts with that one.
  ///
  /// A stored origin that differs, or any stored origin if the caller knows none, is deleted before rows from another
  /// origin are committed, so that a crash cannot leave it there. If the synchronisation then fails, the next user
  /// starts with a download.
  ///
  /// - Parameters:
  ///   - id: The user's ID.
  ///   - origin: The origin of the server's responses; `nil` if unknown.
  ///   - isFull: Whether a full update was requested, which does not start with another catalogue.
  /// - Returns: The adopted catalogue, which is durable; `nil` if none was adopted.
  /// - Throws: `WorkspaceError.userID`, `.store`.
  package func prepareSynchronization(
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

  /// Deletes a differing origin before a commit of a synchronisation, while its catalogue is locked. Since
  /// ``prepareSynchronization(of:from:full:)``, another process may have stored another origin, for rows that this
  /// commit replaces.
  ///
  /// - Throws: `WorkspaceError.userID`, `.store`.
  package func confirmOrigin(of id: String, from origin: CatalogueOrigin?) throws(WorkspaceError) {
    try forgetOrigin(of: id, unless: origin)
  }

  /// Stores the origin and source after a synchronisation that committed, or found nothing new, while its catalogue is
  /// locked. Other users can then start with this catalogue.
  ///
  /// - Parameters:
  ///   - id: The user's ID.
  ///   - origin: The origin of the server's responses; `nil` if unknown.
  ///   - source: The server's URL without secrets, if it is a server. Other users who are about to fetch the same
  ///     catalogue are informed of it.
  /// - Throws: `WorkspaceError.userID`, `.store`. The committed data stays committed.
  package func noteSynchronization(
    of id: String, from origin: CatalogueOrigin?, source: String? = nil
  ) throws(WorkspaceError) {
    if let origin { try rememberOrigin(of: id, source: origin.source, organisation: origin.organisation) }
    if let source { try noteSource(source, of: id) }
  }
}

extension UserStores {
  /// Synchronises the catalogue: one step of the protocol. A user without a catalogue starts with that of another user
  /// of the same organisation, if there is one. The first response is then an increment, and the common data is stored
  /// once.
  ///
  /// - Parameters:
  ///   - synchronizer: The synchroniser, with its transport and options.
  ///   - origin: The source and organisation of the catalogue; `nil` to share nothing, so that other users can no
  ///     longer start with this catalogue.
  ///   - source: The server's URL without secrets, if it is a server.
  ///   - full: Whether to make a full update whatever the cursor is.
  ///   - replacesDamaged: Whether to rename a catalogue that cannot be opened, and replace it with a new one. Requires
  ///     a full update.
  /// - Returns: The result, which is durable.
  /// - Throws: `WorkspaceError.closed`, `.store`; any error of the transport; `WireError`, `CatalogError`,
  ///   `StoreError`. The catalogue is then unchanged, or the adopted one.
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
    // A running synchronisation is finished, whether or not the user is still signed in when the response arrives.
    let destination = SyncDestination(try directory.makeStore("catalogue", of: user)) { [directory, user] in
      try directory.catalogueWriter(of: user, lockTimeout: directory.lockTimeout, replacesDamaged: replacesDamaged)
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

extension UserStores {
  /// The location of the catalogue. Creates missing directories.
  ///
  /// - Throws: `WorkspaceError.closed`, `.store`.
  package func catalogueLocation() throws -> StoreLocation {
    try checkOpen()
    return try directory.makeStore("catalogue", of: user)
  }

  /// Opens the writer for an import of a person's own rows. The caller must close it. The import is finished, whether
  /// or not the user is still signed in.
  ///
  /// - Parameter replacesDamaged: Whether to rename a catalogue that cannot be opened, and begin a new one.
  /// - Throws: The errors of ``catalogueWriter(lockTimeout:)``.
  package func importWriter(replacesDamaged: Bool) throws -> CatalogWriter {
    try checkOpen()
    return try directory.catalogueWriter(
      of: user, lockTimeout: directory.lockTimeout, replacesDamaged: replacesDamaged)
  }

  /// Deletes the stored origin, because rows of an unknown one are about to be committed: no other user can start with
  /// this catalogue then.
  package func forgetOrigin() throws(WorkspaceError) {
    if let user { try directory.forgetOrigin(of: user) }
  }
}
