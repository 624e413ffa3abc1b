import HTTPServer
import Testing

@testable import DaemonHTTP

@Suite struct RequestTargetTests {
  @Test(arguments: [
    ("/", [""]), ("/v1/status", ["v1", "status"]), ("/v1/scan/69%2F1", ["v1", "scan", "69/1"]),
    ("/v1/scan/0104%1D21", ["v1", "scan", "0104\u{1D}21"]), ("/v1/scan/%e4%bd%a0", ["v1", "scan", "你"]),
    ("/v1/scan/a+b", ["v1", "scan", "a+b"]), ("/v1/scan/", ["v1", "scan", ""]), ("/a//b", ["a", "", "b"]),
    ("/v1/scan/%00", ["v1", "scan", "\0"]), ("/v1/scan/a%3Fb%23", ["v1", "scan", "a?b#"]), ("/a#b", ["a"]),
  ])
  func `a path is split at its slashes and then decoded`(text: String, segments: [String]) throws {
    #expect(try RequestTarget(text).segments == segments)
  }

  @Test(arguments: [
    "/%", "/%1", "/%zz", "/a%2", "/%ff", "/%c0%80", "/%ed%a0%80", "/%e4%bd", "/a?b=%", "/a?%g=1", "/a?b=%ff", "", "*",
    "http://a/b", "a/b", "?a",
  ])
  func `what is no path is refused with 400`(text: String) {
    #expect { try RequestTarget(text) } throws: { ($0 as? ErrorResponse)?.status == .badRequest }
  }

  @Test func `parameters are split at their first equals sign and then decoded`() throws {
    let query = try RequestTarget("/a?b=1&c&=d&e=f=g&h=%26%3D").query
    #expect(query["b"] == "1")
    #expect(query["c"] == "")
    #expect(query["e"] == "f=g")
    #expect(query["h"] == "&=")
    #expect(query["x"] == nil)
  }

  @Test func `a plus is a space in a query only`() throws {
    #expect(try RequestTarget("/a?b=1+2%2B3").query["b"] == "1 2+3")
  }

  @Test func `a fragment is no part of a query`() throws {
    #expect(try RequestTarget("/a?b=1#c=2").query.items == [.init(name: "b", value: "1")])
  }

  @Test(arguments: [("", 100), ("?limit=1", 1), ("?limit=1000", 1000)])
  func `a limit is 100 unless another is asked for`(query: String, limit: Int) throws {
    #expect(try RequestTarget("/a" + query).query.limit() == limit)
  }

  @Test(arguments: ["0", "1001", "-1", "x", "", "1.5", "99999999999999999999"])
  func `any other limit is refused`(text: String) throws {
    let query = try RequestTarget("/a?limit=" + text).query
    #expect { try query.limit() } throws: { ($0 as? ErrorResponse)?.status == .badRequest }
  }
}
