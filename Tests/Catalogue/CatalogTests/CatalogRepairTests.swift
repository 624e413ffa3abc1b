import LogStore
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct CatalogRepairTests {
  @Test(arguments: [
    ("a row of table 0", "a product"), ("a row of products, key \"101\"", "product 101"),
    ("a row of products is not found by its id", "a product is not found by its id"),
    ("a row of products, key \"a \"b\"\" is not found by its id", "product a \"b\" is not found by its id"),
    ("a row of table 1, key \"S1\"", "a relation of the set S1"), ("a row of relations", "a relation"),
    ("a row of table 10", "a row of table 10"), ("a row of products, key \"", "a product, key \""),
    ("bucket: checksum", "bucket: checksum"), ("", ""),
  ])
  func `findings name products and relations, not tables`(text: String, words: String) {
    #expect(Finding.words(text) == words)
  }

  @Test(.disabled(if: testsAreSealed, "it looks for a row in clear"))
  func `a repair empties the cursor if a row is lost, and only then`() throws {
    let catalogue = try TestCatalogue([Product("a", "1", name: "first"), Product("b", "2", name: "second")])
    try catalogue.increment([Product("c", "3")], cursor: "c")
    let digest = try CatalogDigest(catalogue.snapshot)
    catalogue.writer.close()
    let good = try catalogue.folder.contents("catalog.log")
    #expect(try CatalogRepair.run(catalogue.location)?.damagedPath == nil)
    // A slot: nothing but a note.
    var log = good
    log[4096] ^= 1
    try catalogue.folder.write(log, to: "catalog.log")
    let harmless = try #require(try CatalogRepair.run(catalogue.location))
    #expect(harmless.losses.isEmpty && !harmless.findings.isEmpty)
    #expect(try CatalogDigest(harmless.snapshot) == digest)
    #expect(harmless.snapshot.state.mode == .repair && harmless.snapshot.sequence == 3)
    // A row.
    log = good
    let place = try #require(log.indices.first { log[$0...].starts(with: Array("second".utf8)) })
    log[place] ^= 1
    try catalogue.folder.write(log, to: "catalog.log")
    let repair = try #require(try CatalogRepair.run(catalogue.location))
    #expect(repair.losses.map(\.lost) == ["product b"])
    #expect(try repair.snapshot.products.map(\.id) == ["a", "c"])
    #expect(repair.snapshot.cursor == "")
    #expect(repair.damagedPath?.hasSuffix("catalog.damaged-2") == true)
    try catalogue.reopen()
    try catalogue.full([Product("b", "2")])
    // The repair wrote the second generation, the third with its indexes.
    #expect(try catalogue.snapshot.generation == 4)
  }

  @Test func `codes outlive every damage that leaves their records`() throws {
    let codes = (0..<300).flatMap { number in
      [ProductCode("p\(number)", "4\(number)", unit: "case"), ProductCode("p\(number)", "x\(number)", kind: "old")]
    }
    let catalogue = try TestCatalogue((0..<300).map { Product("p\($0)", "\($0)") }, codes: codes)
    try catalogue.increment([Product("p1", "1")], codes: [ProductCode("p1", "NEW")])
    let digest = try CatalogDigest(catalogue.snapshot)
    catalogue.writer.close()
    let good = try catalogue.folder.contents("catalog.log")
    // The newest footer: the commit before it is what can be proved; and both: only the rows are left.
    var log = good
    let end = log.count
    for page in stride(from: end - 4096, to: 12_288, by: -4096) {
      let footer = (page + 4096 - 128)..<(page + 4096)
      if log[footer].contains(where: { $0 != 0 }) { for offset in footer { log[offset] ^= 0xFF } }
    }
    for offset in 4096..<12_288 { log[offset] = 0 }
    try catalogue.folder.write(log, to: "catalog.log")
    let repair = try #require(try CatalogRepair.run(catalogue.location))
    #expect(!repair.losses.isEmpty)
    // The ends of pages are lost with the footers, and what lay there.
    #expect(try repair.snapshot.codes.count == repair.snapshot.codeCount)
    #expect(repair.snapshot.codeCount > 500)
    #expect(try repair.snapshot.verify().isEmpty)
    // A product's record alone: its codes stay, and the digest says that something is gone.
    try catalogue.folder.write(good, to: "catalog.log")
    let reader = try #require(try CatalogReader.open(catalogue.location))
    let again = try CatalogDigest(reader.snapshot())
    #expect(again == digest)
  }
}
