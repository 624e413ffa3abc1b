import HTTPServer
import RandomTestSupport
import Testing

@testable import DaemonHTTP

@Suite struct JSONBodyTests {
  func members(_ text: String) throws -> BodyMembers { try JSONBody(Array(text.utf8)).members() }

  /// The words with which something is refused.
  func words(_ body: () throws -> Void) -> String? {
    do { try body() } catch let error as ErrorResponse { return error.message } catch {}
    return nil
  }

  @Test func `members are read by type`() throws {
    let body = try members(
      #"{"a":true,"b":"x\u00e9","c":["y",""],"d":[{"e":"z"}],"f":null,"g":1,"unknown":{"deep":[[1.5]]}}"#)
    #expect(try body.bool("a") == true)
    #expect(try body.text("b") == "xé")
    #expect(try body.texts("c") == ["y", ""])
    #expect(try body.objects("d")?.map { try $0.text("e") } == ["z"])
    #expect(try body.text("f") == nil)
    #expect(try body.text("absent") == nil)
    #expect(words { _ = try body.text("g") } == "g: a text")
    #expect(words { _ = try body.texts("b") } == "b: an array of text")
    #expect(words { _ = try body.objects("c") } == "c: an array of objects")
    #expect(words { _ = try body.texts("d") } == "d: an array of text")
    #expect(words { _ = try body.bool("b") } == "b: true or false")
  }

  @Test(arguments: [
    "{", "{\"a\"}", "{\"a\":1,}", "{'a':1}", "{\"a\":1} x", "nul", "{\"a\":\"\u{1}\"}", "[1", "\u{FEFF}{}",
    "{\"a\":01}",
    " ", "{\"a\":\"\\x\"}",
  ])
  func `what is no JSON is refused and says where`(text: String) throws {
    #expect(try #require(words { _ = try members(text) }).hasPrefix("the body is no JSON: "))
  }

  @Test(arguments: [
    (#"{"code":"1","code":"2"}"#, "code"), (#"{"code":"1","code":"1"}"#, "code"),
    (#"{"x":[{"a":1,"b":2,"a":null}]}"#, "a"), (#"{"\u001b":1,"\u001b":2}"#, "\u{1B}"),
    (#"{"code":null,"\u0063ode":"1"}"#, "code"), (#"{"a":{"":1,"":2}}"#, ""), (#"{"a":1,"a":2,"b":1,"b":1}"#, "a"),
  ])
  func `a name that an object has twice is refused`(text: String, name: String) {
    let message = words { _ = try members(text) }
    #expect(message?.hasPrefix("the body has \(name.debugDescription) twice in one object") == true, "\(message ?? "")")
  }

  @Test(arguments: [
    #"{"a":{"b":1},"b":{"b":2}}"#, #"{"a":[{"b":1},{"b":1}]}"#, #"{"A":1,"a":1}"#, "{\"\u{E9}\":1,\"e\u{301}\":2}",
  ])
  func `names of different objects, and different names, are no repetition`(text: String) {
    #expect(words { _ = try members(text) } == nil)
  }

  @Test(arguments: ["[]", "1", "\"a\"", "null", "true"])
  func `a body is an object`(text: String) {
    #expect(words { _ = try members(text) } == "the body: a JSON object")
  }

  @Test func `nesting is bounded`() throws {
    func nested(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    _ = try JSONBody(nested(JSONBody.nestingLimit))
    #expect(throws: ErrorResponse.self) { try JSONBody(nested(JSONBody.nestingLimit + 1)) }
    #expect(throws: ErrorResponse.self) { try JSONBody(nested(100_000)) }
  }

  @Test func `values are counted, and one too many is refused whatever it is`() throws {
    let limit = JSONBody.valueLimit
    for (value, count) in [("0", 1), ("\"\"", 1), ("[]", 1), ("{}", 1), ("{\"a\":0}", 2), ("[[null]]", 3)] {
      func array(_ count: Int) -> String {
        "{\"x\":[" + Array(repeating: value, count: count).joined(separator: ",") + "]}"
      }
      // The object and the array around them are two.
      let most = (limit - 2) / count
      _ = try members(array(most))
      #expect(
        try #require(words { _ = try members(array(most + 1)) }).contains("more than \(limit) values"), "\(value)")
      // Nobody looks at what follows.
      #expect(words { _ = try members(array(most + 1) + "x") } == words { _ = try members(array(most + 1)) })
    }
  }

  @Test func `bytes that are no UTF-8 are refused`() {
    #expect(throws: ErrorResponse.self) { try JSONBody([UInt8(ascii: "\""), 0xFF, UInt8(ascii: "\"")]) }
  }

  @Test func `any bytes are read or refused`() {
    var random = SeededGenerator(for: "bodies")
    let alphabet = Array("{}[]\",:0123456789.eE+-truefalsn\\u \u{1}é".utf8) + [0xFF, 0xC3]
    for _ in 0..<2000 * depth {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
      }
      _ = try? JSONBody(bytes)
    }
  }

  // MARK: Scans

  func readings(_ text: String) throws -> (codes: [String], isList: Bool) {
    let (readings, isList) = try DaemonAPI.readings(members(text))
    return (readings.map { "\($0.code)/\($0.input)/\($0.tag ?? "-")" }, isList)
  }

  @Test(arguments: [
    (#"{"code":"1"}"#, ["1/http/-"], false), (#"{"code":"1","input":"a","tag":"t"}"#, ["1/a/t"], false),
    (#"{"codes":["1","2"]}"#, ["1/http/-", "2/http/-"], true),
    (#"{"codes":["1"],"input":"a","tag":"t"}"#, ["1/a/t"], true),
    (#"{"scans":[{"code":"1","input":"b"},{"code":"2","tag":"u"}],"input":"a","tag":"t"}"#, ["1/b/t", "2/a/u"], true),
    (#"{"code":"1","codes":null,"x":[]}"#, ["1/http/-"], false),
  ])
  func `scans are one or many`(text: String, codes: [String], isList: Bool) throws {
    let found = try readings(text)
    #expect(found.codes == codes)
    #expect(found.isList == isList)
  }

  @Test(arguments: [
    "{}", #"{"code":1}"#, #"{"code":""}"#, #"{"codes":[]}"#, #"{"codes":[1]}"#, #"{"codes":"1"}"#, #"{"scans":[]}"#,
    #"{"scans":["1"]}"#, #"{"scans":[{}]}"#, #"{"code":"1","codes":["2"]}"#, #"{"code":"1","input":""}"#,
    #"{"code":"1","input":"a b"}"#, #"{"code":"1","input":"é"}"#, #"{"code":"1","tag":1}"#,
  ])
  func `what is no scan is refused`(text: String) { #expect(words { _ = try readings(text) } != nil) }

  @Test func `limits hold, and are refused one beyond`() throws {
    func codes(_ count: Int) -> String { "[" + Array(repeating: "\"1\"", count: count).joined(separator: ",") + "]" }
    #expect(try readings("{\"codes\":\(codes(1000))}").codes.count == 1000)
    #expect(words { _ = try readings("{\"codes\":\(codes(1001))}") } != nil)
    let long = String(repeating: "1", count: 4096)
    _ = try readings(#"{"code":"\#(long)","tag":"\#(long)"}"#)
    #expect(words { _ = try readings(#"{"code":"\#(long)1"}"#) } != nil)
    #expect(words { _ = try readings(#"{"code":"1","tag":"\#(long)1"}"#) } != nil)
    _ = try readings(#"{"code":"1","input":"\#(long.prefix(64))"}"#)
    #expect(words { _ = try readings(#"{"code":"1","input":"\#(long.prefix(65))"}"#) } != nil)
  }
}
