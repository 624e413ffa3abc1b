import Catalog
import HTTPServer
import HTTPTypes
import ScanDaemon
import Workspace

extension ErrorResponse {
  /// An error response of an expression in a query parameter. The message names the parameter and the column.
  static func expression(_ parameter: String, _ error: ProductQueryError) -> ErrorResponse {
    ErrorResponse(.badRequest, "badExpression", "\(parameter): \(error)")
  }

  /// The response to a request that fails with an error: what the error itself says, and what to ask the daemon for.
  init(ofDaemon error: any Error) {
    self.init(error)
    switch error {
    case let error as SetSessionError: self = Self.response(to: error)
    case SyncUnavailable.noServer:
      self = .conflict("noServer", "\(error); configure where the catalogue comes from")
    case SyncUnavailable.notSignedIn: self = .conflict("nobodySignedIn", "\(error); sign in with POST /v1/session")
    case is TooManyQueries:
      self = .unavailable("tooManyQueries", "\(error)")
      headers[.retryAfter] = "1"
    case SearchError.noIndex(let path):
      message =
        "\(path) has no index of words; 'catalogctl config set search.index on', then 'catalogctl compact', writes one"
    case SearchError.otherOrder: message = "after: \(error)"
    case WorkspaceError.noSuchUser: message += "; sign in again with POST /v1/session"
    case WorkspaceError.notSignedIn: message += "; sign in with POST /v1/session"
    case WorkspaceError.closed: message += "; ask again"
    default: break
    }
  }

  private static func response(to error: SetSessionError) -> ErrorResponse {
    switch error {
    case .unknown: .notFound("\(error)")
    case .closed: .conflict("sessionClosed", "\(error)")
    case .full: .conflict("sessionFull", "\(error)")
    case .tooMany: .conflict("tooManySessions", "\(error)")
    }
  }
}
