import RandomTestSupport
import Testing

@testable import ScanInputs

@Suite struct ScanRequestTests {
  private func refusal(_ line: String) -> ScanRequest.Refusal? {
    do {
      _ = try ScanRequest(line: line)
      return nil
    } catch {
      return error
    }
  }

  private func refusalText(_ line: String) -> String { String(decoding: refusal(line)?.line ?? [], as: UTF8.self) }

  @Test func `code and tag`() throws {
    #expect(try ScanRequest(line: #"{"code":"690","tag":"a"}"#) == ScanRequest(code: "690", tag: "a"))
    let spaced = #" { "tag" : null , "code" : "\u001d01\n\"" } "#
    #expect(try ScanRequest(line: spaced) == ScanRequest(code: "\u{1D}01\n\""))
    #expect(try ScanRequest(line: #"{"code":""}"#) == ScanRequest(code: ""))
  }

  @Test func `other keys are ignored, however often they come`() throws {
    let line = #"{"a":[1,{"code":"no","b":[[]]},true],"code":"690","tag":null,"x":{},"x":1,"n":1e9}"#
    #expect(try ScanRequest(line: line) == ScanRequest(code: "690"))
  }

  @Test func `of two codes or two tags nobody knows which one is meant`() {
    #expect(refusalText(#"{"tag":"a","code":"690","code":"691"}"#) == #"{"error":"\"code\" is there twice","tag":"a"}"#)
    #expect(refusalText(#"{"code":"690","code":"690"}"#) == #"{"error":"\"code\" is there twice"}"#)
    #expect(refusalText(#"{"tag":null,"tag":"b","code":"690"}"#) == #"{"error":"\"tag\" is there twice"}"#)
  }

  @Test(arguments: [
    "", "690", "\"690\"", "[]", "null", "{", "{}", #"{"code":690}"#, #"{"code":null}"#, #"{"code":["690"]}"#,
    #"{"tag":"a"}"#, #"{"code":"690""#, #"{"code":"690"}{"code":"691"}"#, #"{"code":"690"} x"#, #"{"code":"6\q"}"#,
    #"{"code":"690","tag":1}"#, #"{"code":"690","tag":{}}"#, #"{code:"690"}"#, "{\"code\":\"\u{1D}\"}",
  ])
  func `everything else is refused`(line: String) {
    #expect(refusal(line) != nil)
  }

  @Test func `a refusal has the tag if it is known`() {
    #expect(refusal(#"{"tag":"a","code":1}"#)?.tag == "a")
    #expect(refusal(#"{"tag":"a","x":"#)?.tag == "a")
    #expect(refusal(#"{"code":1,"tag":"a"}"#)?.tag == nil)
    #expect(refusalText(#"{"tag":"\"\u0001\\","code":1}"#) == #"{"error":"\"code\" is no string","tag":"\"\u0001\\"}"#)
    #expect(refusalText("{}").hasPrefix(#"{"error":"the request has no \"code\""#))
  }

  @Test func `nesting has a limit`() throws {
    let levels = ScanRequest.nestingDepth
    func line(_ count: Int) -> String {
      let brackets = String(repeating: "[", count: count) + String(repeating: "]", count: count)
      return #"{"tag":"a","x":\#(brackets),"code":"690"}"#
    }
    #expect(try ScanRequest(line: line(levels - 1)).code == "690")
    #expect(refusal(line(levels))?.tag == "a")
    #expect(refusal(#"{"x":"# + String(repeating: "[", count: 100_000)) != nil)
  }

  @Test func `edits of a request never trap`() {
    var generator = SeededGenerator(for: "ScanRequestTests")
    let alphabet = Array(#"{}[]":,\u0 "# + "ä\u{0}\u{1D}19tagcode")
    for _ in 0..<5000 * depth {
      var line = Array(#"{"code":"690","tag":"a","x":[{"y":1}]}"#)
      for _ in 0..<Int.random(in: 1...6, using: &generator) where !line.isEmpty {
        let place = Int.random(in: 0..<line.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: line[place] = alphabet.randomElement(using: &generator)!
        case 1: line.insert(alphabet.randomElement(using: &generator)!, at: place)
        default: line.remove(at: place)
        }
      }
      let text = String(line)
      if let refusal = refusal(text) {
        let reported = String(decoding: refusal.line, as: UTF8.self)
        #expect(!reported.contains("\n"), "\(text)")
      }
    }
  }
}
