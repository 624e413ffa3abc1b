import Foundation
import Testing

/// `diff` and `rollback`.
@Suite struct HistoryCommandTests {
  /// Commit 1: p0, p1, p2 and a relation. Commit 2: p1 renamed, p2 deleted, p9 added.
  private func root() throws -> TestRoot {
    var first = Payload.products(3)
    first.relation("p0", "p1", 2)
    var second = Payload()
    second.cursor = "2026-02-02 00:00:00"
    second.product("p1", #""barcode":"c1","name":"renamed","weight":0.5"#)
    second.product("p2", #""delFlag":1"#)
    second.product("p9", #""barcode":"c9","name":"new""#)
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(first, "1.json"), root.payload(second, "2.json")])
    return root
  }

  @Test func `a rollback makes the earlier state current, with its cursor, and can be taken back`() throws {
    let root = try root()
    let (dump, digest) = try (root.run("dump", "--at", "1").output, root.digest())
    let run = try root.run("rollback", "1", "--json")
    let report = try run.object()
    #expect(run.code == 0 && report.number("sequence") == 3 && report.text("mode") == "rollback")
    #expect(report.text("cursor") == "2026-01-01 00:00:00")
    #expect(try root.dump() == dump)
    #expect(try root.cursor() == "2026-01-01 00:00:00")
    #expect(try root.run("log", "--json").objects().map { $0.text("mode") } == ["rollback", "incremental", "full"])
    #expect(try root.run("rollback", "2").code == 0)
    #expect(try root.digest() == digest)
  }

  @Test func `a commit that is not there is a plain no`() throws {
    let root = try root()
    let digest = try root.digest()
    for arguments in [["rollback", "7"], ["rollback", "0"], ["diff", "1", "7"], ["diff", "7", "1"]] {
      let run = try root.run(arguments)
      #expect(run.code == 1 && run.output.isEmpty && run.words.contains("commit"), "\(arguments)")
    }
    #expect(try root.run("rollback", "one").code == 64)
    #expect(try root.digest() == digest)
    // Nobody's catalogue is made on the way.
    let empty = try TestRoot(answers: [])
    #expect(try empty.run("rollback", "1").code == 1)
    #expect(try empty.run("users", "--json").objects().first?.number("bytes") == 0)
  }

  @Test func `a difference is a line for each row, and field by field for people`() throws {
    let root = try root()
    let run = try root.run("diff", "1", "2", "--json")
    let lines = try run.objects()
    #expect(run.code == 0 && lines.map { $0.text("id") } == ["p1", "p2", "p9"])
    #expect(lines.map { $0.text("change") } == ["changed", "removed", "added"])
    #expect(lines[0].object("before").text("name") == "product 1")
    #expect(lines[0].object("after").sortedKeys == Contract.productKeys)
    #expect(lines[1]["after"] is NSNull && lines[2]["before"] is NSNull)
    let back = try root.run("diff", "2", "1", "--json").objects()
    #expect(back.map { $0.text("change") } == ["changed", "added", "removed"])
    let text = try root.run("diff", "1", "2")
    #expect(text.text.contains("name: product 1 → renamed") && text.text.contains("weight: 0.0 → 0.5"))
    let same = try root.run("diff", "2", "2")
    #expect(same.code == 0 && same.output.isEmpty && same.words.contains("no difference"))
  }
}
