import Foundation
import Testing

/// `serve` and `sync --url`, the one against the other.
@Suite struct ServeCommandTests {
  /// The address in the first line of a running server.
  private func address(_ server: Conversation) throws -> String {
    let line = try #require(server.line())
    return String(try #require(line.split(separator: " ").last))
  }

  @Test func `a client follows a server that follows its files`() throws {
    let root = try TestRoot(answers: [])
    let packed = try Data(contentsOf: Fixture.url("scan-catalogue.ndjson.gz"))
    let products = try root.folder.file("products", packed)
    let relations = Fixture.url("sample-relations.ndjson.gz")
    let server = try Conversation(
      ["serve", "--port", "0", "--watch", "0.1", "--products", products.path, "--relations", relations.path],
      root: root.path)
    let url = try address(server)
    let first = try root.run("sync", "--url", url, "--json").object()
    #expect(first.text("mode") == "full")
    #expect(first.object("products").number("upserted") == 2442)
    // What came over the wire is what a file brings.
    let other = try TestRoot(answers: [])
    var rows = try Fixture.scanCatalogue.get()
    rows.cursor = try #require(first.text("cursor"))
    #expect(try other.apply([other.payload(rows)]).code == 0)
    #expect(try root.dump() == other.dump())
    #expect(try root.digest() == other.digest())
    let nothing = try root.run("sync", "--url", url, "--json").object()
    #expect(nothing.text("mode") == "incremental")
    #expect(nothing.object("products").number("upserted") == 0)

    // One row goes, one changes, one comes.
    rows.products.removeFirst()
    rows.products[5] = rows.products[5].replacing("\"name\":\"", with: "\"name\":\"changed ")
    rows.product("new", #""barcode":"NEW1","name":"new","delFlag":0"#)
    try Data((rows.products.joined(separator: "\n") + "\n").utf8).write(to: products, options: .atomic)
    var second: [String: Any] = [:]
    for _ in 0..<100 {
      second = try root.run("sync", "--url", url, "--json").object()
      if second.object("products").number("upserted") != 0 { break }
      Thread.sleep(forTimeInterval: 0.1)
    }
    #expect(second.text("mode") == "incremental")
    #expect(second.object("products").number("deleted") == 1)
    #expect(try root.run("scan", "NEW1").code == 0)
    #expect(try root.run("find", "changed ", "--json").objects().count == 1)
    server.process.terminate()
    #expect(server.end() == 0)
  }

  @Test func `codes are served from a file of their own, and follow it`() throws {
    let root = try TestRoot(answers: [])
    let products = try root.folder.file("products", Data("{\"id\":\"a\",\"barcode\":\"6901234567892\"}\n".utf8))
    let line = #"{"id":"c","productId":"a","barcode":"16901234567899","quantity":24,"unit":"case"}"#
    let codes = try root.folder.file("codes", Data(line.utf8))
    let server = try Conversation(
      ["serve", "--port", "0", "--watch", "0.1", "--products", products.path, "--codes", codes.path], root: root.path)
    let url = try address(server)
    let first = try root.run("sync", "--url", url, "--json").object()
    #expect(first.object("codes").number("written") == 1)
    #expect(
      try root.dump().split(separator: UInt8(ascii: "\n")).last.map { String(decoding: $0, as: UTF8.self) }
        == #"{"type":"code","code":"16901234567899","id":"c","kind":"","productId":"a","quantity":24,"unit":"case"}"#)
    try Data().write(to: codes, options: .atomic)
    var second: [String: Any] = [:]
    for _ in 0..<100 {
      second = try root.run("sync", "--url", url, "--json").object()
      if second["codes"] != nil { break }
      Thread.sleep(forTimeInterval: 0.1)
    }
    #expect(second.text("mode") == "incremental" && second.object("codes").number("deleted") == 1)
    #expect(try root.dump().split(separator: UInt8(ascii: "\n")).count == 1)
    server.process.terminate()
    #expect(server.end() == 0)
  }

  @Test func `a token is asked for`() throws {
    let root = try TestRoot(answers: [])
    let products = try root.folder.file("products", Data("{\"id\":\"a\",\"barcode\":\"b\"}\n".utf8))
    let server = try Conversation(
      ["serve", "--port", "0", "--products", products.path, "--token", "secret word"], root: root.path)
    let url = try address(server)
    for options in [[], ["--authorization", "Bearer wrong"]] {
      let run = try root.run(["sync", "--url", url, "--attempts", "1"] + options)
      #expect(run.code == 69)
      #expect(run.words.contains("401") && !run.words.contains("wrong"), "\(run.words)")
    }
    #expect(try root.run("sync", "--url", url, "--authorization", "Bearer secret word").code == 0)
    let environment = #"CATALOG_AUTHORIZATION="Bearer secret word" exec "$@""#
    #expect(try root.run("sync", "--url", url, shell: environment).code == 0)
    #expect(try root.dump().count > 0)
    // The port is taken.
    let port = try #require(url.split(separator: ":").last?.dropLast())
    let second = try root.run("serve", "--products", products.path, "--port", String(port))
    #expect(second.code == 69 && second.isOrderly, "\(second.words)")
    kill(server.process.processIdentifier, SIGINT)
    #expect(server.end() == 0)
  }

  @Test func `rows that are no rows are refused with their place`() throws {
    let root = try TestRoot()
    let products = try root.folder.file("products", Data("{\"id\":\"a\"}\n{\"id\":\n".utf8))
    let run = try root.run("serve", "--port", "0", "--products", products.path)
    #expect(run.code == 65 && run.isOrderly, "\(run.words)")
    #expect(run.words.contains(products.path), "\(run.words)")
  }

  @Test func `a file of one's own is served with a mapping, and what is gone is known after a restart`() throws {
    let root = try TestRoot(answers: [])
    let head = "Artikelnummer;EAN;Preis;Lager\n"
    let rows = head + "007;4006381333931;1,5;A\n008;;;\n009;;;\n"
    let file = try root.folder.file("erp.csv", Data(rows.utf8))
    func serve() throws -> (Conversation, url: String) {
      let server = try Conversation(
        [
          "serve", "--from", file.path, "--column", "id=Artikelnummer", "--column", "weight=Preis", "--decimal", ",",
          "--unknown", "keep", "--port", "0", "--watch", "0.1",
        ], root: root.path)
      return (server, try address(server))
    }
    var (server, url) = try serve()
    #expect(try root.run("sync", "--url", url, "--json").object().text("mode") == "full")
    let product = try root.run("scan", "4006381333931", "--json").text
    #expect(product.contains(#""weight":1.5"#) && product.contains(#""extra":{"Lager":"A"}"#), "\(product)")
    server.process.terminate()
    #expect(server.end() == 0)
    try Data((head + "007;4006381333931;1,5;B\n009;;;\n").utf8).write(to: file, options: .atomic)
    (server, url) = try serve()
    let second = try root.run("sync", "--url", url, "--json").object()
    #expect(second.text("mode") == "incremental" && second.object("products").number("deleted") == 1)
    #expect(second.object("products").number("upserted") == 1)
    #expect(try root.run("get", "--id", "008").code == 1)
    #expect(try root.run("get", "--id", "007", "--json").text.contains(#""extra":{"Lager":"B"}"#))
    server.process.terminate()
    #expect(server.end() == 0)
  }

  @Test func `options that do not fit together are refused`() throws {
    let root = try TestRoot()
    let file = try root.folder.file("a.csv", Data("id\n1\n".utf8)).path
    for (options, word) in [
      ([], "--from"), (["--from", file, "--products", file], "one of them"), (["--from", "-"], "standard input"),
      (["--from", file, "--relations", file], "--relations"), (["--from", file, "--codes", file], "--codes"),
      (["--products", file, "--decimal", ","], "--from"),
      (["--from", file, "--save-map", file], "--save-map"),
      (["--from", file, "--max-unpacked", "0"], "--max-unpacked"),
    ] {
      let run = try root.run(["serve", "--port", "0"] + options)
      #expect(run.code == 64 && run.words.contains(word), "\(options): \(run.words)")
    }
    #expect(try root.run("serve", "--port", "0", "--from", file + "x").code == 66)
    let faulty = try root.folder.file("b.csv", Data("id,weight\n1,heavy\n".utf8)).path
    let run = try root.run("serve", "--port", "0", "--from", faulty)
    #expect(run.code == 65 && run.words.contains("Line 2, column 2 (weight)"), "\(run.words)")
  }
}
