import HTTPServer
import HTTPSupport
import TextFormat

/// A parsed request target: `/v1/products?barcode=69…`.
struct RequestTarget: Sendable, Equatable {
  /// The decoded path segments. An escaped slash is part of its segment.
  let segments: [String]
  let query: QueryParameters

  /// - Throws: `ErrorResponse` with status 400.
  init(_ text: String) throws(ErrorResponse) {
    let utf8 = Substring(text).utf8
    guard utf8.first == UInt8(ascii: "/") else {
      throw .badRequest("a path begins with a slash: /v1/status")
    }
    let end = utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? utf8.endIndex
    var segments: [String] = []
    var start = utf8.index(after: utf8.startIndex)
    while true {
      let slash = utf8[start..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
      guard let segment = PercentEncoding.decodedText(Substring(utf8[start..<slash])) else {
        throw .badRequest(
          "the path has an invalid escape, or is not UTF-8: write each byte that is no letter and no digit as % and two"
            + " hexadecimal digits")
      }
      segments.append(segment)
      if slash == end { break }
      start = utf8.index(after: slash)
    }
    self.segments = segments
    query =
      end < utf8.endIndex && utf8[end] == UInt8(ascii: "?")
      ? try QueryParameters(Substring(utf8[utf8.index(after: end)...])) : QueryParameters()
  }
}

/// The query parameters of a request, in order.
struct QueryParameters: Sendable, Equatable {
  private(set) var items: [Item] = []

  struct Item: Sendable, Equatable {
    var name: String
    var value: String
  }

  /// A query without parameters.
  init() {}

  /// - Throws: `ErrorResponse` with status 400.
  init(_ text: Substring) throws(ErrorResponse) {
    for item in QueryItem.items(of: text.prefix { $0 != "#" }) {
      guard let name = item.name, let value = item.value else {
        throw .badRequest("the query has an invalid escape, or is not UTF-8")
      }
      items.append(Item(name: name, value: value))
    }
  }

  /// The value with this name. A route has each parameter at most once.
  subscript(name: String) -> String? { items.first { $0.name == name }?.value }

  /// The number of items to list: 1 to 1000, `defaultLimit` if it is not given.
  ///
  /// - Throws: `ErrorResponse` with status 400.
  func limit(default defaultLimit: Int = 100) throws(ErrorResponse) -> Int {
    guard let text = self["limit"] else { return defaultLimit }
    guard let limit = Int(text), (1...1000).contains(limit) else {
      throw .badRequest("limit: a whole number from 1 to 1000")
    }
    return limit
  }

  /// The largest number of items to skip: the greatest integer that every program that reads JSON knows exactly
  /// (RFC 8259, 6).
  static let offsetLimit = 9_007_199_254_740_991

  /// The number of items to skip: 0 to ``offsetLimit``, 0 by default.
  ///
  /// - Throws: `ErrorResponse` with status 400.
  func offset() throws(ErrorResponse) -> Int {
    guard let text = self["offset"] else { return 0 }
    guard let offset = Int(text), (0...Self.offsetLimit).contains(offset) else {
      throw .badRequest("offset: a whole number from 0 to \(Self.offsetLimit)")
    }
    return offset
  }

  /// Whether a flag is set: `true` or `false`, false by default.
  ///
  /// - Throws: `ErrorResponse` with status 400.
  func flag(_ name: String) throws(ErrorResponse) -> Bool {
    switch self[name] {
    case nil, "false": return false
    case "true": return true
    default: throw .badRequest("\(name): true or false")
    }
  }
}
