import Catalog
import Documents
import LogStore
import Storage

extension Error {
  /// Whether a missing or a wrong key is the reason. Nothing is damaged then.
  package var isAboutKeys: Bool {
    switch self as any Error {
    case WorkspaceError.keys: true
    case StoreError.sealed, WorkspaceError.store(.sealed), WorkspaceError.settings(.sealed),
      CatalogError.store(.sealed), DocumentStoreError.store(.sealed):
      true
    default: false
    }
  }
}

extension WorkspaceDirectory {
  /// Why the sealed stores of a user cannot be opened; `nil` if they can, or are in clear.
  ///
  /// - Complexity: A few system calls, and a part of a second for a passphrase that was not used yet.
  package func keyFault(of id: String) -> KeyError? {
    guard let directory = (try? directory(of: id)) ?? nil else { return nil }
    do throws(KeyError) {
      if let file = try KeyFile.read(in: directory) {
        _ = try keyRing.keys(of: file)
        return nil
      }
    } catch { return error }
    let sealed = ["catalogue", "documents", "settings"].lazy.map { StoreLocation(directory, name: $0) }
      .first { (try? $0.isSealed()) == true }
    return sealed.map { .lost(path: $0.path) }
  }

  /// Whether a store of a user is there, and sealed. Needs no key.
  package func isSealed(_ name: String, of id: String) throws -> Bool {
    guard let directory = try directory(of: id) else { return false }
    return try StoreLocation(directory, name: name).isSealed() == true
  }

  /// Reads the key again, for the stores of a user; see ``KeyRing/renew(for:)``. Blocks while a command runs.
  ///
  /// - Parameter id: The user; `nil` if nobody is signed in.
  package func renewKey(for id: String?) throws(KeyError) {
    var file: KeyFile?
    if let id, let directory = (try? directory(of: id)) ?? nil { file = try KeyFile.read(in: directory) }
    try keyRing.renew(for: file)
  }
}
