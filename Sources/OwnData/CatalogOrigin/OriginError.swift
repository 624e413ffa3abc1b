package import RowSources
package import RowFiles
package import Platform

/// The reason why an origin cannot serve, or why it continues to serve its previous content.
package enum OriginError: Error {
  /// A file cannot be opened or read.
  case fileUnreadable(path: String, reason: String)
  /// A file begins like gzip, but is damaged or truncated.
  case gzipDamaged(path: String, RowFileError)
  /// A line of a file is not a valid row; the error contains the line.
  case lineRefused(path: String, RowFileError)
  /// The bytes of a person's own file are not text: damaged zstd, or another encoding.
  case sourceRefused(path: String, reason: String)
  /// A database cannot be reached, or refuses a statement.
  case databaseFailed(name: String, DatabaseError)
  /// A reload would remove all products, which is probably an accident.
  case nothingLeft(path: String, remedy: String = "start again to serve an empty catalogue")
  /// The store with the stamps and deletions cannot be opened, read or written.
  case stateFailed(path: String, reason: String)
  /// The address is in use, does not belong to this machine, or is not permitted.
  case cannotListen(host: String, port: Int, reason: String)
}

extension OriginError: CustomStringConvertible {
  /// What is wrong with which file or address, and what to do, for people.
  package var description: String {
    switch self {
    case .fileUnreadable(let path, let reason): "\(path): cannot be read: \(reason)"
    case .gzipDamaged(let path, let error): "\(path): the file is not a sound gzip; write it again (\(error))"
    case .lineRefused(let path, let error): "\(path): \(error)"
    case .sourceRefused(let path, let reason): "\(path): \(reason)"
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
    case .fileUnreadable: .noInput
    default: .data
    }
  }
}
