public import LogStore

/// What can go wrong around users and their stores.
public enum WorkspaceError: Error, Sendable {
  /// An id is empty, or longer than 255 bytes.
  case userID(byteCount: Int)
  /// Nobody is signed in, and no user was named.
  case nobodySignedIn
  case store(StoreError)
}

extension WorkspaceError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .userID(let byteCount):
      byteCount == 0
        ? "a user's id cannot be empty" : "a user's id has at most 255 bytes of UTF-8, this one has \(byteCount)"
    case .nobodySignedIn: "nobody is signed in"
    case .store(let error): error.description
    }
  }
}
