import Testing

/// What `sync` says while it tries again.
@Suite struct RetryCommandTests {
  @Test func `a retry counts its attempts once`() throws {
    let root = try TestRoot(answers: [])
    let server = try HTTPServer([.init(status: "500 Oops"), .init(status: "500 Oops"), .init(status: "500 Oops")])
    let run = try root.run("sync", "--url", server.url, "--attempts", "3")
    #expect(run.code == 69)
    let lines = run.words.split(separator: "\n")
    #expect(lines.count == 3, "\(run.words)")
    for (index, line) in lines.prefix(2).enumerated() {
      #expect(line.contains("attempt \(index + 1) of 3 failed: "), "\(line)")
      #expect(line.contains("the server answered 500") && !line.contains("after"), "\(line)")
    }
    // Who gives up says after how many.
    #expect(lines.last?.contains("after 3 attempts") == true, "\(run.words)")
  }
}
