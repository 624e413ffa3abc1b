import Catalog
import LogStore

// Which server a catalogue was last fetched from is noted next to it, also where the user named no organisation:
// another user who is about to download the same catalogue is told so. Nobody begins with a catalogue because of this
// note; for that the organisation has to be known, see `CatalogueOrigin`.

/// Another user of the device who has the catalogue of a server already.
public struct CatalogueNeighbour: Sendable, Equatable {
  /// The other user.
  public let user: String
  /// The organisation with which that user's catalogue was synchronised; `nil` if none was named.
  public let organisation: String?
}

extension WorkspaceDirectory {
  /// The other users whose catalogue was last fetched from a server, for a user who has none yet.
  ///
  /// - Parameters:
  ///   - id: The user who is about to fetch a catalogue.
  ///   - source: The server's URL, without anything secret.
  /// - Returns: Those who have it, by id; empty if the user has a catalogue. A note that cannot be read is passed over.
  /// - Throws: `WorkspaceError.userID`, `.store`.
  /// - Complexity: Opens one small store for each user.
  public func neighbours(of id: String, withCatalogueFrom source: String) throws(WorkspaceError) -> [CatalogueNeighbour]
  {
    if let own = try catalogue(of: id), try hasLog(own) { return [] }
    var neighbours: [CatalogueNeighbour] = []
    for other in try users() where !other.hasSameBytes(as: id) {
      guard let location = (try? catalogue(of: other)) ?? nil, (try? hasLog(location)) == true,
        let noted = (try? note(SettingsTable.source, of: location)) ?? nil, noted.hasSameBytes(as: source)
      else { continue }
      let origin = ((try? note(SettingsTable.origin, of: location)) ?? nil).flatMap(CatalogueOrigin.init(text:))
      neighbours.append(CatalogueNeighbour(user: other, organisation: origin?.organisation))
    }
    return neighbours
  }

  /// Notes which server a user's catalogue was fetched from. Does nothing for a user without a directory, or if that is
  /// noted.
  ///
  /// - Throws: `WorkspaceError.userID`, `.store`.
  func noteSource(_ source: String, of id: String) throws(WorkspaceError) {
    guard let location = try catalogue(of: id) else { return }
    do throws(StoreError) {
      if let old = try? note(SettingsTable.source, of: location), old.hasSameBytes(as: source) { return }
      try setNote(SettingsTable.source, to: source, of: location)
    } catch { throw .store(error) }
  }

  private func hasLog(_ location: StoreLocation) throws(WorkspaceError) -> Bool {
    do { return try StoreReader.open(location) != nil } catch { throw .store(error) }
  }

  // MARK: Notes next to a catalogue

  private func noteStore(_ catalogue: StoreLocation) -> StoreLocation {
    location(catalogue.directory, "origin")
  }

  /// What is noted next to the catalogue at `location` under a name.
  func note(_ name: String, of location: StoreLocation) throws(StoreError) -> String? {
    try SettingsTable.text(name, in: StoreReader.open(noteStore(location))?.snapshot)
  }

  /// Notes something else under a name or, with `nil`, nothing.
  func setNote(_ name: String, to text: String?, of location: StoreLocation) throws(StoreError) {
    let writer = try StoreWriter(noteStore(location), schema: SettingsTable.schema, waiting: waiting)
    defer { writer.close() }
    do { try SettingsTable.set(name, to: text, in: writer) } catch let error as StoreError { throw error } catch {
      preconditionFailure("a note is set or the store refuses it")
    }
  }
}
