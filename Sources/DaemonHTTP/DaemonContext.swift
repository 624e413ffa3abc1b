import Hummingbird
import NIOCore

/// What the middleware and the routes know of one request, besides the request itself.
struct DaemonContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// The connection.
  let channel: any Channel
  /// The parameters of the target. ``TargetMiddleware`` sets them.
  var query = Query()
  /// The members of the body. ``BodyMiddleware`` sets them.
  var body = BodyMembers()

  init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    channel = source.channel
  }

  /// The parameter of the path, decoded. Each path has at most one.
  var parameter: String {
    // The escapes are valid: ``TargetMiddleware`` refuses others.
    coreContext.parameters.first.flatMap { PercentEncoding.decodedText(Substring($0.value)) } ?? ""
  }

  /// The route of the request, as the OpenAPI document writes it. `nil` if no route has the path.
  var route: String? {
    get { coreContext.endpointPath.value }
    nonmutating set { coreContext.endpointPath.value = newValue }
  }
}
