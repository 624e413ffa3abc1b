import Storage

/// What is not wrong yet with the place of the stores, and may go wrong later. Nothing is refused because of it.
public enum Warning: Hashable, Sendable {
  /// A directory or file belongs to another user than the one that this program acts for.
  case foreignOwner(path: String, owner: UInt32, user: UInt32)
  /// The stores lie on a file system that does not surely keep what they rely on.
  case fileSystem(path: String, name: String)
}

extension Warning: CustomStringConvertible {
  public var description: String {
    switch self {
    case .foreignOwner(let path, let owner, let user):
      "\(path) belongs to user \(owner), and this program runs as user \(user): what one of them writes the other may not"
        + " be able to read; run it as user \(owner), or choose another root"
    case .fileSystem(let path, let name):
      "\(path) lies on \(name), which may not keep the locks, mappings and syncs that a store relies on; choose a root on a"
        + " local disk"
    }
  }
}

extension WorkspaceDirectory {
  /// What speaks against the place of the stores: of the root, of who is signed in and, with an id, of that user's.
  ///
  /// What cannot be looked at gives no warning: whoever opens it will say why. Changes nothing.
  public func warnings(for id: String? = nil) -> [Warning] {
    var warnings: [Warning] = []
    // A root that is not there yet will lie where the nearest directory above it does.
    if let place = PosixDirectory.nearest(to: root), let name = (try? place.unsuitableFileSystem()) ?? nil {
      warnings.append(.fileSystem(path: root, name: name))
    }
    // An invalid id has no directory; it will be refused where it is used.
    let legalID = id.flatMap { (try? check($0)) == nil ? nil : $0 }
    let owners = owners(legalID.map { UserDirectory.path(of: $0) } ?? [])
    return warnings + Self.warnings(owners, user: PosixDirectory.effectiveUser)
  }

  /// A warning for the outermost thing of each foreign owner.
  static func warnings(_ owners: [(path: String, owner: UInt32)], user: UInt32) -> [Warning] {
    var warnings: [Warning] = []
    var seen: Set<UInt32> = [user]
    for (path, owner) in owners where seen.insert(owner).inserted {
      warnings.append(.foreignOwner(path: path, owner: owner, user: user))
    }
    return warnings
  }

  /// Who the root, the directories and the stores below it belong to, outermost first.
  private func owners(_ user: [String]) -> [(path: String, owner: UInt32)] {
    guard let directory = try? PosixDirectory.open(root) else { return [] }
    var owners: [(path: String, owner: UInt32)] = []
    func look(_ names: [String], _ file: String) {
      var place = directory
      for name in names {
        guard let next = (try? place.subdirectory(name)) ?? nil else { return }
        place = next
        if let owner = try? place.owner() { owners.append((place.path, owner)) }
      }
      if let owner = (try? place.owner(of: file)) ?? nil { owners.append((place.path + "/" + file, owner)) }
    }
    if let owner = try? directory.owner() { owners.append((directory.path, owner)) }
    look(["default"], "settings.log")
    if !user.isEmpty { look(["users"] + user, "catalogue.log") }
    return owners
  }
}
