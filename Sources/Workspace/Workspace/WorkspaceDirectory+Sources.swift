import Catalog
import LogStore

// The last server of a catalogue is stored next to it, even if the user named no organisation. Another user who is
// about to download the same catalogue is then informed of it. This does not let users start with each other's
// catalogues; that requires a known organisation, see `CatalogueOrigin`.

/// Another user of the device who already has the catalogue of a server.
public struct CatalogueNeighbour: Sendable, Equatable {
  /// The other user's ID.
  public let user: String
  /// The organisation with which that user's catalogue was synchronised; `nil` if none was named.
  public let organisation: String?
}

extension WorkspaceDirectory {
  /// The other users whose catalogue was last fetched from a server, for a user who does not have one yet.
  ///
  /// - Parameters:
  ///   - id: The ID of the user who is about to fetch a catalogue.
  ///   - source: The server's URL, without secrets.
  /// - Returns: The other users, sorted by ID; empty if the user has a catalogue. A source that cannot be read is
  ///   skipped.
  /// - Throws: `WorkspaceError.userID`, `.store`.
  /// - Complexity: Opens one small store for each user.
  public func neighbours(of id: String, withCatalogueFrom source: String) throws(WorkspaceError) -> [CatalogueNeighbour]
  {
    if let own = try catalogue(of: id), try hasLog(own) { return [] }
    var neighbours: [CatalogueNeighbour] = []
    for other in try users() where !other.hasSameBytes(as: id) {
      guard let location = (try? catalogue(of: other)) ?? nil, (try? hasLog(location)) == true,
        let storedSource = (try? text(SettingsTable.source, of: location)) ?? nil, storedSource.hasSameBytes(as: source)
      else { continue }
      let origin = ((try? text(SettingsTable.origin, of: location)) ?? nil).flatMap(CatalogueOrigin.init(text:))
      neighbours.append(CatalogueNeighbour(user: other, organisation: origin?.organisation))
    }
    return neighbours
  }

  /// Stores the server from which a user's catalogue was fetched. Does nothing for a user without a directory, or if
  /// the same server is already stored.
  ///
  /// - Throws: `WorkspaceError.userID`, `.store`.
  func noteSource(_ source: String, of id: String) throws(WorkspaceError) {
    guard let location = try catalogue(of: id) else { return }
    do throws(StoreError) {
      if let old = try? text(SettingsTable.source, of: location), old.hasSameBytes(as: source) { return }
      try setText(SettingsTable.source, to: source, of: location)
    } catch { throw .store(error) }
  }

  private func hasLog(_ location: StoreLocation) throws(WorkspaceError) -> Bool {
    do { return try StoreReader.open(location) != nil } catch { throw .store(error) }
  }

  // MARK: Values next to a catalogue

  private func noteStore(_ catalogue: StoreLocation) -> StoreLocation {
    // The same directory has the same keys.
    var location = catalogue.sibling("origin")
    location.committed = { [keyRing] commit in KeyFile.mark("origin", commit, in: catalogue.directory, keyRing) }
    return location
  }

  /// The text stored under a name next to the catalogue at `location`; `nil` if nothing is stored.
  func text(_ name: String, of location: StoreLocation) throws(StoreError) -> String? {
    try SettingsTable.text(name, in: StoreReader.open(noteStore(location))?.snapshot)
  }

  /// Stores a text under a name or, with `nil`, deletes it.
  func setText(_ name: String, to text: String?, of location: StoreLocation) throws(StoreError) {
    let writer = try StoreWriter(noteStore(location), schema: SettingsTable.schema, lockTimeout: lockTimeout)
    defer { writer.close() }
    do { try SettingsTable.set(name, to: text, in: writer) } catch let error as StoreError { throw error } catch {
      preconditionFailure("a note is set or the store refuses it")
    }
  }
}
