public import LogStore
package import Platform

/// An error of users and their stores.
public enum WorkspaceError: Error, Sendable {
  /// An id is empty, or longer than 255 bytes.
  case userID(byteCount: Int)
  /// No user is signed in, and none was named.
  case notSignedIn
  /// The user has no stores: no user with this ID has signed in on this device, or the user was removed.
  case noSuchUser(String)
  /// The stores were used after another user was signed in, or after the workspace was closed. Get the current stores
  /// from the workspace. `nil` for the default stores, and for the workspace itself.
  case closed(user: String?)
  case store(StoreError)
  /// The store that contains the signed-in user is damaged or invalid. The users' own stores are not affected.
  case settings(StoreError)
  /// The keys of a sealed user cannot be opened.
  case keys(KeyError)
}

extension WorkspaceError {
  /// Classifies an error of the settings' store.
  init(settings error: StoreError) {
    switch error {
    case .damaged, .unusable, .schema: self = .settings(error)
    default: self = .store(error)
    }
  }
}

extension WorkspaceError: CustomStringConvertible {
  /// What is wrong with which user or store, and what to do, for people.
  public var description: String {
    switch self {
    case .userID(let byteCount):
      byteCount == 0
        ? "a user's id cannot be empty" : "a user's id has at most 255 bytes of UTF-8, this one has \(byteCount)"
    case .notSignedIn: "nobody is signed in"
    case .noSuchUser(let id): "there is no user \(id) here"
    case .closed(let user):
      user.map { "the stores of \($0) were closed, as \($0) was signed out or the workspace was closed" }
        ?? "the workspace was closed"
    case .store(let error): error.description
    case .settings(let error): "the signed-in user cannot be determined: \(error)"
    case .keys(let error): error.description
    }
  }
}

extension WorkspaceError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    switch self {
    case .store(let cause), .settings(let cause): cause.exitStatus
    case .keys(let cause): cause.exitStatus
    case .noSuchUser: .no
    case .closed: .temporary
    case .userID, .notSignedIn: .usage
    }
  }

  /// What a server answers to a request that fails because of it.
  package var refusal: Refusal {
    switch self {
    case .store, .settings, .keys: .unavailable("storeUnavailable")
    case .noSuchUser: .conflict("noSuchUser")
    case .closed: .conflict("userChanged")
    case .notSignedIn: .conflict("nobodySignedIn")
    case .userID: .badRequest
    }
  }
}
