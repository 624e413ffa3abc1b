import Catalog
import DocumentFormat
import Documents
import HTTPServer
package import HTTPTypes
import JSONFormat
import LogStore
import UploadQueue
import Workspace

/// A request that is refused: a status, a code for programs, and a message that says what to do.
package struct StudioError: Error, Sendable {
  /// The status of the response.
  package let status: HTTPResponse.Status
  /// The code for programs.
  package let code: String
  /// The message for people.
  package let message: String

  init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
    self.status = status
    self.code = code
    self.message = message
  }

  static func badRequest(_ message: String) -> StudioError { StudioError(.badRequest, "badRequest", message) }
  static func notFound(_ message: String) -> StudioError { StudioError(.notFound, "notFound", message) }
  static let noSuchPath = notFound("there is nothing at this path")
  /// The refusal of a change of something that is another now.
  static func changed(_ what: String) -> StudioError {
    StudioError(
      .conflict, "changedMeanwhile",
      "\(what) than the one that was edited; undo this change, and make it again in what is there now; nothing was"
        + " changed")
  }
  static func unknownCommit(_ sequence: UInt64) -> StudioError {
    StudioError(.notFound, "unknownCommit", "commit \(sequence) is not kept; the page History lists those that are")
  }
  static func unknownEarlierCommit(_ sequence: UInt64) -> StudioError {
    StudioError(
      .notFound, "unknownEarlierCommit",
      "since: commit \(sequence) is not kept; the page History lists those that are")
  }
  static func notEditable(_ stores: any StudioStores) -> StudioError {
    StudioError(
      .forbidden, "notEditable",
      stores.daemon == nil
        ? "this studio only shows; start it with 'catalogctl studio --edit' to change something"
        : "this studio only shows; set studio.edit in the daemon's configuration to change something")
  }

  /// The refusal for an error of the stores.
  init(_ error: any Error) {
    switch error {
    case let error as StudioError: self = error
    case let error as ProductQueryError: self = .badRequest("\(error)")
    case let error as QuerySyntaxError: self = .badRequest("\(error)")
    case let error as DocumentStoreError: self = .badRequest("\(error)")
    case let error as MatchingSettingsError: self = .badRequest("\(error)")
    case let error as SettingsError: self = .badRequest("\(error)")
    case SearchError.noIndex: self.init(.conflict, "noIndex", "\(error)")
    case SearchError.otherOrder: self = .badRequest("\(error)")
    case SearchError.noOrder: self.init(.badRequest, "noIndex", "\(error)")
    case SearchError.store, is StoreError, is CatalogError:
      self.init(.serviceUnavailable, "storeUnavailable", "\(error)")
    case WorkspaceError.notSignedIn: self.init(.conflict, "nobodySignedIn", "\(error)")
    case let error as WorkspaceError: self.init(.serviceUnavailable, "storeUnavailable", "\(error)")
    case UploadQueueError.unknown: self = .notFound("\(error)")
    case let error as UploadQueueError: self.init(.conflict, "queue", "\(error)")
    case is RequestBodyError: self.init(.contentTooLarge, "bodyTooLarge", "the body is larger than is taken")
    case let error as JSONError: self = .badRequest("the body is not JSON: \(error)")
    default: self.init(.internalServerError, "internal", "\(error)")
    }
  }

  var json: JSONText {
    .object([("error", .object([("code", .text(code)), ("message", .text(message))]))])
  }
}
