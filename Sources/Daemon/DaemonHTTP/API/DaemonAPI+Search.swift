import HTTPServer
import Catalog
import JSONFormat
import ScanDaemon

extension DaemonAPI {
  var searchRoutes: [Route] {
    [
      Route(
        method: .get, path: "/v1/search",
        parameters: ["q", "limit", "after", "brand", "category", "set", "where"], work: .answer(search))
    ]
  }

  @Sendable private func search(_ call: RouteCall) async throws -> Response {
    guard let text = call.query["q"], !text.isEmpty else {
      throw ErrorResponse.badRequest("q: the words to look for, as in /v1/search?q=cordless+drill")
    }
    let catalogue = try daemon.catalogue()
    let options = try Self.searchOptions(call.query, catalogue)
    return try await aside { try Self.page(catalogue, text, options) }
  }

  private static func searchOptions(
    _ query: QueryParameters, _ catalogue: CatalogSnapshot
  ) throws(ErrorResponse) -> SearchOptions {
    var options = SearchOptions()
    options.limit = try query.limit(default: 20)
    if let after = query["after"] {
      guard let cursor = SearchCursor(after) else {
        throw .badRequest("after: the value of next in the page before, as it is")
      }
      options.cursor = cursor
    }
    options.brand = query["brand"]
    options.category = query["category"]
    options.isSetsOnly = try query.flag("set")
    if let condition = query["where"] {
      do { options.condition = try catalogue.products(where: condition) } catch { throw .expression("where", error) }
    }
    return options
  }

  /// A page of results as JSON. It ends early if it has more than ``listByteLimit`` bytes.
  private static func page(_ catalogue: CatalogSnapshot, _ text: String, _ options: SearchOptions) throws -> Response {
    let found = try catalogue.search(text, options)
    var bytes = Array("{\"results\":[".utf8)
    for (index, result) in found.results.enumerated() {
      if bytes.count > listByteLimit {
        // As if the caller had asked for so many, so that the cursor is the one after the last of them.
        var options = options
        options.limit = index
        return try page(catalogue, text, options)
      }
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      result.json.append(to: &bytes)
    }
    bytes += "],\"next\":".utf8
    JSONText.optional(found.next?.description).append(to: &bytes)
    bytes.append(UInt8(ascii: "}"))
    return Response(json: bytes)
  }
}
