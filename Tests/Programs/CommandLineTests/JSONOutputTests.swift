import Foundation
import Testing

/// What programs read: documents with just the keys of the contract, and nothing else on standard output.
@Suite struct JSONOutputTests {
  /// Three products, one set of two of them and a missing one; then one more product.
  private func filled() throws -> TestRoot {
    let root = try TestRoot(answers: [])
    var payload = Payload.products(3)
    payload.relation("p0", "p1", 2)
    payload.relation("p0", "gone")
    payload.product("twin", #""barcode":"c1","name":"other “名” \u2028 \\ /"#.appending("\""))
    var next = Payload(cursor: "2026-01-02 00:00:00")
    next.product("p9", #""name":"Großes Produkt","barcode":"c9","weight":0.1,"length":1e300,"volume":-0.5"#)
    let run = try root.apply([root.payload(payload, "1"), root.payload(next, "2")])
    try #require(run.code == 0, "\(run.words)")
    return root
  }

  @Test func `a synchronisation reports what it did`() throws {
    let root = try filled()
    let file = try root.payload(.products(2, cursor: "2026-01-03 00:00:00"))
    let report = try root.run("sync", "--from", file.path, "--json").object()
    #expect(
      report.sortedKeys == [
        "bytesIn", "cursor", "defaulted", "generation", "mode", "products", "relations", "seconds", "sequence",
      ])
    #expect(report.object("products").sortedKeys == ["deleted", "upserted"])
    #expect(report.object("relations").sortedKeys == ["deleted", "ignored", "written"])
    #expect(report.text("mode") == "incremental")
    #expect(report.number("sequence") == 3 && report.number("generation") == 1)
    #expect(report.object("products").number("upserted") == 2)
    #expect(report.object("relations").number("deleted") == 2)
    #expect(report.number("bytesIn") == Payload.products(2, cursor: "2026-01-03 00:00:00").json.count)
    #expect(report.text("cursor") == "2026-01-03 00:00:00")
    // Several files are several lines.
    #expect(try root.run("sync", "--json", "--from", file.path, "--from", file.path).objects().count == 2)
  }

  @Test func `progress goes to standard error, and only where it is asked for`() throws {
    let root = try filled()
    let file = root.folder.path + "/1"
    #expect(try root.run("sync", "--json", "--from", file).words.isEmpty)
    let run = try root.run("sync", "--json", "--progress", "--from", file)
    #expect(!run.words.isEmpty)
    #expect(throws: Never.self) { try run.object() }
  }

  @Test func `statistics have their keys`() throws {
    let root = try filled()
    let keys = [
      "compactionDue", "cursor", "danglingComponents", "deadBytes", "deadRows", "deletedProducts", "fileBytes",
      "files", "generation", "indexes", "lastCompaction", "liveBytes", "products", "reclaimableBytes", "relations",
      "sequence", "sets", "tailBytes",
      "tailRows",
    ]
    let statistics = try root.run("stat", "--json").object()
    #expect(statistics.sortedKeys == keys)
    #expect(statistics.number("products") == 5 && statistics.number("relations") == 2)
    #expect(statistics.number("sets") == 1 && statistics.number("danglingComponents") == 1)
    let size = try FileManager.default.attributesOfItem(atPath: root.path + "/users/u/catalogue.log")[.size]
    #expect(statistics.number("fileBytes") == (size as? NSNumber)?.intValue)
    let index = try #require(statistics.objects("indexes").first)
    #expect(
      index.sortedKeys == ["blocks", "bytes", "entries", "keyLengths", "kind", "load", "longestProbe", "name"])
    #expect(index.text("kind") == "hash")
    let ordered = statistics.objects("indexes").filter { $0.text("kind") == "ordered" }
    #expect(ordered.compactMap { $0.text("name") }.contains { $0.hasSuffix("search") } && ordered.count == 7)
    // No product has an SKU.
    let filled = ordered.filter { $0.number("entries") ?? 0 > 0 }
    #expect(ordered.allSatisfy { $0.sortedKeys == index.sortedKeys } && filled.count == 6)
    #expect(try root.run("stat", "--json", "--user", "nobody").object().sortedKeys == keys)
  }

