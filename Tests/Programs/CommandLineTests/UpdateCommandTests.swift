import Foundation
import Testing

/// `apply` and `sync --from`: commits, sequence numbers, the threshold, and what is refused.
@Suite struct UpdateCommandTests {
  @Test func `each file is announced and committed, and sequences go on across generations`() throws {
    let root = try TestRoot(answers: [])
    var files: [URL] = []
    for index in 0..<4 {
      files.append(try root.payload(.products(index + 1, cursor: "2026-01-0\(index + 1) 00:00:00"), "\(index).json"))
    }
    #expect(
      try root.apply(Array(files.prefix(3))).lines == [
        "begin 1", "committed 1 full 2026-01-01 00:00:00", "begin 2", "committed 2 incremental 2026-01-02 00:00:00",
        "begin 3", "committed 3 incremental 2026-01-03 00:00:00",
      ])
    #expect(
      try root.run("apply", "--full", files[2].path, files[3].path).lines == [
        "begin 4", "committed 4 full 2026-01-03 00:00:00", "begin 5", "committed 5 full 2026-01-04 00:00:00",
      ])
    #expect(
      try root.run("apply", files[0].path).lines == ["begin 6", "committed 6 incremental 2026-01-01 00:00:00"])
    let log = try root.run("log", "--json").objects()
    #expect(log.map { $0.number("sequence") } == [6, 5, 4])
    #expect(log.map { $0.text("mode") } == ["incremental", "full", "full"])
  }

  @Test func `a refused file stops the series and keeps what was committed`() throws {
    let root = try TestRoot(answers: [])
    let good = try root.payload(.products(2), "good.json")
    let bad = try root.folder.file("bad.json", Data("{\"code\":500}".utf8))
    let late = try root.payload(.products(5, cursor: "2026-02-01 00:00:00"), "late.json")
    let run = try root.apply([good, bad, late])
    #expect(run.code == 65)
    #expect(run.words.contains("bad.json"))
    #expect(run.lines == ["begin 1", "committed 1 full 2026-01-01 00:00:00"])
    #expect(try root.run("stat", "--json").object().number("products") == 2)
    // The same where a file is missing.
    let missing = try root.apply([late, root.folder.url("missing.json"), good])
    #expect(missing.code == 66)
    #expect(missing.words.contains("missing.json"))
    #expect(try root.run("stat", "--json").object().number("sequence") == 1 || missing.lines.count == 2)
  }

  @Test(arguments: [999, 1000, 1001]) func `the threshold decides between increment and full update`(count: Int) throws
  {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(5, name: "old"))])
    let (before, cursor) = try (root.dump(), root.cursor())
    let file = try root.payload(.products(count, cursor: "2026-02-01 00:00:00"))
    let run = try root.run("sync", "--from", file.path, "--json")
    if count < 1000 {
      #expect(run.code == 0)
      #expect(try run.object().text("mode") == "incremental")
    } else {
      #expect(run.code == 65 && run.output.isEmpty)
      #expect(run.words.contains("--full"))
      #expect(try root.dump() == before)
      #expect(try root.cursor() == cursor)
      // Neither a threshold above it nor --full, nor apply, minds.
      #expect(try root.run("sync", "--from", file.path, "--threshold", "\(count + 1)").code == 0)
      #expect(try root.run("sync", "--from", file.path, "--full", "--json").object().text("mode") == "full")
      #expect(try root.run("apply", file.path).code == 0)
    }
  }

  @Test func `relations count for the threshold too`() throws {
    var payload = Payload.products(3)
    for index in 0..<10 { payload.relation("p0", "x\(index)") }
    let root = try TestRoot(answers: [])
    let file = try root.payload(payload)
    #expect(try root.run("sync", "--from", file.path, "--threshold", "2").code == 0)
    #expect(try root.run("sync", "--from", file.path, "--threshold", "10").code == 65)
    #expect(try root.run("sync", "--from", file.path, "--threshold", "11").code == 0)
  }

  @Test func `codes count for the threshold and the loss limit, and are reported`() throws {
    let root = try TestRoot(answers: [])
    var payload = Payload.products(1001)
    for index in 0..<1001 { payload.code("p\(index)", "1\(index)", "24", unit: "case") }
    payload.code("nobody", "x")
    let full = try root.run("sync", "--from", root.payload(payload).path, "--json")
    #expect(try full.object().object("codes").number("written") == 1002, "\(full.words)")
    let before = try root.digest()
    // A full answer without the list is refused, and so is one that keeps less than half of it.
    var few = payload
    few.codes = Array(payload.codes?.prefix(400) ?? [])
    for lost in [Payload.products(1001), few] {
      let file = try root.payload(lost, "lost").path
      for command in [["sync", "--full", "--from", file], ["apply", "--full", file]] {
        let run = try root.run(command)
        #expect(run.code == 65 && run.words.contains("codes of products"), "\(run.words)")
        #expect(run.words.contains("--accept-loss"), "\(run.words)")
        #expect(try root.digest() == before)
      }
    }
    var increment = Payload()
    increment.cursor = "2026-02-01 00:00:00"
    increment.product("p1")
    for index in 0..<10 { increment.code("p1", "2\(index)") }
    increment.code("p2", "3")
    let file = try root.payload(increment, "increment").path
    #expect(try root.run("sync", "--from", file, "--threshold", "11").code == 65)
    let run = try root.run("sync", "--from", file, "--threshold", "12")
    #expect(run.code == 0 && run.text.contains("10 codes written, 1 deleted, 1 ignored"), "\(run.text)")
    // An answer without the list says nothing about codes, and has no counts of them.
    let silent = try root.run("sync", "--from", root.payload(.products(2, cursor: "t"), "silent").path, "--json")
    #expect(try silent.object()["codes"] == nil)
    #expect(try root.dump().split(separator: UInt8(ascii: "\n")).count == 2012)
    let gone = try root.payload(.products(1001), "gone").path
    #expect(
      try root.run("sync", "--full", "--accept-loss", "--from", gone, "--json").object().object("codes")
        .number("deleted") == 1011)
    #expect(try root.dump().split(separator: UInt8(ascii: "\n")).count == 1001)
  }

  @Test func `an answer is read from standard input, wrapped or bare`() throws {
    let root = try TestRoot(answers: [])
    let answer = try Data(contentsOf: Fixture.url("series/00-first-full.response.json"))
    #expect(try root.run("sync", "--from", "-", input: answer).code == 0)
    #expect(try root.run("sync", "--from", "-", input: Payload.products(1).json).code == 0)
    #expect(try root.run("apply", "-", input: Payload.products(1).json).code == 0)
    #expect(try root.run("stat", "--json").object().number("products") == 2431)
    #expect(try root.run("sync", "--from", "-", input: Data()).code == 65)
  }

  @Test func `a full update that loses most of the catalogue needs consent`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(2000))])
    let before = try root.digest()
    let small = try root.payload(.products(10, cursor: "2026-03-01 00:00:00"))
    for command in [["sync", "--full", "--from", small.path], ["apply", "--full", small.path]] {
      let run = try root.run(command)
      #expect(run.code == 65)
      #expect(run.words.contains("--accept-loss"))
      #expect(try root.digest() == before)
    }
    #expect(try root.run("sync", "--full", "--accept-loss", "--from", small.path, "--json").code == 0)
    #expect(try root.run("stat", "--json").object().number("products") == 10)
    // Of a few products all may go.
    let none = try root.payload(.products(0, cursor: "2026-04-01 00:00:00"))
    #expect(try root.run("apply", "--full", none.path).code == 0)
    #expect(try root.dump().isEmpty)
    #expect(try root.cursor() == "2026-04-01 00:00:00")
  }

  @Test func `values of another type are counted, told and replaced by the default`() throws {
    let root = try TestRoot(answers: [])
    var payload = Payload()
    payload.product("a", #""barcode":7,"name":"n","weight":"x","groupNum":true"#)
    let run = try root.run("sync", "--from", root.payload(payload).path, "--json")
    #expect(try run.object().number("defaulted") == 3)
    #expect(run.words.contains("barcode") && run.words.contains("weight") && run.words.contains("groupNum"))
  }
}
