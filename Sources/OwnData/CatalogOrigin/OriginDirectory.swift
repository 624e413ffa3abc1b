import Catalog
import CatalogSources
import Essentials
import LogStore
import RowSources

/// The directory in which an origin keeps its catalogue and its stamps. A temporary one is deleted with this object.
final class OriginDirectory: Sendable {
  let path: String
  private let isTemporary: Bool

  /// - Parameter path: The directory, which is created when it is needed; `nil` for a temporary one.
  init(_ path: String?) {
    isTemporary = path == nil
    let parent = ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    // The name cannot be guessed, and the directory is this user's alone.
    self.path = path ?? "\(parent)/shelfmark-serve-\(UUID().uuidString)"
  }

  deinit { removeIfTemporary() }

  /// Deletes a temporary directory. Nothing may be read or written after that.
  func removeIfTemporary() {
    if isTemporary { try? FileManager.default.removeItem(atPath: path) }
  }

  /// The location of the catalogue.
  func catalogue() throws(StoreError) -> StoreLocation { try StoreLocation.creating(path, name: "catalogue") }

  /// The last commit of the catalogue; `nil` if there is none.
  func former() throws -> CatalogSnapshot? { try CatalogReader.open(catalogue())?.snapshot() }

  /// Where an import writes.
  ///
  /// - Parameter expected: The last commit that this process has made or read: another one is of another process. `nil`
  ///   at the start, when nothing is served yet.
  func destination(last: CatalogSnapshot?, expecting expected: UInt64? = nil) throws -> SourceDestination {
    let location = try catalogue()
    return SourceDestination(location: location, last: last) {
      let writer = try CatalogWriter(location, lockTimeout: .seconds(1), indexes: .none)
      if let expected, try writer.snapshot().sequence != expected {
        writer.close()
        throw OriginStateTaken()
      }
      return writer
    }
  }

  /// Compacts the catalogue if most of its file is no longer used. Products that vanished before are then sent by their
  /// id alone.
  func compactIfDue() throws {
    let writer = try CatalogWriter(catalogue(), lockTimeout: .seconds(1), indexes: .none)
    defer { writer.close() }
    try writer.compactIfDue(CompactionPolicy(share: 3, floor: 64 << 20))
  }

  /// What an error of the import, of the catalogue or of the stamps means for the origin.
  ///
  /// - Parameter hasState: Whether the directory is one that was named, so that an empty catalogue has to be allowed by
  ///   deleting it.
  func error(_ error: any Error, of source: CatalogueSource, hasState: Bool = false) -> OriginError {
    switch error {
    case let error as OriginError: error
    case let error as SourceRefused where error.isEmpty:
      hasState
        ? .nothingLeft(
          path: source.name,
          remedy: "to serve an empty catalogue, delete \(path); clients then need a full update")
        : .nothingLeft(path: source.name)
    case let error as SourceRefused: .sourceRefused(error)
    case let error as SourceUnreadable: .sourceUnreadable(error)
    case let error as DatabaseError: .databaseFailed(name: source.name, error)
    default: failed(error)
    }
  }

  private func failed(_ error: any Error) -> OriginError { .stateFailed(path: path, reason: "\(error)") }
}

/// The stamps belong to a commit that the catalogue does not have.
struct OriginStateOther: Error, CustomStringConvertible {
  var sequence: UInt64

  var description: String {
    "its catalogue has no commit \(sequence), to which its stamps belong; restore both files of one backup, or delete"
      + " the directory, and clients get all rows once more"
  }
}
