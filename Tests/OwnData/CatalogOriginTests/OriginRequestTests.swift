import Testing

@testable import CatalogOrigin

@Suite struct OriginRequestTests {
  func request(
    _ method: String = "GET", _ path: String = "/", query: String? = nil, authorization: String? = nil,
    token: String? = nil
  ) -> OriginRequest {
    OriginRequest(method: method, path: path, query: query, authorization: authorization, token: token)
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
    guard case .refused(400, _) = request(query: "updateTime=\(text)") else {
      Issue.record("not refused")
      return
    }
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "get"])
  func `other methods are refused`(method: String) {
    #expect(request(method) == .refused(status: 405, message: "only GET and HEAD are possible"))
    #expect(request(method, "/healthz") == .refused(status: 405, message: "only GET and HEAD are possible"))
  }

  @Test(arguments: ["/x", "//", "", "/healthz/"])
  func `other paths are refused`(path: String) {
    #expect(request("GET", path) == .refused(status: 404, message: "there is only / and /healthz here"))
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
    #expect(
      request(authorization: authorization, token: "abc")
        == .refused(status: 401, message: "a valid bearer token is required"))
    #expect(request("GET", "/healthz", authorization: authorization, token: "abc") == .health)
  }
}
