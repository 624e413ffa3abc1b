import HTTPServer
import HTTPSupport
import HTTPTypes
import Testing

@testable import CatalogOrigin

@Suite struct OriginRequestTests {
  func request(
    _ method: String = "GET", _ path: String = "/", query: String? = nil, authorization: String? = nil,
    token: String? = nil
  ) -> OriginRequest {
    var request = HTTPRequest(
      method: HTTPRequest.Method(method)!, scheme: "http", authority: "localhost",
      path: path + (query.map { "?" + $0 } ?? ""))
    if let authorization { request.headerFields[.authorization] = authorization }
    let words = AccessRules.Words(server: "origin", tokenSource: "the token")
    return OriginRequest(request, AccessRules(words, token: token.map { BearerToken(secret: $0) }))
  }

  @Test(arguments: [
    (nil, ""), ("", ""), ("updateTime", ""), ("updateTime=", ""), ("a=1&b", ""), ("updateTimes=1", ""),
    ("updateTime=2026-01-02%2003%3A04%3A05", "2026-01-02 03:04:05"),
    ("updateTime=2026-01-02+03:04:05", "2026-01-02 03:04:05"),
    ("site=7&updateTime=1%2B1=2&updateTime=3", "1+1=2"), ("updateTime=%C3%A9%e2%82%ac", "é€"),
  ])
  func `the cursor is the first updateTime of the query`(query: String?, cursor: String) {
    #expect(request(query: query) == .catalogue(cursor: cursor))
  }

  @Test(arguments: ["%", "%4", "%GG", "%FF", "a%", "%E9"])
  func `a cursor that cannot be decoded is a bad request`(text: String) {
    #expect(request(query: "updateTime=\(text)").status == 400)
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "get"])
  func `other methods are refused`(method: String) {
    #expect(request(method).status == 405)
    #expect(request(method, "/healthz").status == 405)
  }

  @Test(arguments: ["/x", "//", "", "/healthz/"])
  func `other paths are refused`(path: String) {
    #expect(request("GET", path).status == 404)
  }

  @Test func `HEAD asks what GET asks`() {
    #expect(request("HEAD") == .catalogue(cursor: ""))
  }

  @Test(arguments: ["Bearer abc", "bearer abc", "BEARER  abc"])
  func `the right token is let in`(authorization: String) {
    #expect(request(authorization: authorization, token: "abc") == .catalogue(cursor: ""))
  }

  @Test(arguments: [
    nil, "", "abc", "Basic abc", "Bearer", "Bearer ", "Bearer abd", "Bearer abcd", "Bearer ab",
  ])
  func `any other is kept out, but not from the health`(authorization: String?) {
    #expect(request(authorization: authorization, token: "abc").status == 401)
    #expect(request("GET", "/healthz", authorization: authorization, token: "abc") == .health)
  }
}

extension OriginRequest {
  /// The status of a refusal; `nil` if the request is not refused.
  fileprivate var status: Int? {
    if case .refused(let error) = self { error.status.code } else { nil }
  }
}
