import Catalog
import HTTPTypes
import LogStore
import ScanDaemon
import UploadQueue
import Workspace

extension ErrorResponse {
  /// Maps an error of the daemon to an error response.
  init(_ error: any Error) {
    switch error {
    case let errorResponse as ErrorResponse: self = errorResponse
    case let error as SetSessionError: self.init(error)
    case let error as UploadQueueError: self.init(error)
    case let error as WorkspaceError: self.init(error)
    case SyncUnavailable.noServer:
      self = .conflict("noServer", "\(SyncUnavailable.noServer); configure where the catalogue comes from")
    case SyncUnavailable.notSignedIn:
      self = .conflict("nobodySignedIn", "\(SyncUnavailable.notSignedIn); sign in with POST /v1/session")
    case let error as TooManyQueries:
      self.init(.serviceUnavailable, "tooManyQueries", "\(error)", headers: [.retryAfter: "1"])
    case SearchError.noIndex(let path):
      self = .conflict(
        "noSearchIndex",
        "\(path) has no index of words; 'catalogctl config set search.index on', then 'catalogctl compact', writes one")
    case SearchError.otherOrder: self = .conflict("otherOrder", "after: \(error)")
    case SearchError.noOrder: self = .conflict("noOrder", "\(error)")
    case SearchError.store(let error): self.init(error)
    case let error as StoreError: self = .unavailable("storeUnavailable", "\(error)")
    default: self.init(.internalServerError, "internal", "\(error)")
    }
  }

  private init(_ error: SetSessionError) {
    switch error {
    case .unknown: self = .notFound("\(error)")
    case .closed: self = .conflict("sessionClosed", "\(error)")
    case .full: self = .conflict("sessionFull", "\(error)")
    case .tooMany: self = .conflict("tooManySessions", "\(error)")
    }
  }

  private init(_ error: UploadQueueError) {
    switch error {
    case .unknown: self = .notFound("\(error)")
    case .isBeingSent: self = .conflict("isBeingSent", "\(error)")
    case .full, .tooManyWorkers, .format: self = .unavailable("queueUnavailable", "\(error)")
    case .payloadTooLarge, .text, .field, .name, .isFile, .unreadable, .changed:
      self.init(.internalServerError, "internal", "\(error)")
    }
  }

  private init(_ error: WorkspaceError) {
    switch error {
    case .userID: self = .badRequest("\(error)")
    case .noSuchUser: self = .conflict("noSuchUser", "\(error); sign in again with POST /v1/session")
    case .notSignedIn: self = .conflict("nobodySignedIn", "\(error); sign in with POST /v1/session")
    case .closed: self = .conflict("userChanged", "\(error); ask again")
    case .store, .settings: self = .unavailable("storeUnavailable", "\(error)")
    }
  }
}
