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
