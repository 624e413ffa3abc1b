import Foundation
import Testing

/// Answers as a back-end engineer looks at them: `decode`, `sync --keep-answer`, and what an update says of bad rows.
@Suite(.timeLimit(.minutes(10))) struct AnswerCommandTests {
  private var payload: Payload {
    var payload = Payload.products(2, cursor: "t1")
    payload.relation("p0", "p1")
    return payload
  }

  // MARK: decode

  @Test func `decode shows envelope, sizes and payload, and touches no store`() throws {
    let root = try TestRoot()
    let answer = try Data(wrapping: payload)
    let run = try root.run("decode", root.folder.file("answer", answer).path)
    #expect(run.code == 0 && run.output == payload.json + Data("\n".utf8))
    for words in ["code        1000", "message     ok", "products    2", "relations   1", "updateTime  t1"] {
      #expect(run.words.contains(words), "\(run.words)")
    }
    #expect(run.words.contains("answer      \(answer.count) bytes"))
    let json = try root.run("decode", "-", "--json", input: answer)
    let object = try json.object()
    #expect(
      object.sortedKeys == [
        "bytes", "code", "defaulted", "message", "payload", "problem", "products", "relations", "updateTime",
      ])
    #expect(object.number("code") == 1000 && object.text("message") == "ok" && object["problem"] is NSNull)
    #expect(object.object("bytes").number("payload") == payload.json.count)
    #expect(object.object("bytes").number("answer") == answer.count)
    #expect(object.object("payload").objects("appProductVOList").map { $0.text("id") } == ["p0", "p1"])
    #expect(json.words.isEmpty && !root.exists)
    #expect(try root.run("decode", root.folder.url("none").path).code == 66)
  }

  @Test func `decode counts the codes of a payload that has a list of them`() throws {
    let root = try TestRoot()
    var payload = payload
    payload.codes = []
    let empty = try root.run("decode", "-", "--json", input: try Data(wrapping: payload))
    #expect(try empty.object().number("codes") == 0)
    payload.code("p0", "111", "24")
    payload.code("p1", "112", "\"six\"")
    let run = try root.run("decode", "-", input: try Data(wrapping: payload))
    #expect(run.output == payload.json + Data("\n".utf8))
    #expect(run.words.contains("codes       2") && run.words.contains("code.quantity 1 ×"), "\(run.words)")
  }

  @Test func `decode shows what it can of an answer that is refused, and why`() throws {
    let root = try TestRoot()
    let refused = try root.run("decode", "-", input: Data(#"{"message":"no such site","code":4004}"#.utf8))
    #expect(refused.code == 65 && refused.words.contains("message     no such site"), "\(refused.words)")
    #expect(refused.words.contains("code        4004") && refused.output.isEmpty)
    // A payload that lacks a key is shown whole.
    let bad = Data(#"{"appProductVOList":[{"id":"a"}],"updateTime":"t"}"#.utf8)
    let run = try root.run("decode", "-", input: bad)
    #expect(run.code == 65 && run.output == bad + Data("\n".utf8) && run.words.contains("appProductRelVOList"))
    let json = try root.run("decode", "-", "--json", input: bad)
    #expect(try json.code == 65 && json.object()["payload"] is NSNull)
    #expect(try #require(json.object().text("problem")).contains("appProductRelVOList"))
    // Half an answer.
    let half = try Data(wrapping: payload)
    #expect(try root.run("decode", "-", input: half.prefix(half.count / 2)).code == 65)
    #expect(try root.run("decode", "-", input: Data("<html>".utf8)).code == 65)
  }

  @Test func `a bare payload on several lines is decoded as one`() throws {
    let root = try TestRoot()
    let bare = Data("{\n\"appProductVOList\":[],\r\n\"appProductRelVOList\":[],\"updateTime\":\"t\"\n}\n".utf8)
    let object = try root.run("decode", "-", "--json", input: bare).object()
    #expect(object["code"] is NSNull && object.object("payload").text("updateTime") == "t")
  }

  // MARK: --keep-answer

  @Test func `a sync keeps the server's answer, also one that is refused`() throws {
    let root = try TestRoot(answers: [])
    let good = try Data(wrapping: payload)
    let bad = try Data(wrapping: payload).dropLast(10) + Data(String(repeating: "?", count: 100_000).utf8)
    let server = try HTTPServer([.init(body: good), .init(body: bad)])
    let kept = root.folder.url("kept").path
    let run = try root.run("sync", "--url", server.url, "--keep-answer", kept)
    #expect(run.code == 0 && run.words.contains("decode"), "\(run.words)")
    #expect(try Data(contentsOf: root.folder.url("kept")) == good)
    #expect(try root.folder.modes()["kept"] == 0o600)
    #expect(try root.run("sync", "--url", server.url, "--keep-answer", kept).code == 65)
    #expect(try Data(contentsOf: root.folder.url("kept")) == bad)
    #expect(try root.run("sync", "--url", server.url, "--keep-answer", "/nonexistent/kept").code == 73)
    #expect(try root.run("sync", "--from", kept, "--keep-answer", kept).code == 64)
  }

  // MARK: Bad rows

  @Test(arguments: ["sync", "apply"]) func `a row that exceeds a limit is skipped and told`(command: String) throws {
    let root = try TestRoot(answers: [])
    var payload = Payload.products(3)
    payload.product("huge", #""barcode":"\#(String(repeating: "7", count: 100_000))""#)
    let file = try root.payload(payload).path
    let run = try root.run(command == "sync" ? ["sync", "--from", file, "--json"] : ["apply", file])
    #expect(run.code == 0 && run.words.contains("\"huge\"") && run.words.contains("65535"), "\(run.words)")
    #expect(try root.run("stat", "--json").object().number("products") == 3)
    if command == "sync" {
      #expect(try run.object().number("skipped") == 1)
      #expect(try run.object().objects("skippedRows").first?.text("id") == "huge")
    }
    for number in 0..<11 {
      payload.product("more \(number)", #""barcode":"\#(String(repeating: "7", count: 100_000))""#)
    }
    let refused = try root.run(command, command == "sync" ? "--from" : "--full", root.payload(payload).path)
    #expect(refused.code == 65 && refused.words.contains("exceed a limit"), "\(refused.words)")
    #expect(try root.run("stat", "--json").object().number("sequence") == 1)
  }

  @Test(arguments: ["sync", "apply"]) func `an answer whose products collapse needs consent`(command: String) throws {
    let root = try TestRoot(answers: [])
    var payload = Payload()
    for number in 0..<200 { payload.product("", #""barcode":"c\#(number)""#) }
    let arguments = [command] + (command == "sync" ? ["--from"] : []) + [try root.payload(payload).path]
    let run = try root.run(arguments)
    #expect(run.code == 65 && run.words.contains("--accept-loss") && run.words.contains("no id"), "\(run.words)")
    #expect(try root.dump().isEmpty)
    let taken = try root.run(arguments + ["--accept-loss"])
    #expect(taken.code == 0 && taken.words.contains("199 products"), "\(taken.words)")
  }

  @Test func `an increment that deletes a component lists the sets that it breaks`() throws {
    let root = try TestRoot(answers: [])
    var full = Payload.products(3)
    full.relation("p0", "p1")
    _ = try root.apply([root.payload(full)])
    var increment = Payload()
    increment.product("p1", #""delFlag":1"#)
    let run = try root.run("sync", "--from", root.payload(increment).path, "--json")
    #expect(run.words.contains("set p0 lacks p1"), "\(run.words)")
    let sets = try run.object().objects("brokenSets")
    #expect(sets.map { $0.text("id") } == ["p0"] && sets.first?["missing"] as? [String] == ["p1"])
  }
}
