import Barcodes
import LogStore
import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct MatchingTests {
  private func match(_ scan: String, in barcodes: [String: String]) throws -> Match {
    try TestCatalogue(barcodes.map { Product($0.key, $0.value) }).snapshot.match(scan)
  }

  private func ids(_ scan: String, in barcodes: [String: String]) throws -> [String] {
    try match(scan, in: barcodes).products.map(\.id)
  }

  @Test func `all products that share a barcode are found, by id`() throws {
    let barcodes = Dictionary(uniqueKeysWithValues: (10..<30).map { ("p\($0)", "6901234567892") })
    #expect(try ids("6901234567892", in: barcodes) == barcodes.keys.sorted())
  }

  @Test func `of an exact text only products with that text are found`() throws {
    let barcodes = ["a": "6901234567892", "b": "06901234567892", "c": "AB-1", "d": "ab-1", "e": " AB-1\t"]
    #expect(try ids("6901234567892", in: barcodes) == ["a"])
    #expect(try ids("06901234567892", in: barcodes) == ["b"])
    #expect(try ids("AB-1", in: barcodes) == ["c", "e"])
    #expect(try ids("ab-1", in: barcodes) == ["d"])
    #expect(try ids("Ab-1", in: barcodes) == ["c", "d", "e"])
  }

  @Test func `all spellings of a GTIN are found where none is exact`() throws {
    let barcodes = ["a": "036000291452", "b": "0036000291452", "c": "00036000291452", "d": "10036000291459"]
    #expect(try ids("(01)00036000291452", in: barcodes) == ["a", "b", "c"])
    #expect(try match("(01)00036000291452", in: barcodes).key == "00036000291452")
    let spellings = ["036000291452", "0036000291452", "00036000291452"]
    for spelling in spellings {
      for stored in spellings {
        let match = try match(spelling, in: ["x": stored])
        #expect(match.kind == (spelling == stored ? .exact : .gtin))
        #expect(match.key == stored && match.gtin?.digits == "00036000291452")
      }
    }
  }

  @Test func `a case is another trade item than what is in it`() throws {
    #expect(try ids("10036000291459", in: ["item": "036000291452"]).isEmpty)
    #expect(try ids("036000291452", in: ["case": "10036000291459"]).isEmpty)
  }

  @Test func `an add-on is not part of the item's text`() throws {
    let match = try match("]E3978014300723452495", in: ["a": "9780143007234"])
    #expect(match.kind == .gtin && match.key == "9780143007234" && match.rest == "52495")
    let whole = try self.match(
      "]E3978014300723452495", in: ["a": "9780143007234", "b": "978014300723452495"])
    #expect(whole.kind == .exact && whole.key == "978014300723452495" && whole.rest == nil)
  }

  @Test func `a wrong check digit is found as text and not as a GTIN`() throws {
    #expect(try match("6901234567890", in: ["a": "6901234567890"]).kind == .exact)
    #expect(try match("06901234567890", in: ["a": "6901234567890"]).kind == .none)
    #expect(try match("(01)06901234567890", in: ["a": "06901234567890"]).kind == .none)
  }

  @Test func `a GTIN-8 comes before the UPC-E of the same digits`() throws {
    // 01234558 is a GTIN-8, and UPC-E for 012345000058.
    let upcE = "01234565"
    let expanded = try #require(GTIN(upcE: upcE)).digits
    #expect(try match(upcE, in: ["a": expanded]).kind == .gtin)
    #expect(try match(upcE, in: ["a": expanded, "b": upcE]).products.map(\.id) == ["b"])
    #expect(try match("]E4" + upcE, in: ["a": expanded]).kind == .none)
  }

  @Test func `the longest head wins`() throws {
    let barcodes = ["a": "SG1234", "b": "SG1234N", "c": "SG1234N01"]
    #expect(try match("SG1234N01X", in: barcodes).key == "SG1234N01")
    #expect(try match("SG1234N0", in: barcodes).key == "SG1234N")
    #expect(try match("SG1234M", in: barcodes).key == "SG1234")
    #expect(try match("SG1234N", in: barcodes).kind == .exact)
    #expect(try match("SG123", in: barcodes).kind == .none)
    #expect(try match("SG1234N01X", in: barcodes).rest == "X")
  }

  /// A head letter for letter is looked for first, over all lengths; only then one in either case.
  @Test func `a shorter head letter for letter beats a longer one in another case`() throws {
    let barcodes = ["exact": "SG1234", "longer": "sg1234n", "same": "sg1234"]
    let match = try match("SG1234N999", in: barcodes)
    #expect(match.products.map(\.id) == ["exact"])
    #expect(match.key == "SG1234" && match.rest == "N999")
    let folded = try self.match("Sg1234n999", in: barcodes)
    #expect(folded.products.map(\.id) == ["longer"] && folded.rest == "999")
    #expect(try ids("sG1234", in: barcodes) == ["exact", "same"])
    #expect(try ids("sG1234-1", in: barcodes) == ["exact", "same"])
  }

  @Test func `a head has four characters, not bytes`() throws {
    #expect(try match("格力空X1", in: ["a": "格力空"]).kind == .none)
    #expect(try match("格力空调X1", in: ["a": "格力空调"]).key == "格力空调")
    #expect(try match("格力空调X1", in: ["a": "格力空调"]).rest == "X1")
    #expect(try match("éé12", in: ["a": "éé1"]).kind == .none)
    #expect(try match("😀😀😀1", in: ["a": "😀😀😀"]).kind == .none)
    #expect(try match("😀😀😀😀1", in: ["a": "😀😀😀😀"]).kind == .head)
  }

  @Test func `junk is no head`() throws {
    let barcodes = ["a": "1", "b": "12", "c": "690", "d": "", "e": "   ", "f": "69 "]
    #expect(try match("690123", in: barcodes).kind == .none)
    #expect(try ids("690", in: barcodes) == ["c"])
    #expect(try ids("1", in: barcodes) == ["a"])
    #expect(try match("", in: barcodes).kind == .none)
    #expect(try match("   ", in: barcodes).kind == .none)
    #expect(try match("\u{0}\u{A0}\r\n", in: barcodes).kind == .none)
  }

  @Test(arguments: [250, 254, 255, 256, 257, 300, 1000, 4090])
  func `a head may have any length`(count: Int) throws {
    let head = String(repeating: "A", count: count)
    let barcodes = ["a": head, "b": "AAAA", "c": String(repeating: "A", count: 249)]
    let match = try match(head + "z9", in: barcodes)
    #expect(match.key?.utf8.count == count)
    #expect(try ids(head, in: barcodes) == ["a"])
    #expect(try self.match(head.lowercased() + "9", in: ["a": head]).rest == "9")
  }

  @Test func `a barcode of 255 bytes and more is found after increments and compactions`() throws {
    let catalogue = try TestCatalogue([Product("a", "AAAA")])
    let long = String(repeating: "B", count: 600)
    try catalogue.increment([Product("b", long)])
    #expect(try catalogue.snapshot.match(long + "1").products.map(\.id) == ["b"])
    try catalogue.increment([Product("c", long + "C")])
    try catalogue.writer.compact()
    #expect(try catalogue.snapshot.match(long + "C1").products.map(\.id) == ["c"])
    try catalogue.increment([Product("c", delFlag: 1)])
    #expect(try catalogue.snapshot.match(long + "C1").products.map(\.id) == ["b"])
  }

  @Test func `noise around barcodes and scans does not matter`() throws {
    for stored in ["AB-12", " AB-12", "AB-12\u{A0}", "\u{FEFF}AB-12\r\n", "\u{200B}\u{0}ab-12"] {
      for scan in ["AB-12", "\tAB-12\u{4}", "\u{FEFF}AB-12", "]A0AB-12"] {
        #expect(
          try match(scan, in: ["a": stored]).kind == .exact,
          "\(stored.debugDescription) \(scan.debugDescription)")
      }
      #expect(try match("AB-12XY", in: ["a": stored]).rest == "XY")
    }
  }

  @Test func `structured carriers have no head and no text`() throws {
    let barcodes = ["a": "https", "b": "0106", "c": "https://id.gs1.org/01/06901234567892", "d": "(01)"]
    for scan in [
      "https://example.com/x", "https://id.gs1.org/01/06901234567892", "]C10106901234567892",
      "(01)06901234567892",
      "]d20106901234567892\u{1D}21A",
    ] { #expect(try match(scan, in: barcodes).kind == .none, "\(scan)") }
    #expect(try match("]E06901234567892", in: ["a": "690123"]).kind == .none)
    #expect(try match("6901234567892", in: ["a": "6901234"]).kind == .head)
    #expect(try match("]E02112345015002", in: ["a": "2112345"]).kind == .head)
  }

  @Test func `element strings hand their serial number on`() throws {
    let match = try match("]C1010690123456789221SER\u{1D}10LOT", in: ["a": "6901234567892"])
    #expect(match.kind == .gs1 && match.scan.elements?["21"] == "SER" && match.scan.elements?["10"] == "LOT")
    let link = try self.match("HTTPS://ID.GS1.ORG/01/06901234567892/21/S?10=L", in: ["a": "6901234567892"])
    #expect(link.kind == .digitalLink && link.scan.elements?["21"] == "S")
    let content = try self.match("]C102069012345678923712", in: ["a": "6901234567892"])
    #expect(content.kind == .gs1Content)
  }

  @Test func `a scan of thousands of characters is answered or refused`() throws {
    let catalogue = try TestCatalogue([
      Product("a", "AAAA"), Product("b", String(repeating: "A", count: 5000)),
    ])
    let snapshot = try catalogue.snapshot
    let limit = ScanConfiguration.defaultMaximumLength
    #expect(try snapshot.match(String(repeating: "A", count: limit)).key == "AAAA")
    #expect(try snapshot.match(String(repeating: "A", count: limit + 1)).kind == .none)
    #expect(try snapshot.match(String(repeating: "A", count: 5000)).kind == .none)
    for character in ["1", "９", "\u{1D}", "(", "\u{0}", "é", "0", "]"] {
      _ = try snapshot.match(String(repeating: character, count: limit))
      _ = try snapshot.match(String(repeating: character, count: limit + 1))
    }
  }

  @Test func `every lookup in the catalogue is reported`() throws {
    let catalogue = try TestCatalogue([Product("a", "SG12")])
    let match = try catalogue.snapshot.match("SG12X")
    #expect(match.attempts.map(\.kind) == [.exact, .head] && match.attempts.map(\.productCount) == [0, 1])
    let upcE = try catalogue.snapshot.match("04252614")
    #expect(upcE.attempts.map(\.text) == ["04252614", upcE.gtin?.digits ?? "", "04252614"])
  }

  @Test func `an exact barcode is neither trimmed nor folded`() throws {
    let snapshot = try TestCatalogue([
      Product("a", " ab "), Product("b", "AB"), Product("c", "ab"), Product("d", " "),
    ])
    .snapshot
    #expect(try snapshot.products(barcode: "ab").map(\.id) == ["c"])
    #expect(try snapshot.products(barcode: " ab ").map(\.id) == ["a"])
    #expect(try snapshot.products(barcode: "Ab").isEmpty)
    let key = Array("AB".utf8)
    #expect(
      try snapshot.withProduct(barcode: key.span) { (view) throws(StoreError) in view.id } == "b")
  }
}
