import Catalog
import DocumentFormat
import Documents
import HTTPServer
import Workspace

extension ErrorResponse {
  static let noSuchPath = notFound("there is nothing at this path")
  /// The refusal of a change of something that is another now.
  static func changed(_ what: String) -> ErrorResponse {
    ErrorResponse(
      .conflict, "changedMeanwhile",
      "\(what) than the one that was edited; undo this change, and make it again in what is there now; nothing was"
        + " changed")
  }
  static func unknownCommit(_ sequence: UInt64) -> ErrorResponse {
    ErrorResponse(.notFound, "unknownCommit", "commit \(sequence) is not kept; the page History lists those that are")
  }
  static func unknownEarlierCommit(_ sequence: UInt64) -> ErrorResponse {
    ErrorResponse(
      .notFound, "unknownEarlierCommit",
      "since: commit \(sequence) is not kept; the page History lists those that are")
  }
  static func notEditable(_ stores: StudioStores) -> ErrorResponse {
    ErrorResponse(
      .forbidden, "notEditable",
      stores.daemon == nil
        ? "this studio only shows; start it with 'catalogctl studio --edit' to change something"
        : "this studio only shows; set studio.edit in the daemon's configuration to change something")
  }

  /// The response to a request that fails with an error: what the error itself says, but for expressions, documents and
  /// settings, which a person has typed.
  init(ofStudio error: any Error) {
    switch error {
    case is ProductQueryError, is QuerySyntaxError, is DocumentStoreError, is MatchingSettingsError, is SettingsError,
      SearchError.otherOrder:
      self = .badRequest("\(error)")
    case SearchError.noOrder: self.init(.badRequest, "noIndex", "\(error)")
    case is CatalogError: self = .unavailable("storeUnavailable", "\(error)")
    default: self.init(error)
    }
  }
}
