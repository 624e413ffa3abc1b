import Barcodes
import Bytes
import CatalogRows
import LogStore
import RecordFormat
import StoreTestSupport
import Testing
@testable import Catalog
import CatalogTestSupport

/// Rows that break a rule of the format under checksums that hold: what a faulty or hostile writer leaves.
@Suite(.disabled(if: testsAreSealed, "it forges what is in clear")) struct FaultyRowTests {
  /// A change of a row or of what it shares, and what is said of it.
  struct Forgery: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let what: String
    let change: @Sendable (inout ForgedLog) throws -> Void

    init(_ name: String, _ what: String, _ change: @escaping @Sendable (inout ForgedLog) throws -> Void) {
      testDescription = name
      self.what = what
      self.change = change
    }

    /// Changes the flags of the first product.
    static func flags(
      _ name: String, _ what: String, _ change: @escaping @Sendable (inout UInt32) -> Void
    ) -> Forgery {
      Forgery(name, what) { log in
        let body = try FaultyRowTests.body(log.records(0)[0], in: log)
        var flags = log.bytes.rawSpan.u32(at: body)
        change(&flags)
        log.put(flags, at: body)
      }
    }
  }

  private static func catalogue() throws -> TestCatalogue {
    var product = Product("101", "6901", name: "a name")
    product.brand = "Gree"
    product.unit = "piece"
    product.createTime = "2024-05-06 07:08:09"
    product.updateTime = "yesterday"
    product.categoryId = 5
    product.length = 0.35
    product.delFlag = 0
    var folded = Product("102", " 69a ")
    folded.skuCode = "sku"
    return try TestCatalogue([product, folded], [Relation("101", "102", 2, id: "r1")])
  }

  /// Where the body of a record begins.
  private static func body(_ record: ForgedLog.Object, in log: ForgedLog) throws -> Int {
    let bytes = log.bytes.rawSpan.slice(record.offset, record.length)
    let layout = RecordLayout(bytes)
    return record.offset + (try #require(layout)).bodyStart
  }

  private static let products = [
    Forgery.flags("an extra that is not there", "its body ends inside a field") { $0 |= ProductLayout.hasExtra },
    .flags("the form of createTime", "its createTime has form 3") { $0 |= 3 << ProductLayout.createTime },
    .flags("the form of updateTime", "its updateTime has form 3") { $0 |= 3 << ProductLayout.updateTime },
    .flags("the form of length", "its length has form 3") { $0 |= 3 << ProductLayout.firstDouble },
    .flags("the form of wide", "its wide has form 3") { $0 |= 3 << (ProductLayout.firstDouble + 8) },
    .flags("the form of categoryId", "its categoryId has form 3") { $0 |= 3 << ProductLayout.categoryId },
    .flags("the form of groupNum", "its groupNum has form 3") { $0 |= 3 << ProductLayout.groupNum },
    .flags("a dropped shared string", "its flags say 1 shared strings, and it has 2") {
      $0 &= ~ProductLayout.shared(0)
    },
    .flags("a shared string too many", "its flags say 3 shared strings, and it has 2") {
      $0 |= ProductLayout.shared(1)
    },
    .flags("more fields than there are bytes", "its body ends inside a field") { flags in
      for index in UInt32(0)..<5 { flags = flags & ~(3 << (16 + 2 * index)) | 2 << (16 + 2 * index) }
    },
    Forgery("a year of five digits", "its createTime is no time") { log in
      // Behind flags, categoryId and length.
      let place = try Self.body(log.records(0)[0], in: log) + 12
      log.bytes[place + 4] = 0xFF
    },
    Forgery("a name that is not UTF-8", "its name is not UTF-8") { log in
      let record = log.records(0)[0]
      log.bytes[record.offset + record.length - 1] = 0xFF
    },
    Forgery("a time that is not UTF-8", "its updateTime is not UTF-8") { log in
      let record = log.records(0)[0]
      let place = (record.offset..<record.offset + record.length).first {
        log.bytes[$0...].starts(with: Array("yesterday".utf8))
      }
      log.bytes[try #require(place)] = 0xC0
    },
    Forgery("a brand that is not UTF-8", "its brand is not UTF-8") { log in
      let texts = log.objects(.sharedString)
      let brand = texts.first { log.bytes[($0.offset + 8)...].starts(with: Array("Gree".utf8)) }
      log.bytes[try #require(brand).offset + 8] = 0xFF
    },
    Forgery("a shared string that names no text", "its shared string 0 names no text") { log in
      let record = log.records(0)[0]
      log.put(UInt32(0), at: record.offset + RecordLayout.keyStart(sharedCount: 0, keyCount: 2))
    },
  ]

  /// The finding for a row, in a catalogue in which the store itself finds nothing.
  private static func finding(_ forgery: Forgery, _ catalogue: TestCatalogue) throws -> Finding {
    catalogue.writer.close()
    var log = try ForgedLog(catalogue.folder.contents("catalog.log"))
    try forgery.change(&log)
    log.seal()
    try catalogue.folder.write(log.bytes, to: "catalog.log")
    #expect(try Verification.run(catalogue.location)?.findings.map(\.description) == [])
    let snapshot = try #require(try CatalogReader.open(catalogue.location)).snapshot()
    let findings = try snapshot.verify()
    #expect(findings.count == 1, "\(findings)")
    return try #require(findings.first)
  }

  @Test(arguments: products)
  func `a product that breaks a rule is an error that names it, and a repair leaves it out`(_ forgery: Forgery) throws {
    let catalogue = try Self.catalogue()
    let finding = try Self.finding(forgery, catalogue)
    #expect(finding.what == "product 101: " + forgery.what && finding.lost == "this product")
    let snapshot = try #require(try CatalogReader.open(catalogue.location)).snapshot()
    func isFinding(_ error: any Error) -> Bool {
      guard case StoreError.damaged(_, let offset, let what) = error else { return false }
      return offset == finding.offset && what == finding.what
    }
    #expect { _ = try snapshot.product(id: "101") } throws: { isFinding($0) }
    // An export copies rows, and no products.
    var row = ProductRow()
    let ids = try snapshot.productRowsByID()
    #expect { for id in ids { _ = try snapshot.copy(id, to: &row) } } throws: { isFinding($0) }
    #expect(throws: StoreError.self) {
      try snapshot.forEachProduct { (view) throws(StoreError) in _ = try Product(view) }
    }
    #expect(try snapshot.product(id: "102")?.barcode == " 69a ")
    let repair = try #require(try CatalogRepair.run(catalogue.location))
    #expect(repair.losses.map(\.what) == [finding.what] && repair.damagedPath?.hasSuffix(".damaged-1") == true)
    #expect(repair.snapshot.productCount == 1 && repair.snapshot.relationCount == 1 && repair.snapshot.cursor == "")
    #expect(try repair.snapshot.verify().isEmpty && Verification.run(catalogue.location)?.findings.isEmpty == true)
  }

  @Test func `a product is not found by another barcode than its own`() throws {
    let forgery = Forgery("a barcode of another key", "") { log in
      let record = log.records(0)[1]
      let range = record.offset..<record.offset + record.length
      let place = range.last { log.bytes[$0...].starts(with: Array(" 69a ".utf8)) }
      log.bytes[try #require(place) + 1] = UInt8(ascii: "7")
    }
    let finding = try Self.finding(forgery, try Self.catalogue())
    #expect(finding.what == "product 102: the key of its barcode is another one")
  }

  private static let relations = [
    Forgery("an id that is not UTF-8", "relation with an id that is not UTF-8: its id is not UTF-8") { log in
      let record = log.records(1)[0]
      log.bytes[record.offset + record.length - 1] = 0xFF
    },
    Forgery("a shared string that names no text", "relation r1: its shared string names no text") { log in
      let record = log.records(1)[0]
      log.put(UInt32(0), at: record.offset + RecordLayout.keyStart(sharedCount: 0, keyCount: 2))
    },
  ]

  @Test(arguments: relations)
  func `a relation that breaks a rule is an error that names it, and a repair leaves it out`(_ forgery: Forgery) throws
  {
    let catalogue = try Self.catalogue()
    var relation = Relation("101", "102", 2, id: "r1")
    relation.orgId = "org"
    try catalogue.full([Product("101"), Product("102")], [relation])
    let finding = try Self.finding(forgery, catalogue)
    #expect(finding.what == forgery.what && finding.lost == "this relation")
    let snapshot = try #require(try CatalogReader.open(catalogue.location)).snapshot()
    #expect(throws: StoreError.self) { try snapshot.forEachRelation { _ in } }
    let repair = try #require(try CatalogRepair.run(catalogue.location))
    #expect(repair.losses.count == 1 && repair.snapshot.relationCount == 0 && repair.snapshot.productCount == 2)
    #expect(try repair.snapshot.verify().isEmpty)
  }

  /// The record of two codes of product 101, as the tests of codes write it.
  private static let codeRecords = [
    Forgery("an unknown flag", "codes of product 101: its codes and their keys contradict each other") { log in
      log.bytes[body(&log)] |= 128
    },
    Forgery("both forms of an id", "codes of product 101: its codes and their keys contradict each other") { log in
      log.bytes[body(&log)] |= 3
    },
    Forgery("a quantity of 1 that is written", "codes of product 101: its codes and their keys contradict each other") {
      log in
      // Flags, the id 7 in one byte, the quantity.
      log.bytes[body(&log) + 2] = 1
    },
    Forgery("a unit that is not UTF-8", "codes of product 101: a text is not UTF-8") { log in
      log.bytes[body(&log) + 4] = 0xFF
    },
    Forgery("another key than its code", "codes of product 101: the key of a code is another one") { log in
      let record = log.records(2)[0]
      log.bytes[record.offset + record.length - 1] = UInt8(ascii: "z")
    },
  ]

  /// The offset of the body of the only record of codes.
  private static func body(_ log: inout ForgedLog) -> Int {
    // The id of the product, and two keys after their lengths: digits as a number, and two letters.
    log.records(2)[0].offset + RecordLayout.keyStart(sharedCount: 0, keyCount: 2) + 3 + (1 + 7) + (1 + 2)
  }

  @Test(arguments: codeRecords)
  func `codes that break a rule are an error that names them, and a repair leaves them out`(_ forgery: Forgery) throws {
    let catalogue = try Self.catalogue()
    try catalogue.full(
      [Product("101"), Product("102")],
      codes: [
        ProductCode("101", "4006381333931", ExactDecimal(24), unit: "case", id: "7"), ProductCode("101", "ab"),
      ])
    let finding = try Self.finding(forgery, catalogue)
    #expect(finding.what == forgery.what && finding.lost == "these codes of a product")
    let repair = try #require(try CatalogRepair.run(catalogue.location))
    #expect(repair.losses.count == 1 && repair.snapshot.codeCount == 0 && repair.snapshot.productCount == 2)
    #expect(try repair.snapshot.verify().isEmpty)
  }
}
