import HTTPServer
import HTTPTypes
import ScanDaemon
import Studio
import Workspace

/// The studio of a daemon: everything below `/studio`, with the stores of the signed-in user.
struct StudioFront: Sendable {
  private let responder: StudioResponder

  init(_ daemon: Daemon, _ accessControl: AccessControl, edits: Bool, bodyLimit: Int) {
    let additions = StudioDaemon(
      // The token allows the same by `/v1/queue`.
      decidesUploads: edits || accessControl.token != nil, problems: { daemon.currentProblems() },
      targets: daemon.webhookNames, queue: { try daemon.queue() }, matchingOptions: { try daemon.matchingOptions() },
      synchronises: daemon.synchronises)
    let stores = StudioStores(
      daemon.directory, version: Daemon.version, isEditable: edits, daemon: additions
    ) {
      guard let user = try daemon.user() else { throw WorkspaceError.notSignedIn }
      return user
    }
    let access = StudioAccess(
      token: accessControl.token, isLoopbackOnly: accessControl.isLocal && accessControl.isOverNetwork,
      tokenSource: "the daemon's token", names: accessControl.names, namesSetting: "http.names")
    responder = Studio(stores, access: access, bodyLimit: bodyLimit).responder()
  }

  /// Whether a request is for the studio.
  static func takes(_ head: HTTPRequest) -> Bool {
    guard let path = head.path, path.utf8.starts(with: "/studio".utf8) else { return false }
    return path.utf8.count == 7 || "/?".utf8.contains(path.utf8[path.utf8.index(path.startIndex, offsetBy: 7)])
  }

  /// Whether a request is for an event stream, which stays open.
  static func listens(_ head: HTTPRequest) -> Bool {
    head.path?.prefix { $0 != "?" } == "/studio/api/events"
  }

  /// Answers a request, whose host, origin and token are checked.
  func respond(to request: HTTPRequest, _ body: RequestBody) async throws -> Response {
    try await responder.respond(to: request, body)
  }
}
