import Platform
import Storage

/// A risk in the location of the stores that is not an error yet. No operation is refused because of it.
public enum Warning: Hashable, Sendable {
  /// A directory or file is owned by a user other than the effective user of this process.
  case foreignOwner(path: String, owner: UInt32, user: UInt32)
  /// The stores are on a file system that may not provide the guarantees that they need.
  case fileSystem(path: String, name: String)
}

extension Warning: CustomStringConvertible {
  /// The risk, the path, and what to do, for people.
  public var description: String {
    switch self {
    case .foreignOwner(let path, let owner, let user) where user != PosixDirectory.effectiveUser:
      "\(path) belongs to user \(owner), and the directory of the stores to user \(user), whose programs may not be able to"
        + " use it; give it to that user: chown -R \(user) \(path.shellWord)"
    case .foreignOwner(let path, let owner, let user):
      "\(path) belongs to user \(owner), and this program runs as user \(user): what one of them writes the other may not"
        + " be able to read; run it as user \(owner), or choose another root"
        + (owner == 0 ? "; but if what is in it belongs to user \(user), as root: chown \(user) \(path.shellWord)" : "")
    case .fileSystem(let path, let name):
      "\(path) lies on \(name), which may not keep the locks, mappings and syncs that a store relies on; choose a root on a"
        + " local disk"
    }
  }
}

extension WorkspaceDirectory {
  /// Checks the root, the store that contains the signed-in user and, if an ID is given, that user's stores for risks.
  ///
  /// Something that cannot be examined gives no warning, because opening it reports the error. Changes nothing.
  public func warnings(for id: String? = nil) -> [Warning] {
    var warnings: [Warning] = []
    // A root that does not exist yet will be created on the file system of its nearest existing ancestor.
    if let ancestor = PosixDirectory.nearest(to: root), let name = (try? ancestor.unsuitableFileSystem()) ?? nil {
      warnings.append(.fileSystem(path: root, name: name))
    }
    // An invalid ID has no directory, and is rejected when it is used.
    let legalID = id.flatMap { (try? check($0)) == nil ? nil : $0 }
    let owners = owners(legalID.map { UserDirectory.path(of: $0) } ?? [])
    // What root creates belongs to the owner of its directory. So root may work for any owner, but only for one.
    let user = PosixDirectory.effectiveUser == 0 ? owners.first?.owner ?? 0 : PosixDirectory.effectiveUser
    return warnings + Self.warnings(owners, user: user)
  }

  /// Why the root is no good place for the stores of a service, for people; `nil` if it is one, as far as is known.
  ///
  /// - Complexity: A few system calls.
  package func placeWarning() -> String? {
    guard let ancestor = PosixDirectory.nearest(to: root) else { return nil }
    if let name = (try? ancestor.unsuitableFileSystem()) ?? nil {
      return "\(Warning.fileSystem(path: root, name: name))"
    }
    guard (try? ancestor.isOnOverlay()) == true else { return nil }
    return "\(root) lies in a container's layer (overlayfs), and the stores go with the container: mount a volume there"
  }

  /// Warnings for the outermost path of each foreign owner.
  static func warnings(_ owners: [(path: String, owner: UInt32)], user: UInt32) -> [Warning] {
    var warnings: [Warning] = []
    var seen: Set<UInt32> = [user]
    for (path, owner) in owners where seen.insert(owner).inserted {
      warnings.append(.foreignOwner(path: path, owner: owner, user: user))
    }
    return warnings
  }

  /// The owners of the root, and of the directories and stores below it, outermost first.
  private func owners(_ user: [String]) -> [(path: String, owner: UInt32)] {
    guard let directory = try? PosixDirectory.open(root) else { return [] }
    var owners: [(path: String, owner: UInt32)] = []
    func check(_ names: [String], _ file: String) {
      var current = directory
      for name in names {
        guard let next = (try? current.subdirectory(name)) ?? nil else { return }
        current = next
        if let owner = try? current.owner() { owners.append((current.path, owner)) }
      }
      if let owner = (try? current.owner(of: file)) ?? nil { owners.append((current.path + "/" + file, owner)) }
    }
    if let owner = try? directory.owner() { owners.append((directory.path, owner)) }
    check(["default"], "settings.log")
    if !user.isEmpty { check(["users"] + user, "catalogue.log") }
    return owners
  }
}
