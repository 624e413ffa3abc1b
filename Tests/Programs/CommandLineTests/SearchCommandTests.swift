import Foundation
import Testing

/// `search`, `find` with and without its index, and the settings of indexes.
@Suite(.timeLimit(.minutes(10))) struct SearchCommandTests {
  private func root() throws -> TestRoot {
    var payload = Payload()
    payload.product("1", #""barcode":"6901234567892","name":"Cordless Drill 18V","brand":"Bosch","category":"Tools""#)
    payload.product("2", #""barcode":"4006381333931","name":"Drill bit set","brand":"Makita","category":"Tools""#)
    payload.product("3", #""barcode":"KFR-35GW","name":"格力挂机","brand":"GREE","skuCode":"KFR-35GW/N1","weight":12"#)
    payload.product("4", #""barcode":"c4","name":"Hammer drill","isGroupedProduct":true,"category":"Sets""#)
    payload.product("5", #""barcode":"c5","name":"Drill of old","delFlag":1"#)
    let root = try TestRoot(answers: [])
    #expect(try root.apply([root.payload(payload)]).code == 0)
    return root
  }

  private func ids(_ run: ProgramRun) throws -> [String] {
    try run.objects().compactMap { $0.object("product").text("id") }
  }

  @Test func `results are printed best first, with what matched and the whole product`() throws {
    let root = try root()
    let run = try root.run("search", "drill", "--json")
    #expect(run.code == 0 && run.words.isEmpty)
    #expect(try Set(ids(run)) == ["1", "2", "4"])
    let results = try run.objects()
    let scores = results.compactMap { ($0["score"] as? NSNumber)?.doubleValue }
    #expect(scores.count == 3 && scores == scores.sorted(by: >) && scores.allSatisfy { $0 > 0 })
    for (result, line) in zip(results, run.lines) {
      #expect(result.sortedKeys == ["matched", "product", "score"])
      let product = result.object("product")
      #expect(product.count == 25)
      let id = product.text("id") ?? ""
      let whole = try #require(root.run("get", "--id", id, "--json").lines.first)
      #expect(line.hasSuffix(#""product":"# + whole + "}"), "\(line)")
      let name = Array((product.text("name") ?? "").utf16)
      let matched = try #require(result.objects("matched").first)
      #expect(matched.text("field") == "name")
      let ranges = try #require(matched["ranges"] as? [[Int]])
      let parts = ranges.map { String(decoding: name[$0[0]..<$0[1]], as: UTF16.self).lowercased() }
      #expect(parts == ["drill"])
    }
  }

  @Test(arguments: [
    (["cordless", "drill"], ["1"]), (["DRILL", "bosch"], ["1"]), (["6901234567892"], ["1"]), (["格力"], ["3"]),
    (["glgj"], ["3"]), (["kfr35gw"], ["3"]), (["cordlss"], ["1"]), (["drill", "--brand", "makita"], ["2"]),
    (["drill", "--set"], ["4"]), (["drill", "--category", "SETS"], ["4"]),
    (["kfr", "--where", "weight > 10"], ["3"]), (["kfr", "--where", "weight > 20"], []), (["of old"], []),
    (["---"], []), (["drill", "--category", "tools", "--brand", "bosch"], ["1"]),
  ])
  func `words, typing mistakes, readings and filters`(arguments: [String], expected: [String]) throws {
    let arguments = arguments[0].hasPrefix("-") ? ["--"] + arguments : arguments
    let run = try root().run(["search", "--json"] + arguments)
    #expect(try ids(run) == expected && run.code == (expected.isEmpty ? 1 : 0), "\(run.text) \(run.words)")
  }

  @Test func `the limit has no maximum, and is 20 without one`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(60))])
    for (options, count) in [([], 20), (["--limit", "5"], 5), (["--limit", "50"], 50), (["--limit", "9000000"], 60)] {
      #expect(try ids(root.run(["search", "product", "--json"] + options)).count == count)
    }
    #expect(try root.run("search", "product").lines.count == 21)
  }

  @Test func `people get a table, and a sentence where nothing is found`() throws {
    let root = try root()
    let run = try root.run("search", "makita", "drill")
    #expect(run.lines.count == 2 && run.lines[0].hasPrefix("ID") && run.lines[1].contains("Drill bit set"))
    #expect(!run.text.contains("\u{1}") && !run.text.contains("\u{1B}"))
    // The SKU is shown where it matches.
    #expect(try root.run("search", "n1").lines.first?.contains("SKU") == true)
    let none = try root.run("search", "zzzzzz")
    #expect(none.code == 1 && none.output.isEmpty && none.words.contains("no product matches"))
    let nobody = try root.run("search", "x", "--user", "nobody")
    #expect(nobody.code == 1 && nobody.output.isEmpty)
  }

  @Test func `a result that rests on a corrected mistake is marked, and no other one`() throws {
    let root = try root()
    let run = try root.run("search", "Cordlss", "drill", "--json")
    let result = try #require(run.objects().first)
    #expect(run.code == 0 && result.sortedKeys == ["approximate", "matched", "meant", "product", "score"])
    #expect(result["approximate"] as? Bool == true && result.text("meant") == "Cordless drill")
    let table = try root.run("search", "Cordlss", "drill")
    #expect(table.lines[0].contains("NOTE") && table.lines[1].contains("meant: Cordless drill"), "\(table.text)")
    for words in [["cordless", "drill"], ["drills"], ["kfr35gw"], ["glgj"]] {
      let results = try root.run(["search", "--json"] + words).objects()
      #expect(!results.isEmpty && results.allSatisfy { $0["approximate"] == nil && $0["meant"] == nil }, "\(words)")
      #expect(try !root.run(["search"] + words).text.contains("NOTE"))
    }
    let answer = try root.run("search", input: Data("cordlss".utf8)).objects().first
    #expect(answer?.objects("results").first?["approximate"] as? Bool == true)
  }

  @Test func `words that are long, many, or no text are answered without a trap`() throws {
    let root = try root()
    for words in [
      Array(repeating: "and", count: 300), ["drill and " + String(repeating: "and & ", count: 5000)],
      [String(repeating: "ue", count: 50_000)], ["🛠️", "&", "🧀"], ["格力", "and", "挂机"], ["&"], ["y", "e", "y"],
      ["\u{308}\u{308}", "u\u{308}\u{308}"],
    ] {
      let run = try root.run(["search", "--json"] + words)
      #expect(run.code == 0 || run.code == 1, "\(words.first?.prefix(20) ?? ""): \(run.words)")
    }
    #expect(try ids(root.run("search", "格力", "and", "挂机", "--json")) == ["3"])
    #expect(try ids(root.run("search", "drill & bosch", "--json")) == ["1"])
    let bytes = try root.run("search", input: Data([0xFF, 0xC3, 0x20, 0xC3, 0xBC, 0xE9, 0x0A]))
    #expect(bytes.code == 1 || bytes.code == 65 || bytes.code == 0, "\(bytes.words)")
  }

  @Test func `a terminal gets the parts that match in bold`() throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/script") else { return }
    let shell = #"unset NO_COLOR; exec /usr/bin/script -qec "$*" /dev/null </dev/null"#
    let run = try root().run(["search", "makita", "drill"], shell: shell)
    #expect(run.text.contains("\u{1B}[1mDrill\u{1B}[0m bit set"), "\(run.text.debugDescription) \(run.words)")
    #expect(run.text.contains("\u{1B}[1mMakita\u{1B}[0m") && !run.text.contains("\u{1}"))
  }

  @Test func `queries on standard input are answered line by line, at once`() throws {
    let root = try root()
    let conversation = try Conversation(["search", "--limit", "1"], root: root.path)
    for (query, ids) in [("cordless drill", ["1"]), ("zzzzzz", []), ("格力", ["3"]), ("", [])] {
      try conversation.say(query + "\n")
      let line = try #require(conversation.line())
      let answer = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      #expect(answer.sortedKeys == ["query", "results"] && answer.text("query") == query)
      #expect(answer.objects("results").compactMap { $0.object("product").text("id") } == ids, "\(query)")
      #expect(answer.objects("results").allSatisfy { $0.sortedKeys == ["matched", "product", "score"] })
    }
    try conversation.hangUp()
    #expect(conversation.end() == 1)
    #expect(try root.run("search", input: Data("drill\nbosch".utf8)).code == 0)
    // Lines that end with CR and LF, an empty line, and one without an end.
    let answers = try root.run("search", input: Data("drill\r\n\r\nbosch\r".utf8))
    #expect(try answers.objects().map { $0.text("query") } == ["drill", "", "bosch"])
  }

  @Test func `without the index a search says what to do, and compact writes or drops it`() throws {
    let root = try root()
    func indexes() throws -> [String] {
      try root.run("stat", "--json").object().objects("indexes").filter { $0.text("kind") == "ordered" }
        .compactMap { $0.text("name")?.split(separator: ".").last.map(String.init) }.sorted()
    }
    let digest = try root.digest()
    #expect(try indexes() == ["barcode", "brand", "category", "id", "search", "sku", "updateTime"])
    #expect(try root.run("config", "set", "search.index", "off").code == 0)
    #expect(try root.run("config", "set", "ordered.indexes", #"["name"]"#).code == 0)
    #expect(try root.run("search", "drill").code == 0, "a change takes effect later")
    #expect(try root.run("compact").code == 0)
    #expect(try indexes() == ["name", "sku"] && root.digest() == digest)
    for (arguments, input) in [(["drill"], ""), ([], "drill\n")] {
      let run = try root.run(["search"] + arguments, input: Data(input.utf8))
      #expect(run.code == 65 && run.output.isEmpty && run.isOrderly)
      #expect(run.words.contains("config set search.index on") && run.words.contains("compact"), "\(run.words)")
    }
    #expect(try root.run("find", "drill", "--json").objects().count == 4)
    #expect(try root.run("config", "set", "search.index", "on").code == 0)
    #expect(try root.run("config", "unset", "ordered.indexes").code == 0)
    #expect(try root.run("search", "drill").code == 65)
    #expect(try root.run("compact").code == 0)
    #expect(try root.run("search", "drill").code == 0)
    #expect(
      try indexes() == ["barcode", "brand", "category", "id", "search", "sku", "updateTime"] && root.digest() == digest)
    // The default store's setting counts where the user has none.
    #expect(try root.run("config", "unset", "search.index").code == 0)
    #expect(try root.run("config", "set", "--default", "search.index", "off").code == 0)
    #expect(try root.run("apply", "--full", root.payload(.products(2), "next.json").path).code == 0)
    #expect(try root.run("search", "product").code == 65)
  }

  @Test func `a bad value of these settings is refused, and an unknown name is warned of`() throws {
    let root = try root()
    for (name, value, reason) in [
      ("search.index", "true", "write on or off"), ("search.index", "yes", "write on or off"),
      ("ordered.indexes", #"["brnad"]"#, "did you mean 'brand'?"), ("ordered.indexes", "3", "write a list"),
    ] {
      let run = try root.run("config", "set", name, value)
      #expect(run.code == 64 && run.words.contains(reason) && run.words.contains(name), "\(run.words)")
      #expect(try root.run("config", "get", name).code == 1)
    }
    #expect(try root.run("config", "set", "search.indx", "on").words.contains("search.index and ordered.indexes"))
    #expect(try root.run("config", "set", "ordered.indexes", "brand").code == 0)
    #expect(try root.run("config", "list", "--json").text.contains(#"{"name":"ordered.indexes","value":"brand"}"#))
  }

  @Test func `find prints the same with the index and without it`() throws {
    let root = try root()
    func found(_ arguments: [String]) throws -> String { try root.run(["find"] + arguments + ["--json"]).text }
    let questions = [
      ["drill"], ["DRILL"], ["rdless dr"], ["drill", "--case-sensitive"], ["Drill", "--case-sensitive"], ["18"],
      ["格力"], ["osc", "--field", "brand"], ["35GW/n1", "--field", "skuCode"], ["12345", "--field", "barcode"],
      ["r-35g", "--field", "barcode"], ["tool", "--field", "category"], ["zzz"], [""], ["drill", "--limit", "2"],
    ]
    let with = try questions.map(found)
    #expect(try root.run("config", "set", "search.index", "off").code == 0)
    #expect(try root.run("compact").code == 0)
    #expect(try questions.map(found) == with)
    #expect(with[0].split(separator: "\n").count == 4 && with[9].contains("6901234567892"))
  }

  @Test func `stat shows ordered indexes without a load`() throws {
    let lines = try root().run("stat").lines
    let search = try #require(lines.first { $0.contains("search") })
    #expect(search.contains("ordered") && !search.contains("%"))
    #expect(lines.contains { $0.contains(" hash ") && $0.contains("%") })
  }

  @Test func `a scan without a match suggests what is one edit away, if it is asked to`() throws {
    let root = try root()
    let plain = try root.run("scan", "6901234567829", "--json")
    #expect(plain.code == 1 && !plain.text.contains("suggestions"))
    #expect(try root.run("config", "set", "matching.suggestions", "3").code == 0)
    let scan = try root.run("scan", "6901234567829", "--json").object()
    let suggestion = try #require(scan.objects("suggestions").first)
    #expect(scan.objects("suggestions").count == 1 && suggestion.sortedKeys == ["barcode", "id", "name"])
    #expect(suggestion.text("barcode") == "6901234567892" && suggestion.text("id") == "1")
    let words = try root.run("scan", "6901234567829")
    #expect(words.code == 1 && words.text.contains("did you mean 6901234567892  1  Cordless Drill 18V"))
    #expect(try root.run("explain", "6901234567829").text.contains("did you mean 6901234567892"))
    #expect(try root.run("scan", "6901234567892", "--json").object()["suggestions"] == nil)
  }

  @Test func `products are paged in the order of an index`() throws {
    let root = try root()
    var words = ["products", "--in-order-of", "brand", "--limit", "2", "--columns", "id", "--csv"]
    let first = try root.run(words)
    #expect(first.code == 0 && first.text == "id\r\n4\r\n1\r\n", "\(first.text)")
    let cursor = try #require(first.words.firstMatch(of: /next page: --after (\S+)/)).1
    words += ["--after", String(cursor)]
    let second = try root.run(words)
    #expect(second.text == "id\r\n3\r\n2\r\n" && second.words.isEmpty, "\(second.text) \(second.words)")
    let backward = try root.run("products", "--in-order-of", "-barcode", "--columns", "id", "--csv")
    #expect(backward.text == "id\r\n3\r\n4\r\n1\r\n2\r\n" && backward.words.isEmpty)
    for more in [
      ["--after", String(cursor)], ["--where", "true"], ["--count"], ["--offset", "1"], ["--after", "x"],
    ] {
      #expect(try root.run(["products", "--in-order-of", "id"] + more).code == 64)
    }
    let unknown = try root.run("products", "--in-order-of", "weight")
    #expect(unknown.code == 64 && unknown.words.contains("updateTime"), "\(unknown.words)")
    let missing = try root.run("products", "--in-order-of", "name")
    #expect(missing.code == 65 && missing.words.contains("ordered.indexes"), "\(missing.words)")
  }
}
