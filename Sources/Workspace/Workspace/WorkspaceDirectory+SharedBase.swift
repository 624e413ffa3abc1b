import Bytes
import Catalog
package import LogStore

// All users of one organisation have the same catalogue. A user who is new on the device starts with another
// user's catalogue, without downloading or storing it again; see FORMAT.md, *Shared base*. Only the caller knows the
// origin of a catalogue. The origin is stored next to the catalogue, and is deleted with the user's directory.

/// The origin of a catalogue. Only users with the same origin may share. Origins are compared bytewise.
public struct CatalogueOrigin: Sendable {
  /// The source of the catalogue, for example the server's URL.
  public let source: String
  /// The organisation that owns the user's catalogue.
  public let organisation: String

  /// Creates an origin from the source of the catalogue, such as a URL, and the organisation that owns it.
  public init(source: String, organisation: String) {
    self.source = source
    self.organisation = organisation
  }

  /// The stored text. The length prefix marks the end of the source, which may contain any characters.
  var text: String { "\(source.utf8.count):\(source)\(organisation)" }

  /// Parses a stored text; `nil` if it is invalid.
  init?(text: String) {
    guard let colon = text.firstIndex(of: ":"), let count = Int(text[..<colon]),
      count >= 0,
      let end = text.utf8.index(text.utf8.index(after: colon), offsetBy: count, limitedBy: text.utf8.endIndex),
      let source = String(text.utf8[text.utf8.index(after: colon)..<end]), let organisation = String(text.utf8[end...])
    else { return nil }
    self.init(source: source, organisation: organisation)
  }
}

extension WorkspaceDirectory {
  /// Gives a user without a catalogue the newest one that another user has from the same origin.
  ///
  /// The first synchronisation is then an increment from the returned cursor. Origins are compared bytewise. Catalogues
  /// that cannot be read, or have no cursor to continue from, are skipped.
  ///
  /// - Parameters:
  ///   - id: The user's ID.
  ///   - source: The source of the catalogue, for example the server's URL.
  ///   - organisation: The organisation that owns the user's catalogue.
  /// - Returns: The cursor of the user's catalogue, which is now durable; `nil` if the user already has one, or no
  ///   other user has one to share.
  /// - Throws: `WorkspaceError.userID`, `.store`.
  /// - Complexity: Opens the catalogue of each other user with that origin. Reads no rows.
  package func adoptBase(for id: String, source: String, organisation: String) throws(WorkspaceError) -> String? {
    if let own = try catalogue(of: id), try store({ () throws(StoreError) in try own.hasLog() }) { return nil }
    let origin = CatalogueOrigin(source: source, organisation: organisation)
    for candidate in try candidates(for: id, origin) {
      let target = try makeCatalogue(of: id)
      do throws(StoreError) {
        guard let adopted = try BaseAdoption.adopt(from: candidate, into: target, lockTimeout: lockTimeout) else {
          continue
        }
        try rememberOrigin(origin, of: target)
        return (try? CatalogSnapshot(adopted))?.cursor
      } catch {
        switch error {
        // The candidate was damaged, or compacted repeatedly, since it was examined.
        case .damaged, .unreadable, .unusable, .newer, .replaced: continue
        default: throw .store(error)
        }
      }
    }
    return nil
  }

  /// Stores the origin of a user's catalogue, so that other users can start with it. Call it after each synchronisation
  /// with a known origin. Does nothing for a user without a directory, who may have been removed meanwhile.
  ///
  /// - Throws: `WorkspaceError.userID`, `.store`.
  package func rememberOrigin(of id: String, source: String, organisation: String) throws(WorkspaceError) {
    let origin = CatalogueOrigin(source: source, organisation: organisation)
    guard let location = try catalogue(of: id) else { return }
    try store { () throws(StoreError) in try rememberOrigin(origin, of: location) }
  }

  /// Deletes the stored origin. Call it if the catalogue is synchronised from an unknown origin: other users can then
  /// no longer start with it. Users who already have keep their catalogues.
  ///
  /// - Throws: `WorkspaceError.userID`, `.store`.
  package func forgetOrigin(of id: String) throws(WorkspaceError) {
    try forgetOrigin(of: id, unless: nil)
  }

  /// Deletes the stored origin unless it equals `origin`. An origin that cannot be read is left, because no other
  /// process can read it either.
  func forgetOrigin(of id: String, unless origin: CatalogueOrigin?) throws(WorkspaceError) {
    guard let location = try catalogue(of: id) else { return }
    try store { () throws(StoreError) in
      guard let old = try? self.origin(of: location) else { return }
      if let origin, old.hasSameBytes(as: origin.text) { return }
      try rememberOrigin(nil, of: location)
    }
  }

  /// The part of a user's catalogue that is shared with other users; `nil` if nothing is shared, or there is no
  /// catalogue.
  ///
  /// - Throws: `WorkspaceError.userID`, `.store`.
  package func sharedBase(of id: String) throws(WorkspaceError) -> SharedBase? {
    guard let location = try catalogue(of: id) else { return nil }
    return try store { () throws(StoreError) in try StoreReader.open(location)?.snapshot.sharedBase() }
  }

  /// The usable catalogues of other users with this origin, newest commit first.
  private func candidates(
    for id: String, _ origin: CatalogueOrigin
  ) throws(WorkspaceError) -> [StoreLocation] {
    var candidates: [(location: StoreLocation, time: Int64)] = []
    for other in try users() where !other.hasSameBytes(as: id) {
      guard let location = (try? catalogue(of: other)) ?? nil,
        let remembered = (try? self.origin(of: location)) ?? nil, remembered.hasSameBytes(as: origin.text),
        let offer = (try? BaseAdoption.offer(of: location)) ?? nil,
        let cursor = (try? CatalogSnapshot(offer))?.cursor, !cursor.isEmpty
      else { continue }
      candidates.append((location, offer.time))
    }
    return candidates.sorted { $0.time > $1.time }.map(\.location)
  }

  // MARK: The origin next to a catalogue

  /// The stored origin of the catalogue at `location`.
  private func origin(of catalogue: StoreLocation) throws(StoreError) -> String? {
    try text(SettingsTable.origin, of: catalogue)
  }

  /// Stores an origin or, with `nil`, deletes it.
  private func rememberOrigin(_ origin: CatalogueOrigin?, of catalogue: StoreLocation) throws(StoreError) {
    let old = try? self.origin(of: catalogue)
    if let old, let origin, old.hasSameBytes(as: origin.text) { return }
    try setText(SettingsTable.origin, to: origin?.text, of: catalogue)
  }

  private func store<Result>(_ operation: () throws(StoreError) -> Result) throws(WorkspaceError) -> Result {
    do { return try operation() } catch { throw .store(error) }
  }
}

extension StoreLocation {
  /// Whether a commit was ever made here.
  fileprivate func hasLog() throws(StoreError) -> Bool { try StoreReader.open(self) != nil }
}