  @Test func `commits are listed newest first`() throws {
    let log = try filled().run("log", "--json").objects()
    #expect(log.map { $0.number("sequence") } == [2, 1])
    for entry in log {
      #expect(
        entry.sortedKeys == [
          "bytes", "cursor", "defaulted", "generation", "mode", "previous", "products", "relations", "sequence",
          "time",
        ])
    }
    #expect(log[0].object("products").number("upserted") == 1)
    // What an increment deleted is known, what a full update left out is not.
    for rows in ["products", "relations"] {
      #expect(log[0].object(rows).number("deleted") != nil)
      #expect(log[1].object(rows)["deleted"] is NSNull)
    }
    #expect(log[0].text("cursor") == "2026-01-02 00:00:00")
    #expect(log[0].text("time")?.hasSuffix("Z") == true)
  }

  @Test func `products have all their fields`() throws {
    let root = try filled()
    let twins = try root.run("get", "--barcode", "c1", "--json").objects()
    #expect(twins.map { $0.text("id") } == ["p1", "twin"])
    #expect(twins.allSatisfy { $0.sortedKeys == Contract.productKeys })
    let one = try root.run("get", "--id", "p9", "--json")
    #expect(one.text.contains(#""weight":0.1,"#) && one.text.contains(#""volume":-0.5,"#))
    #expect(try one.object()["length"] as? Double == 1e300)
    #expect(try root.run("get", "--id", "twin", "--json").object().text("name") == "other “名” \u{2028} \\ /")
    let none = try root.run("get", "--id", "x", "--json")
    #expect(none.output.isEmpty && none.code == 1)
  }

  @Test func `components are expanded, missing ones are null`() throws {
    let root = try filled()
    let set = try root.run("components", "p0", "--json").object()
    #expect(set.sortedKeys == ["components", "productId"])
    let components = set.objects("components")
    #expect(Set(components.map { $0.text("subProductId") }) == ["p1", "gone"])
    for component in components {
      #expect(component.sortedKeys == ["groupNum", "product", "relationId", "subProductId"])
      let isMissing = component.text("subProductId") == "gone"
      #expect((component["product"] is NSNull) == isMissing)
      #expect(component.object("product").sortedKeys == (isMissing ? [] : Contract.productKeys))
      #expect(component.number("groupNum") == (isMissing ? 1 : 2))
    }
    // A product that is no set has no components.
    #expect(try root.run("components", "p1", "--json").object().objects("components").isEmpty)
    let sets = try root.run("sets-with", "p1", "--json").object()
    #expect(sets["sets"] as? [String] == ["p0"])
    #expect(try root.run("sets-with", "gone", "--json").object()["sets"] as? [String] == ["p0"])
  }

  @Test func `find looks into a field and stops at the limit`() throws {
    let root = try filled()
    #expect(try root.run("find", "product", "--json").objects().map { $0.text("id") } == ["p0", "p1", "p2"])
    #expect(try root.run("find", "product", "--json", "--limit", "2").objects().count == 2)
    #expect(
      try root.run("find", "c1", "--field", "barcode", "--json").objects().map { $0.text("id") } == ["p1", "twin"])
    for command in [
      ["find", "PRODUKT"], ["find", "PRODUKT", "-i"], ["find", "GROß"], ["find", "--case-sensitive", "Gro"],
    ] {
      #expect(try root.run(command + ["--json"]).objects().map { $0.text("id") } == ["p9"], "\(command)")
    }
    #expect(try root.run("find", "x", "-i", "--case-sensitive").code == 64)
    let none = try root.run("find", "PRODUKT", "--case-sensitive", "--json")
    #expect(none.code == 1 && none.output.isEmpty)
  }

  @Test func `a dump has every row in its order, and earlier states`() throws {
    let root = try filled()
    let rows = try root.run("dump").objects()
    #expect(rows.map { $0.text("type") } == Array(repeating: "product", count: 5) + ["relation", "relation"])
    #expect(rows.prefix(5).map { $0.text("id") } == ["p0", "p1", "p2", "p9", "twin"])
    #expect(rows.suffix(2).map { $0.text("subProductId") } == ["gone", "p1"])
    for row in rows {
      let keys = row.text("type") == "product" ? Contract.productKeys : Contract.relationKeys
      #expect(row.sortedKeys == (keys + ["type"]).sorted())
    }
    let whole = try root.dump()
    #expect(try root.run("dump", "--products").output + root.run("dump", "--relations").output == whole)
    #expect(try root.run("dump", "--products", "--relations").output == whole)
    #expect(try root.run("dump", "--at", "2").output == whole)
    let earlier = try root.run("dump", "--at", "1", "--products").objects()
    #expect(earlier.map { $0.text("id") } == ["p0", "p1", "p2", "twin"])
    for missing in ["0", "3", "18446744073709551615"] {
      let run = try root.run("dump", "--at", missing)
      #expect(run.code == 1 && run.output.isEmpty, "\(missing): \(run.words)")
    }
  }

  @Test func `a verification reports its digest and findings`() throws {
    let root = try filled()
    let report = try root.run("verify", "--json").object()
    #expect(report.sortedKeys == ["digest", "findings"])
    #expect(try root.digest() == "digest \(report.text("digest") ?? "")")
    let log = root.path + "/users/u/catalogue.log"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: log))
    bytes[bytes.count / 3] ^= 1
    try bytes.write(to: URL(fileURLWithPath: log))
    let damaged = try root.run("verify", "--json")
    #expect(damaged.code == 65)
    let findings = try damaged.object().objects("findings")
    #expect(try damaged.object()["digest"] is NSNull)
    #expect(!findings.isEmpty && findings.allSatisfy { $0.sortedKeys == ["file", "lost", "offset", "what"] })
  }
}
