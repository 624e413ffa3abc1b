package import CatalogSources
package import Platform
package import RowSources

/// The reason why an origin cannot serve, or why it continues to serve its previous content.
package enum OriginError: Error {
  /// A file or a folder cannot be read.
  case sourceUnreadable(SourceUnreadable)
  /// The rows of a source are at fault.
  case sourceRefused(SourceRefused)
  /// A database cannot be reached, or refuses a statement.
  case databaseFailed(name: String, DatabaseError)
  /// A reload would remove all products, which is probably an accident.
  case nothingLeft(path: String, remedy: String = "start again to serve an empty catalogue")
  /// The directory with the rows, stamps and deletions cannot be opened, read or written.
  case stateFailed(path: String, reason: String)
  /// The address is in use, does not belong to this machine, or is not permitted.
  case cannotListen(host: String, port: Int, reason: String)
}

extension OriginError: CustomStringConvertible {
  /// What is wrong with which file or address, and what to do, for people.
  package var description: String {
    switch self {
    case .sourceUnreadable(let error): "\(error)"
    case .sourceRefused(let error): "\(error)"
    case .databaseFailed(let name, let error): "\(name): \(error)"
    case .nothingLeft(let path, let remedy):
      "\(path): no product is left, which looks like an accident; \(remedy)"
    case .stateFailed(let path, let reason):
      "\(path): what clients were sent cannot be kept: \(reason)"
    case .cannotListen(let host, let port, let reason):
      "cannot listen on \(host), port \(port): \(reason); choose another port or address"
    }
  }
}

extension OriginError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    switch self {
    case .databaseFailed(_, let cause): cause.exitStatus
    case .cannotListen: .unavailable
    case .sourceUnreadable: .noInput
    default: .data
    }
  }
}

extension OriginError {
  /// Whether a file is at fault, which stays so until the file changes.
  var isOfFile: Bool {
    switch self {
    case .sourceUnreadable, .sourceRefused, .nothingLeft: true
    case .databaseFailed, .stateFailed, .cannotListen: false
    }
  }
}
