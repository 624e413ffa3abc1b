public import LogStore

/// What can go wrong around users and their stores.
public enum WorkspaceError: Error, Sendable {
  /// An id is empty, or longer than 255 bytes.
  case userID(byteCount: Int)
  /// Nobody is signed in, and no user was named.
  case nobodySignedIn
  case store(StoreError)
  /// The store that says who is signed in is damaged, or is no store. The users' own stores are not touched by that.
  case settings(StoreError)
}

extension WorkspaceError {
  /// What an error of the settings' store means.
  init(settings error: StoreError) {
    switch error {
    case .damaged, .unusable, .schema: self = .settings(error)
    default: self = .store(error)
    }
  }
}

extension WorkspaceError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .userID(let byteCount):
      byteCount == 0
        ? "a user's id cannot be empty" : "a user's id has at most 255 bytes of UTF-8, this one has \(byteCount)"
    case .nobodySignedIn: "nobody is signed in"
    case .store(let error): error.description
    case .settings(let error): "who is signed in cannot be told: \(error)"
    }
  }
}
