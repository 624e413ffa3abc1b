import Testing

@testable import DaemonHTTP

@Suite struct EventStreamEncoderTests {
  func text(_ data: String) -> String {
    String(decoding: EventStreamEncoder.bytes(id: "a-1", kind: "scan", data: Array(data.utf8)), as: UTF8.self)
  }

  @Test func `an event is its id, its kind and its data`() {
    #expect(text("{}") == "id: a-1\nevent: scan\ndata: {}\n\n")
    #expect(text("") == "id: a-1\nevent: scan\ndata: \n\n")
  }

  @Test(arguments: ["a\nb", "a\rb", "a\r\nb"])
  func `no byte of the data ends the event`(data: String) {
    #expect(text(data) == "id: a-1\nevent: scan\ndata: a\ndata: b\n\n")
  }

  @Test func `empty lines of the data stay lines`() {
    #expect(text("a\n\n\r\r\nb") == "id: a-1\nevent: scan\ndata: a\ndata: \ndata: \ndata: \ndata: b\n\n")
  }
}

@Suite struct HTTPDateTests {
  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
    (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"), (.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
    (-1, "Thu, 01 Jan 1970 00:00:00 GMT"),
  ])
  func `a date is written as RFC 9110 has it`(second: Int64, text: String) {
    #expect(HTTPDate().text(at: second) == text)
  }

  @Test func `it moves on`() {
    let date = HTTPDate()
    #expect(date.text(at: 59).hasSuffix("00:00:59 GMT"))
    #expect(date.text(at: 60).hasSuffix("00:01:00 GMT"))
  }
}

@Suite struct RouteTableTests {
  func route(_ method: String, _ path: String) -> Route {
    Route(method: .init(method)!, path: path, work: .events)
  }

  @Test func `a path's text goes before its parameter`() throws {
    let table = RouteTable([
      route("GET", "/a/{id}"), route("GET", "/a/b"), route("POST", "/a/{id}/c"), route("DELETE", "/a/{id}"),
    ])
    #expect(table.match(["a", "x"])?.parameters == ["x"])
    #expect(table.match(["a", "x"])?.allowed == "DELETE, GET, HEAD, OPTIONS")
    #expect(table.match(["a", "b"])?.parameters == [])
    #expect(table.match(["a", "x", "c"])?[.post]?.path == "/a/{id}/c")
    #expect(table.match(["a", "x"])?[.head]?.method == .get)
    #expect(table.match(["a", "x", "c"])?[.head] == nil)
    for path in [[], ["a"], ["a", ""], ["a", "x", "d"], ["a", "x", "c", ""], ["b"]] {
      #expect(table.match(path) == nil)
    }
  }
}
