public import LogStore

/// What can go wrong around users and their stores.
public enum WorkspaceError: Error, Sendable {
  /// An id is empty, or longer than 255 bytes.
  case userID(byteCount: Int)
  /// Nobody is signed in, and no user was named.
  case nobodySignedIn
  /// A user has no stores here: nobody signed in with this id on this device, or the user was removed.
  case noSuchUser(String)
  /// Stores were asked for something after another user was signed in, or after the workspace was closed: ask the workspace for
  /// those of now. `nil` for those that belong to nobody, and for the workspace itself.
  case closed(user: String?)
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
    case .noSuchUser(let id): "there is no user \(id) here"
    case .closed(let user):
      user.map { "the stores of \($0) were closed, as \($0) was signed out or the workspace was closed" }
        ?? "the workspace was closed"
    case .store(let error): error.description
    case .settings(let error): "who is signed in cannot be told: \(error)"
    }
  }
}
