public import CatalogWire

/// Why an origin cannot serve, or why it goes on serving what it had.
public enum OriginError: Error {
  /// A file cannot be opened or read.
  case fileUnreadable(path: String, reason: String)
  /// A file begins like gzip but is damaged or ends early.
  case gzipDamaged(path: String, WireError)
  /// A line of a file is no row; the error names it.
  case lineRefused(path: String, WireError)
  /// A reload would leave no product at all: more likely an accident than a wish.
  case nothingLeft(path: String)
  /// The address is taken, not this machine's, or not allowed.
  case cannotListen(host: String, port: Int, reason: String)
}

extension OriginError: CustomStringConvertible {
  /// What is wrong with which file or address, and what to do, for people.
  public var description: String {
    switch self {
    case .fileUnreadable(let path, let reason): "\(path): cannot be read: \(reason)"
    case .gzipDamaged(let path, let error): "\(path): the file is not a sound gzip; write it again (\(error))"
    case .lineRefused(let path, let error): "\(path): \(error)"
    case .nothingLeft(let path):
      "\(path): no product is left, which looks like an accident; start again to serve an empty catalogue"
    case .cannotListen(let host, let port, let reason):
      "cannot listen on \(host), port \(port): \(reason); choose another port or address"
    }
  }
}
