import Foundation
import Testing

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
    #expect(report.sortedKeys == ["bytesAfter", "bytesBefore", "bytesDropped", "bytesFree", "bytesNeeded"])
    let needed = try #require(report.number("bytesNeeded"))
    #expect(try needed >= #require(report.number("bytesAfter")))
    #expect(try needed <= #require(report.number("bytesFree")))
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
