import Barcodes
import Catalog
import CatalogTestSupport
import Foundation
import Testing
import Workspace

/// The table of codes in every command that shows it.
@Suite(.timeLimit(.minutes(10))) struct CodeCommandTests {
  private static let pen = "4006381333931"
  private static let caseCode = "14006381333938"
  private static let innerCode = "4006381333948"

  /// The products `pen`, with a case and an inner pack, `ink`, and the set `box` of 12 pens. A second commit gives the
  /// case another size, drops the inner pack and adds a code of last year.
  private func root(commits: Int = 2) throws -> TestRoot {
    let root = try TestRoot(answers: [])
    let writer = try WorkspaceDirectory(root: root.path).catalogueWriter(of: "u", lockTimeout: .seconds(5))
    defer { writer.close() }
    let pen = Product("pen", Self.pen, name: "Ball pen")
    var codes = [
      ProductCode("pen", Self.caseCode, ExactDecimal(24), unit: "case", kind: "GTIN-14", id: "1"),
      ProductCode("pen", Self.innerCode, ExactDecimal(6), unit: "inner", id: "2"),
      ProductCode("nobody", "ORPHAN-7", id: "9"),
    ]
    var update = try writer.beginFullUpdate(.open)
    try update.take(
      [pen, Product("ink", "4006381333962", name: "Ink"), Product("box", "BOX-1", name: "Box of pens")],
      [Relation("box", "pen", 12)], codes)
    _ = try update.commit(cursor: "one")
    if commits == 1 { return root }
    codes = [
      ProductCode("pen", Self.caseCode, ExactDecimal(30), unit: "case", kind: "GTIN-14", id: "1"),
      ProductCode("pen", "OLD-7", id: "3"),
    ]
    var increment = writer.beginIncrement()
    try increment.take([pen], [], codes)
    _ = try increment.commit(cursor: "two")
    return root
  }

  @Test func `codes lists the codes of a product`() throws {
    let root = try root(commits: 1)
    let run = try root.run("codes", "pen", "--json")
    #expect(run.code == 0 && run.words.isEmpty)
    #expect(
      run.text
        == #"{"productId":"pen","codes":[{"id":"1","code":"14006381333938","quantity":24,"unit":"case","kind":"GTIN-14"},"#
        + #"{"id":"2","code":"4006381333948","quantity":6,"unit":"inner","kind":""}]}"# + "\n")
    let table = try root.run("codes", "pen")
    #expect(table.code == 0 && table.lines.count == 3 && table.lines[1].contains("24  case"), "\(table.text)")
    let none = try root.run("codes", "ink", "--json")
    #expect(none.code == 0 && none.text == #"{"productId":"ink","codes":[]}"# + "\n")
    #expect(try root.run("codes", "ink").words.contains("has no code besides its barcode"))
    let orphan = try root.run("codes", "nobody")
    #expect(orphan.code == 0 && orphan.text.contains("ORPHAN-7") && orphan.words.contains("no scan finds"))
    for arguments in [["codes", "x"], ["codes", "x", "--json"]] {
      let unknown = try root.run(arguments)
      #expect(unknown.code == 1 && unknown.output.isEmpty && unknown.words.contains("no product has id x"))
    }
  }

  @Test func `a product is printed with its codes, and found by one`() throws {
    let root = try root(commits: 1)
    let product = try root.run("get", "--id", "pen", "--json").object()
    #expect(product.count == 26)
    #expect(product.objects("codes").map { $0.text("code") } == [Self.caseCode, Self.innerCode])
    #expect(product.objects("codes").map { $0.number("quantity") } == [24, 6])
    #expect(try root.run("get", "--id", "ink", "--json").object().objects("codes").isEmpty)
    #expect(try root.run("get", "--barcode", Self.caseCode, "--json").object().text("id") == "pen")
    let words = try root.run("get", "--barcode", Self.pen)
    #expect(words.code == 0 && words.text.contains(Self.innerCode) && words.text.contains("inner"))
    #expect(try root.run("get", "--barcode", "ORPHAN-7").code == 1)
    #expect(try root.run("find", "--field", "barcode", Self.caseCode, "--json").object().text("id") == "pen")
  }

  @Test func `a product is found by another spelling of a code`() throws {
    let root = try root()
    for code in ["04006381333931", "0\(Self.innerCode)", "OLD-7", "old-7", " OLD-7 "] {
      let isGone = code.contains(Self.innerCode)
      for arguments in [["get", "--barcode", code, "--json"], ["find", "--field", "barcode", code, "--json"]] {
        let run = try root.run(arguments)
        #expect(run.code == (isGone ? 1 : 0), "\(arguments)")
        if !isGone { #expect(try run.objects().map { $0.text("id") } == ["pen"], "\(arguments)") }
      }
    }
    #expect(try root.run("find", "--field", "barcode", "--case-sensitive", "old-7").code == 1)
    // A code of a product that is another one's barcode: the listing has both, the scan and the lookup one.
    let writer = try WorkspaceDirectory(root: root.path).catalogueWriter(of: "u", lockTimeout: .seconds(5))
    var increment = writer.beginIncrement()
    try increment.take([Product("ink", "4006381333962", name: "Ink")], [], [ProductCode("ink", Self.pen, id: "7")])
    _ = try increment.commit(cursor: "three")
    writer.close()
    #expect(try root.run("get", "--barcode", Self.pen, "--json").objects().map { $0.text("id") } == ["pen"])
    let both = try root.run("find", "--field", "barcode", "0\(Self.pen)", "--json").objects()
    #expect(both.map { $0.text("id") } == ["ink", "pen"])
  }

  @Test func `a catalogue without codes prints as before`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(2))])
    #expect(try root.run("get", "--id", "p0", "--json").object().sortedKeys == Contract.productKeys)
    #expect(try root.run("scan", "c0", "--json").object()["package"] == nil)
    #expect(try root.run("stat", "--json").object()["codes"] == nil)
    #expect(try root.run("log", "--json").object()["codes"] == nil)
    #expect(try !root.run("log").text.contains("CODES"))
    #expect(try !root.run("stat").text.contains("codes"))
    #expect(try root.run("codes", "p0", "--json").code == 0)
  }

  @Test func `a scanned case says how many pieces it is`() throws {
    let root = try root(commits: 1)
    let scan = try root.run("scan", Self.caseCode, "--json").object()
    #expect(scan.objects("products").map { $0.text("id") } == ["pen"])
    let package = scan.object("package")
    #expect(package.sortedKeys == ["code", "kind", "quantity", "unit"] && package.number("quantity") == 24)
    #expect(package.text("unit") == "case" && package.text("kind") == "GTIN-14")
    #expect(try root.run("scan", Self.pen, "--json").object()["package"] is NSNull)
    let words = "24 pieces, case, code \(Self.caseCode)"
    #expect(try root.run("scan", Self.caseCode).text.contains(words))
    #expect(try root.run("explain", Self.caseCode).text.contains(words))
    #expect(try root.run("explain", Self.caseCode, "--json").object().object("package").number("quantity") == 24)
    let complete = try root.run("complete", Self.caseCode, Self.innerCode, Self.pen, "--json").object()
    #expect(complete.object("products").number("pen") == 31 && complete.object("complete").number("box") == 2)
    #expect(try root.run("complete", Self.innerCode).text.contains("lacks 6 × pen"))
  }

  @Test func `a code is searched as a barcode is`() throws {
    let root = try root(commits: 1)
    for query in [Self.caseCode, Self.innerCode, "0" + Self.innerCode, " " + Self.caseCode] {
      let results = try root.run("search", query, "--json").objects()
      #expect(results.map { $0.object("product").text("id") } == ["pen"], "\(query)")
      let code = query.contains(Self.innerCode) ? Self.innerCode : Self.caseCode
      #expect(results.first?.object("package").text("code") == code)
    }
    #expect(try root.run("search", "pen", "--json").objects().allSatisfy { $0["package"] == nil })
    #expect(try root.run("search", Self.caseCode).text.contains("24 pieces, case"))
    #expect(try root.run("search", "ORPHAN-7").code == 1)
  }

  @Test func `a dump ends with the codes, in their order`() throws {
    let root = try root(commits: 1)
    let lines = try root.run("dump").lines
    #expect(lines.count == 7)
    #expect(
      Array(lines.suffix(3)) == [
        #"{"type":"code","code":"ORPHAN-7","id":"9","kind":"","productId":"nobody","quantity":1,"unit":""}"#,
        #"{"type":"code","code":"14006381333938","id":"1","kind":"GTIN-14","productId":"pen","quantity":24,"unit":"case"}"#,
        #"{"type":"code","code":"4006381333948","id":"2","kind":"","productId":"pen","quantity":6,"unit":"inner"}"#,
      ])
    #expect(try root.run("dump", "--codes").lines == Array(lines.suffix(3)))
    #expect(try root.run("dump", "--products", "--relations").lines == Array(lines.prefix(4)))
  }

  @Test func `differences, the log and a rollback count codes`() throws {
    let root = try root()
    let lines = try root.run("diff", "1", "2", "--json").objects()
    #expect(lines.map { $0.text("type") } == ["code", "code", "code"])
    #expect(lines.map { $0.text("change") } == ["changed", "removed", "added"])
    #expect(lines[0].object("before").number("quantity") == 24 && lines[0].object("after").number("quantity") == 30)
    #expect(lines[0].object("after").sortedKeys == ["code", "id", "kind", "productId", "quantity", "unit"])
    let words = try root.run("diff", "1", "2")
    #expect(words.text.contains("quantity: 24 → 30"))
    #expect(words.words.contains("codes: 1 added, 1 removed, 1 changed"))
    let log = try root.run("log", "--json").objects()
    #expect(log.map { $0.object("codes").number("written") } == [2, 3])
    #expect(log[0].object("codes").number("deleted") == 2 && log[1].object("codes")["deleted"] is NSNull)
    #expect(try root.run("log").text.contains("CODES +"))
    let digest = try root.digest()
    let dump = try root.run("dump", "--at", "1").output
    let back = try root.run("rollback", "1", "--json").object()
    #expect(back.object("codes").number("written") == 2 && back.object("codes").number("deleted") == 2)
    #expect(try root.dump() == dump && root.digest() != digest)
  }

  @Test func `statistics count codes, and those without a product`() throws {
    let root = try root(commits: 1)
    let statistics = try root.run("stat", "--json").object()
    #expect(statistics.number("codes") == 3 && statistics.number("orphanCodes") == 1)
    let words = try root.run("stat").text
    #expect(words.contains("of these without a product"))
  }
}
