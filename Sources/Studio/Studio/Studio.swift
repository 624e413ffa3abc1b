import Catalog
import HTTPServer
import HTTPTypes
import JSONFormat
import LogStore
import Platform
import Synchronization
import TextFormat

/// A studio: pages that show the stores of a user in a browser, and the data that they ask for.
package struct Studio: Sendable {
  let stores: StudioStores
  let access: StudioAccess
  private let bodyLimit: Int
  let tables = ProductTables()
  let sets = SetLists()
  let differenceLists = DifferenceLists()

  /// - Parameters:
  ///   - stores: Where the stores are.
  ///   - access: Who may ask.
  ///   - bodyLimit: The largest body of a request, in bytes.
  package init(_ stores: StudioStores, access: StudioAccess, bodyLimit: Int = Studio.bodyLimit) {
    self.bodyLimit = bodyLimit
    self.stores = stores
    self.access = access
  }

  /// The function from requests to responses, for paths from `/studio` on.
  package func responder() -> StudioResponder {
    let router = StudioRoutes()
    addPages(to: router)
    addStore(to: router)
    addProducts(to: router)
    addHistory(to: router)
    addSets(to: router)
    addDocuments(to: router)
    addQueue(to: router)
    addEditing(to: router)
    addProductEditing(to: router)
    addEvents(to: router)
    return StudioResponder(router.routes, access: access)
  }

  /// A request for data: its query, and the parts of its path that are names.
  struct ReceivedRequest: Sendable {
    let query: StudioQuery
    let body: [UInt8]
    private let names: [String: String]

    init(_ request: StudioRequest, body: [UInt8]) throws {
      query = try StudioQuery(request.head.query.map(String.init))
      self.body = body
      var names: [String: String] = [:]
      for (name, raw) in zip(request.names, request.parameters) {
        guard let text = PercentEncoding.decodedText(raw[...]) else {
          throw ErrorResponse.badRequest("the path is not percent-encoded UTF-8")
        }
        names[name] = Self.withoutEscape(text)
      }
      self.names = names
    }

    /// A part of a path without the tilde that the pages write before `.`, `..` and what begins with a tilde: browsers
    /// take `.` and `..` out of an address, also percent-encoded ones.
    private static func withoutEscape(_ text: String) -> String {
      text.hasPrefix("~") ? String(text.dropFirst()) : text
    }

    /// A part of the path.
    func name(_ name: String) -> String { names[name] ?? "" }
  }

  /// The largest body of a request, in bytes.
  package static let bodyLimit = 16 << 20

  /// Adds a route for data. Its body runs on a thread of its own, as it reads files.
  func add(
    _ router: StudioRoutes, _ method: HTTPRequest.Method, _ path: String,
    _ answer: @escaping @Sendable (ReceivedRequest) throws -> JSONText
  ) {
    addAsync(router, method, path) { call in
      Response(try await BlockingThread.run { try answer(call) })
    }
  }

  /// Adds a route.
  func addAsync(
    _ router: StudioRoutes, _ method: HTTPRequest.Method, _ path: String,
    _ answer: @escaping @Sendable (ReceivedRequest) async throws -> Response
  ) {
    router.on(method, path) { request in
      var body: [UInt8] = []
      if method != .get { body = try await request.body.collect(upTo: bodyLimit) }
      return try await answer(ReceivedRequest(request, body: body))
    }
  }

  /// The catalogue that a request asks for: the one at a commit, or the newest one.
  func catalogue(_ query: StudioQuery) throws -> CatalogSnapshot {
    guard let sequence = try query.sequence("at") else { return try stores.snapshot() }
    return try catalogue(at: sequence)
  }

  /// The catalogue at a commit; the empty one at 0.
  func catalogue(at sequence: UInt64) throws -> CatalogSnapshot {
    if sequence == 0 { return .empty }
    let current = try stores.snapshot()
    if current.sequence == sequence { return current }
    guard let earlier = try stores.history()?.at(sequence) else { throw ErrorResponse.unknownCommit(sequence) }
    return earlier.declaring(try stores.fields())
  }

  /// Throws unless requests may retry and drop uploads.
  func checkDecidesUploads() throws { if !stores.decidesUploads { throw ErrorResponse.notEditable(stores) } }

  /// Throws unless requests may change something.
  func checkEditable() throws { if !stores.isEditable { throw ErrorResponse.notEditable(stores) } }

  // MARK: Pages

  private func addPages(to router: StudioRoutes) {
    router.on(.get, "studio") { request in
      // Without the slash, relative addresses of the page would lead elsewhere.
      if request.head.pathWithoutQuery == "/studio" {
        // Relative as well, because a proxy may have put something in front.
        let query = request.head.query.map { "?\($0)" } ?? ""
        return Response(status: .movedPermanently, headers: [.location: "studio/" + query])
      }
      return try Self.index(request)
    }
    router.on(.get, "studio/assets/**") { request in
      try Self.asset(request.parameters.joined(separator: "/"), request)
    }
    router.on(.get, "studio/**") { request in
      if request.head.pathWithoutQuery.hasPrefix("/studio/api") { throw ErrorResponse.noSuchPath }
      return try Self.index(request)
    }
  }

  /// The page, which is the same for all views.
  ///
  /// Its addresses are relative, so that they are right below any path of a proxy: from the view of the request they lead
  /// up to `/studio/` first.
  private static func index(_ request: StudioRequest) throws -> Response {
    guard let asset = StudioAssets.asset(named: "index.html") else { throw ErrorResponse.noSuchPath }
    let parts = request.head.pathWithoutQuery.split(separator: "/", omittingEmptySubsequences: false)
    let root = parts.firstIndex(of: "studio") ?? parts.startIndex
    let depth = max(0, parts.count - root - 2)
    if depth == 0 { return answer(asset, request) }
    let text = String(decoding: asset.bytes, as: UTF8.self)
      .replacing("\"assets/", with: "\"" + String(repeating: "../", count: depth) + "assets/")
    return answer(StudioAssets.Asset(name: asset.name, bytes: Array(text.utf8)), request)
  }

  private static func asset(_ name: String, _ request: StudioRequest) throws -> Response {
    guard let asset = StudioAssets.asset(named: name) else { throw ErrorResponse.noSuchPath }
    return answer(asset, request)
  }

  private static func answer(_ asset: StudioAssets.Asset, _ request: StudioRequest) -> Response {
    var headers: HTTPFields = [.eTag: asset.entityTag, .cacheControl: "no-cache"]
    if isNamed(asset.entityTag, in: request.head.headerFields[.ifNoneMatch] ?? "") {
      return Response(status: .notModified, headers: headers)
    }
    headers[.contentType] = asset.contentType
    return Response(status: .ok, headers: headers, body: .bytes(asset.bytes))
  }

  /// Whether `If-None-Match` names an entity tag. A proxy that compresses what it passes on makes the tag a weak one, which
  /// is the same here (RFC 9110, 13.1.2).
  private static func isNamed(_ tag: String, in field: String) -> Bool {
    field.split(separator: ",").contains { item in
      let item = item.trimmed { $0 == " " || $0 == "\t" }
      return item == "*" || (item.hasPrefix("W/") ? item.dropFirst(2) : item[...]) == tag
    }
  }
}
