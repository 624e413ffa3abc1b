import CatalogHTTP
import Testing

@Suite struct TransportErrorTests {
  @Test func `a message says what, where, how often and what to do`() {
    let error = TransportError.refused(url: "https://h/p", status: 503, message: "asleep", attempts: 5)
    #expect(
      "\(error)"
        == "https://h/p: the server answered 503 (asleep) after 5 attempts; "
        + "the server has a fault; try later or tell its operator")
  }

  @Test(arguments: [
    TransportError.invalidURL(url: "x", reason: "r"), .invalidHeader(name: "n"),
    .certificateFile(path: "p", reason: "r"), .insecure(url: "u", reason: "r"),
    .redirectRefused(url: "u", target: "t", reason: "r"), .tooManyRedirects(url: "u", maximum: 1),
    .bodyTooLong(url: "u", maximum: 1), .unreachable(url: "u", reason: "r", attempts: 1),
    .timedOut(url: "u", limit: .connect, seconds: 1, attempts: 1),
    .timedOut(url: "u", limit: .idle, seconds: 1, attempts: 2),
    .timedOut(url: "u", limit: .total, seconds: 1, attempts: 1),
    .refused(url: "u", status: 404, message: nil, attempts: 1),
    .bodyCutShort(url: "u", received: 1, expected: nil, attempts: 1),
    .notUnderstood(url: "u", reason: "r", attempts: 1),
  ])
  func `every message is one line`(error: TransportError) {
    #expect(!"\(error)".contains("\n"))
    #expect("\(error)".count > 20)
  }

  @Test func `a message calls an option what the program calls it, and nothing where it has no name`() {
    let names = OptionNames(idleTimeout: "--idle", minimumRate: "--rate", certificateAuthorityFile: "--ca")
    let cases: [(TransportError, String)] = [
      (.timedOut(url: "u", limit: .idle, seconds: 1, attempts: 1), "(--idle)"),
      (.timedOut(url: "u", limit: .rate, seconds: 1, attempts: 1), "(--rate)"),
      (.insecure(url: "u", reason: "r"), "(--ca)"),
    ]
    for (error, name) in cases {
      #expect(error.description(naming: names).contains(name))
      for word in ["--", "sync.", "()"] { #expect(!"\(error)".contains(word), "\(error)") }
    }
  }
}
