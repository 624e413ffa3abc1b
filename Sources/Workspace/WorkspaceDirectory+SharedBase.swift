import Bytes
import Catalog
public import LogStore
import Storage

// Users of one organisation see one catalogue. A user who is new on the device begins with what another one has, without
// downloading or storing it again; see FORMAT.md, *Shared base*. Where a catalogue came from only the caller knows: it is
// remembered beside the catalogue, and goes with the user's directory.

/// Where a catalogue comes from: only users with one origin may share. Origins are compared byte for byte.
public struct CatalogueOrigin: Sendable {
  /// What the catalogue is asked for, such as the server's URL.
  public let source: String
  /// Whose catalogue that gives the user.
  public let organisation: String

  public init(source: String, organisation: String) {
    self.source = source
    self.organisation = organisation
  }

  /// What is remembered. The length tells where the source ends, whatever characters it has.
  var text: String { "\(source.utf8.count):\(source)\(organisation)" }

  /// What ``text`` says; `nil` for something else.
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
  /// Lets a user who has no catalogue yet begin with the newest one that another user has from the same origin.
  ///
  /// The first synchronisation then is an increment from the cursor that is returned. Origins are compared byte for byte. Another
  /// user's catalogue that cannot be read, or has no cursor to go on from, is passed over.
  ///
  /// - Parameters:
  ///   - id: of the user.
  ///   - source: what the catalogue is asked for, such as the server's URL.
  ///   - organisation: whose catalogue that gives the user.
  /// - Returns: the cursor of the user's catalogue, which is durable now; `nil` if the user has one already, or nobody else
  ///   has one to share.
  /// - Throws: `WorkspaceError.userID`, `.store`.
  /// - Complexity: opens the catalogue of each other user with that origin; no row is read.
  public func adoptBase(for id: String, source: String, organisation: String) throws(WorkspaceError) -> String? {
    if let own = try catalogue(of: id), try store({ () throws(StoreError) in try own.hasLog() }) { return nil }
    let origin = CatalogueOrigin(source: source, organisation: organisation)
    for candidate in try candidates(for: id, origin) {
      let target = try makeCatalogue(of: id)
      do throws(StoreError) {
        guard let adopted = try BaseAdoption.adopt(from: candidate, into: target, waiting: waiting) else { continue }
        try rememberOrigin(origin, of: target)
        return (try? CatalogSnapshot(adopted))?.cursor
      } catch {
        switch error {
        // It rotted, or was written anew again and again, since it was looked at.
        case .damaged, .unreadable, .unusable, .replaced: continue
        default: throw .store(error)
        }
      }
    }
    return nil
  }

  /// Notes where a user's catalogue comes from, so that others may begin with it: after each synchronisation of which the
  /// caller knows that. Does nothing for a user without a directory, who may have been removed meanwhile.
  ///
  /// - Throws: `WorkspaceError.userID`, `.store`.
  public func rememberOrigin(of id: String, source: String, organisation: String) throws(WorkspaceError) {
    let origin = CatalogueOrigin(source: source, organisation: organisation)
    guard let location = try catalogue(of: id) else { return }
    try store { () throws(StoreError) in try rememberOrigin(origin, of: location) }
  }

  /// Takes the note back: the catalogue is synchronised from somewhere that the caller cannot tell, and nobody else may begin
  /// with it from now on. Who did keeps what he has.
  ///
  /// - Throws: `WorkspaceError.userID`, `.store`.
  public func forgetOrigin(of id: String) throws(WorkspaceError) {
    try forgetOrigin(of: id, unless: nil)
  }

  /// Takes the note back unless it is that of `origin`. A note that cannot be read is left: nobody else can read it either.
  func forgetOrigin(of id: String, unless origin: CatalogueOrigin?) throws(WorkspaceError) {
    guard let location = try catalogue(of: id) else { return }
    try store { () throws(StoreError) in
      guard let old = try? self.origin(of: location) else { return }
      if let origin, old.hasSameBytes(as: origin.text) { return }
      try rememberOrigin(nil, of: location)
    }
  }

  /// What a user's catalogue shares with others; `nil` if nothing, or if there is none.
  ///
  /// - Throws: `WorkspaceError.userID`, `.store`.
  public func sharedBase(of id: String) throws(WorkspaceError) -> SharedBase? {
    guard let location = try catalogue(of: id) else { return nil }
    return try store { () throws(StoreError) in try StoreReader.open(location)?.snapshot.sharedBase() }
  }

  /// The catalogues of the others with this origin that there is something to begin with in, those with the newest commit first.
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

  // MARK: The note beside a catalogue

  /// What is remembered of the catalogue at `location`.
  private func origin(of catalogue: StoreLocation) throws(StoreError) -> String? {
    try note(SettingsTable.origin, of: catalogue)
  }

  /// Remembers another origin, or none.
  private func rememberOrigin(_ origin: CatalogueOrigin?, of catalogue: StoreLocation) throws(StoreError) {
    let old = try? self.origin(of: catalogue)
    if let old, let origin, old.hasSameBytes(as: origin.text) { return }
    try setNote(SettingsTable.origin, to: origin?.text, of: catalogue)
  }

  private func store<Result>(_ operation: () throws(StoreError) -> Result) throws(WorkspaceError) -> Result {
    do { return try operation() } catch { throw .store(error) }
  }
}

extension StoreLocation {
  /// Whether anything was ever committed here.
  fileprivate func hasLog() throws(StoreError) -> Bool { try StoreReader.open(self) != nil }
}
