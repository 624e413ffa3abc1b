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
    #expect(log.map { $0.number("sequence") } == [6, 5])
    #expect(log.map { $0.text("mode") } == ["incremental", "full"])
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

/// What makes two catalogues the same, and what compaction leaves alone.
@Suite struct ContentCommandTests {
  @Test func `the same content has the same dump and digest, whatever its history`() throws {
    var target = Payload.products(30)
    for index in 1..<20 { target.relation("p0", "p\(index)", index) }
    target.cursor = "2026-05-05 05:05:05"
    let straight = try TestRoot(answers: [])
    _ = try straight.apply([straight.payload(target)])
    // On detours: other rows first, in another order, deleted, added again, compacted.
    let winding = try TestRoot(answers: [])
    var first = Payload.products(40, name: "old")
    first.relation("p3", "p4")
    first.products.reverse()
    var deletion = Payload(cursor: "2026-01-02")
    for index in 20..<40 { deletion.product("p\(index)", #""delFlag":1"#) }
    target.products.reverse()
    target.relations.reverse()
    let files = [
      try winding.payload(first, "1"), try winding.payload(deletion, "2"), try winding.payload(target, "3"),
    ]
    #expect(try winding.apply(files).code == 0)
    #expect(try winding.dump() == straight.dump())
    #expect(try winding.digest() == straight.digest())
    #expect(try winding.run("compact").code == 0)
    #expect(try winding.dump() == straight.dump())
    #expect(try winding.digest() == straight.digest())
  }

  @Test func `every field, relation and the cursor counts for the digest`() throws {
    let texts = [
      "barcode", "brand", "brandId", "category", "createBy", "createTime", "name", "orgId", "skuCode", "unit",
      "updateBy", "updateTime",
    ]
    let numbers = ["categoryId", "groupNum", "length", "tall", "volume", "weight", "wide"]
    let flags = ["isGreeProduct", "isGroupedProduct", "isSaleProduct", "isMarketingProduct"]
    var variants = texts.map { "\"\($0)\":\"t\"" } + numbers.map { "\"\($0)\":7" } + flags.map { "\"\($0)\":true" }
    variants += ["\"delFlag\":7", "\"name\":\"é\"", "\"name\":\"e\u{301}\"", "\"length\":-1.5", "\"x\":1"]
    var payloads = variants.map { fields in
      var payload = Payload()
      payload.product("a", fields)
      return payload
    }
    for relation in [
      #"{"productId":"a","subProductId":"b"}"#, #"{"productId":"a","subProductId":"b","id":"r"}"#,
      #"{"productId":"a","subProductId":"b","orgId":"o"}"#, #"{"productId":"a","subProductId":"b","groupNum":2}"#,
      #"{"productId":"a","subProductId":"c"}"#,
    ] {
      var payload = Payload(relations: [relation])
      payload.product("a", "\"x\":1")
      payloads.append(payload)
    }
    var later = Payload(cursor: "2026-01-01 00:00:01")
    later.product("a", "\"x\":1")
    payloads += [later, Payload()]
    let root = try TestRoot(answers: [])
    let verifier = try Conversation(["verify", "--batch"], root: root.path)
    var digests: [String] = []
    for payload in payloads {
      _ = try root.run("apply", "--full", root.payload(payload).path)
      try verifier.say(root.path + "\n")
      digests.append(try #require(verifier.line()))
    }
    #expect(digests.allSatisfy { $0.hasPrefix("ok ") })
    #expect(Set(digests).count == payloads.count)
  }

  @Test func `compaction makes a churned catalogue smaller and leaves its content alone`() throws {
    let root = try TestRoot(answers: [])
    var files: [URL] = []
    for round in 0..<6 {
      files.append(try root.payload(.products(900, name: "round \(round)"), "\(round).json"))
    }
    _ = try root.apply(files)
    let (dump, digest) = try (root.dump(), root.digest())
    let report = try root.run("compact", "--json").object()
    #expect(report.sortedKeys == ["bytesAfter", "bytesBefore"])
    #expect(try #require(report.number("bytesAfter")) <= #require(report.number("bytesBefore")))
    #expect(try root.dump() == dump)
    #expect(try root.digest() == digest)
    let statistics = try root.run("stat", "--json").object()
    #expect(statistics.number("deadRows") == 0)
    #expect(statistics.number("sequence") == 6)
    #expect(statistics.number("fileBytes") == report.number("bytesAfter"))
    let words = try root.run("compact")
    #expect(words.lines.first?.hasPrefix("before ") == true)
    #expect(words.lines.last?.hasPrefix("after ") == true)
    #expect(try root.run("apply", files[0].path).lines.first == "begin 7")
  }

  @Test func `a damaged catalogue is found, told and not answered from`() throws {
    let root = try TestRoot(Fixture.url("series/00-first-full.response.json"))
    let log = root.path + "/users/u/catalogue.log"
    let whole = try Data(contentsOf: URL(fileURLWithPath: log))
    let batch = try Conversation(["verify", "--batch"], root: root.path)
    try batch.say(root.path + "\n")
    #expect(batch.line()?.hasPrefix("ok ") == true)
    // Rotten bytes, a cut file, another file.
    var rotten = whole
    for index in stride(from: 20_000, to: rotten.count, by: 40_000) { rotten[index] ^= 0xFF }
    for contents in [rotten, whole.prefix(whole.count / 2), Data("hello".utf8), Data(repeating: 0, count: 9_000)] {
      try Data(contents).write(to: URL(fileURLWithPath: log))
      let run = try root.run("verify")
      #expect(run.code == 65, "\(run.text)")
      #expect(run.isOrderly && run.words.contains("catalogue.log"), "\(run.words)")
      #expect(!run.text.contains("digest"))
      try batch.say(root.path + "\n")
      #expect(batch.line()?.hasPrefix("err ") == true)
      for command in [["dump"], ["stat"], ["find", "a"], ["log"], ["users"], ["apply", "/dev/null"], ["compact"]] {
        let run = try root.run(command)
        #expect(run.isOrderly, "\(command): \(run.words)")
      }
    }
    try whole.write(to: URL(fileURLWithPath: log))
    try batch.say(root.path + "\n")
    #expect(batch.line()?.hasPrefix("ok ") == true)
  }
}
