import Hummingbird
import TextFormat

/// The part of a request's target that Hummingbird does not check: `/v1/products?barcode=69…`.
struct RequestTarget: Sendable, Equatable {
  /// Whether the path has two slashes in a row, or one at its end.
  let hasEmptySegment: Bool
  let query: Query

  /// - Throws: A refusal with status 400 for a target that is no path, an invalid escape, and bytes that are not UTF-8.
  init(_ text: String) throws(Refusal) {
    let utf8 = text.utf8
    guard utf8.first == UInt8(ascii: "/") else {
      throw .badRequest("a path begins with a slash: /v1/status")
    }
    let end = utf8.firstIndex(of: UInt8(ascii: "?")) ?? utf8.endIndex
    let path = utf8[..<end]
    guard PercentEncoding.isValid(Substring(path)) else {
      throw .badRequest(
        "the path has an invalid escape, or is not UTF-8: write each byte that is no letter and no digit as % and two"
          + " hexadecimal digits")
    }
    hasEmptySegment =
      path.last == UInt8(ascii: "/") || zip(path, path.dropFirst()).contains { $0 == UInt8(ascii: "/") && $1 == $0 }
    query = end < utf8.endIndex ? try Query(text[utf8.index(after: end)...]) : Query()
  }

  /// The target as the router compares it: without a fragment, and without escapes that a path does not need.
  static func normalized(_ text: String) -> String {
    let utf8 = text.utf8.prefix { $0 != UInt8(ascii: "#") }
    let end = utf8.firstIndex(of: UInt8(ascii: "?")) ?? utf8.endIndex
    return PercentEncoding.normalized(Substring(utf8[..<end])) + String(Substring(utf8[end...]))
  }
}

/// Hands requests to the router with normalized targets.
struct NormalizingResponder: HTTPResponder {
  let router: RouterResponder<DaemonContext>

  func respond(to request: Request, context: DaemonContext) async throws -> Response {
    guard let target = request.head.path,
      target.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "#") })
    else { return try await router.respond(to: request, context: context) }
    var head = request.head
    head.path = RequestTarget.normalized(target)
    return try await router.respond(to: Request(head: head, body: request.body), context: context)
  }
}

/// The parameters of a request, in their order.
struct Query: Sendable, Equatable {
  private(set) var items: [Item] = []

  struct Item: Sendable, Equatable {
    var name: String
    var value: String
  }

  /// A query without parameters.
  init() {}

  /// - Throws: a refusal with status 400.
  init(_ text: Substring) throws(Refusal) {
    for part in text.prefix(while: { $0 != "#" }).split(separator: "&") {
      let equals = part.firstIndex(of: "=") ?? part.endIndex
      let value = equals < part.endIndex ? part[part.index(after: equals)...] : ""
      guard let name = PercentEncoding.decodedText(part[..<equals], plusIsBlank: true),
        let value = PercentEncoding.decodedText(value, plusIsBlank: true)
      else { throw .badRequest("the query has an invalid escape, or is not UTF-8") }
      items.append(Item(name: name, value: value))
    }
  }

  /// The first value of this name.
  subscript(name: String) -> String? { items.first { $0.name == name }?.value }

  /// A number of things to list: 1 to 1000, 100 unless asked for another.
  ///
  /// - Throws: a refusal with status 400.
  func limit() throws(Refusal) -> Int {
    guard let text = self["limit"] else { return 100 }
    guard let limit = Int(text), (1...1000).contains(limit) else {
      throw .badRequest("limit: a whole number from 1 to 1000")
    }
    return limit
  }
}
