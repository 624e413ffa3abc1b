import HTTPSupport
import Testing

@Suite struct ServerSentEventsTests {
  func text(_ data: String) -> String {
    String(decoding: ServerSentEvents.bytes(id: "a-1", kind: "scan", data: Array(data.utf8)), as: UTF8.self)
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

  @Test func `an event without a position has no id`() {
    #expect(
      String(decoding: ServerSentEvents.bytes(kind: "commit", data: [0x31]), as: UTF8.self)
        == "event: commit\ndata: 1\n\n")
  }
}

@Suite struct QueryItemTests {
  @Test func `parameters come in their order, decoded, and what cannot be decoded is nil`() {
    let items = QueryItem.items(of: "a=1&&b+c=%E6%A0%BC&d&e==&f=%zz&%FF=1")
    #expect(items.map(\.name) == ["a", "b c", "d", "e", "f", nil])
    #expect(items.map(\.value) == ["1", "格", "", "=", nil, "1"])
    #expect(QueryItem.items(of: "").isEmpty)
  }
}
