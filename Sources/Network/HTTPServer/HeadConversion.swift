import HTTPTypes
import NIOHTTP1

extension HTTPRequest {
  /// A request from the parser's head.
  ///
  /// The first `Host` is the request's authority; others stay among the fields. HTTP/1.0 clients need not send one:
  /// theirs is empty then, because a missing one is an error in HTTP/1.1. `Expect` of HTTP/1.0 is left out (RFC 9110,
  /// 10.1.1).
  ///
  /// - Returns: `nil` for a method that is not a token. The parser refuses those.
  init?(_ head: HTTPRequestHead, isOld: Bool) {
    guard let method = HTTPRequest.Method(head.method) else { return nil }
    var authority: String?
    var fields = HTTPFields()
    fields.reserveCapacity(head.headers.count)
    for (name, value) in head.headers {
      guard let name = HTTPField.Name(name) else { continue }
      if authority == nil, name == .host {
        authority = value
      } else if !isOld || name != .expect {
        fields.append(HTTPField(name: name, value: value))
      }
    }
    if isOld, authority == nil { authority = "" }
    self.init(
      method: method, scheme: "http", authority: authority, path: Self.path(of: head.uri), headerFields: fields)
  }

  /// The path and the query of a target, which may be a whole URL (RFC 9112, 3.2.2).
  static func path(of target: String) -> String {
    let utf8 = target.utf8
    guard utf8.first != UInt8(ascii: "/"), let colon = utf8.firstIndex(of: UInt8(ascii: ":")),
      utf8[colon...].starts(with: "://".utf8), isScheme(utf8[..<colon])
    else { return target }
    let rest = target[utf8.index(colon, offsetBy: 3)...].prefix { $0 != "#" }
    let path = rest[(rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex)...]
    return path.first == "/" ? String(path) : "/" + path
  }

  private static func isScheme(_ text: Substring.UTF8View) -> Bool {
    func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }
    guard let first = text.first, isLetter(first) else { return false }
    return text.allSatisfy { isLetter($0) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || "+-.".utf8.contains($0) }
  }

  /// The path without the query: up to the question mark.
  package var pathWithoutQuery: Substring { (path ?? "").prefix { $0 != "?" } }

  /// The query: after the question mark, up to a number sign; `nil` if there is none.
  package var query: Substring? {
    guard let path, let mark = path.firstIndex(of: "?") else { return nil }
    return path[path.index(after: mark)...].prefix { $0 != "#" }
  }
}

extension HTTPRequest.Method {
  /// The methods of handlers need no check; all others are known to the parser, and are tokens.
  fileprivate init?(_ method: HTTPMethod) {
    switch method {
    case .GET: self = .get
    case .HEAD: self = .head
    case .POST: self = .post
    case .PUT: self = .put
    case .DELETE: self = .delete
    case .OPTIONS: self = .options
    default: self.init(method.rawValue)
    }
  }
}

extension HTTPField.Name {
  /// `Host`, which is not among the fields of a request but its authority.
  fileprivate static let host = HTTPField.Name("Host")!
}

extension HTTPRequestHead {
  /// Whether another request may follow. It does not if the client says so or is one of HTTP/1.0, and if the bytes
  /// after the request belong to another protocol.
  var keepsConnection: Bool {
    guard (version.major, version.minor) >= (1, 1), method != .CONNECT else { return false }
    return isKeepAlive && !headers.contains(name: "Upgrade")
  }
}

/// The fields of a response as they are written.
struct ResponseFields {
  var headers = HTTPHeaders()
  private(set) var hasLength = false
  private(set) var hasDate = false

  /// Copies fields, without those that the server decides on: `Connection`, `Transfer-Encoding`, and the length of a
  /// body that there is not.
  init(_ fields: HTTPFields, mayHaveBody: Bool) {
    headers.reserveCapacity(fields.count + 4)
    for field in fields {
      switch field.name {
      case .connection, .transferEncoding: continue
      case .contentLength:
        if !mayHaveBody { continue }
        hasLength = true
      case .date: hasDate = true
      default: break
      }
      headers.add(name: field.name.rawName, value: field.value)
    }
  }
}

extension HTTPResponseStatus {
  init(_ status: HTTPResponse.Status) { self.init(statusCode: status.code, reasonPhrase: status.reasonPhrase) }
}

extension HTTPResponse.Status {
  /// Whether responses with this status have a body (RFC 9110, 6.4.1).
  var mayHaveBody: Bool { code >= 200 && code != 204 && code != 304 }
}
