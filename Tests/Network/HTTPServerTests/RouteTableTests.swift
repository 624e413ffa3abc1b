import HTTPServer
import HTTPTypes
import Testing

@Suite struct RouteTableTests {
  @Test func `a literal part is preferred to a parameter, and HEAD uses the route of GET`() {
    let table = RouteTable([(.get, "/a/{id}"), (.get, "/a/b"), (.post, "/a/{id}/c"), (.delete, "/a/{id}")])
    #expect(table.match(["a", "x"])?.parameters == ["x"])
    #expect(table.match(["a", "x"])?.allowed == "DELETE, GET, HEAD, OPTIONS")
    #expect(table.match(["a", "x"])?[.delete] == 3)
    #expect(table.match(["a", "b"])?.parameters == [] && table.match(["a", "b"])?[.get] == 1)
    #expect(table.match(["a", "x", "c"])?[.post] == 2)
    #expect(table.match(["a", "x", "c"])?.path == "/a/{id}/c")
    #expect(table.match(["a", "x"])?[.head] == 0)
    #expect(table.match(["a", "x", "c"])?[.head] == nil)
    for path in [[], ["a"], ["a", ""], ["a", "x", "d"], ["a", "x", "c", ""], ["b"]] {
      #expect(table.match(path) == nil)
    }
  }

  @Test func `a tail matches one or more parts that nothing else matches`() {
    let table = RouteTable([(.get, "/a"), (.get, "/a/**"), (.get, "/a/b/{id}"), (.get, "/a/c/**")])
    #expect(table.match(["a"])?[.get] == 0)
    #expect(table.match(["a", "x"])?[.get] == 1)
    #expect(table.match(["a", "x", "", "y"])?.parameters == ["x", "", "y"])
    #expect(table.match(["a", "b", "x"])?[.get] == 2)
    #expect(table.match(["a", "c", "x", "y"])?[.get] == 3)
    // What was preferred is not reconsidered.
    #expect(table.match(["a", "b"]) == nil && table.match(["a", "c"]) == nil)
  }
}
