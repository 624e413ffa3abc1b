import Testing

@testable import Catalog
import CatalogTestSupport

@Suite struct SetCompletionTests {
  private func complete(_ scans: [String], _ relations: [Relation], more: [Product] = []) throws
    -> SetCompletion
  {
    let products = [
      Product("set", "SET-"), Product("in", "INDOOR"), Product("out", "OUTDOOR"),
      Product("ean", "6901234567892"),
      Product("bare"),
    ]
    return try TestCatalogue(products + more, relations).snapshot.complete(scans)
  }

  @Test func `a set is whole as often as its scarcest component allows`() throws {
    let relations = [Relation("set", "out"), Relation("set", "in", 2)]
    let one = try complete(["OUTDOOR1", "OUTDOOR2", "INDOOR1", "INDOOR2", "INDOOR3"], relations)
    #expect(one.complete == ["set": 1] && one.incomplete.isEmpty && one.faults.isEmpty)
    #expect(one.products == ["out": 2, "in": 3])
    let two = try complete(["OUTDOOR1", "OUTDOOR2", "INDOOR1", "INDOOR2", "INDOOR3", "INDOOR4"], relations)
    #expect(two.complete == ["set": 2])
    let none = try complete(["INDOOR1"], relations)
    #expect(none.incomplete == ["set": ["out": 1, "in": 1]] && none.complete.isEmpty)
  }

  @Test func `ids in two normal forms are two products`() throws {
    let more = [Product("\u{E9}", "COMPOSED"), Product("e\u{301}", "DECOMPOSED")]
    let relations = [Relation("set", "\u{E9}"), Relation("set", "e\u{301}")]
    let half = try complete(["COMPOSED1", "COMPOSED2"], relations, more: more)
    #expect(half.complete.isEmpty && half.incomplete == ["set": ["e\u{301}": 1]])
    let whole = try complete(["COMPOSED1", "DECOMPOSED1"], relations, more: more)
    #expect(whole.complete == ["set": 1] && whole.products.count == 2)
  }

  @Test func `rows of one component are summed`() throws {
    let relations = [Relation("set", "in"), Relation("set", "in"), Relation("set", "in", 2)]
    #expect(try complete(["INDOOR1"], relations).incomplete == ["set": ["in": 3]])
    #expect(try complete(["INDOOR1", "INDOOR2", "INDOOR3", "INDOOR4"], relations).complete == ["set": 1])
  }

  @Test(arguments: [0, -1, Int64.min])
  func `a count below one is a fault, and the set is never made whole by its components`(count: Int64) throws {
    let relations = [Relation("set", "in", count), Relation("set", "in", count), Relation("set", "out")]
    let result = try complete(["INDOOR1", "OUTDOOR1"], relations)
    #expect(result.complete.isEmpty && result.incomplete.isEmpty)
    #expect(result.faults["set"]?.count == 2)
  }

  @Test func `huge counts do not overflow`() throws {
    let relations = [Relation("set", "in", .max), Relation("set", "in", .max), Relation("set", "out")]
    let result = try complete(["INDOOR1", "OUTDOOR1"], relations)
    #expect(result.complete.isEmpty && result.incomplete == ["set": ["in": .max - 1]])
  }

  @Test func `a set that contains itself or another set is a fault`() throws {
    let itself = try complete(["INDOOR1"], [Relation("set", "in"), Relation("set", "set")])
    #expect(itself.complete.isEmpty && itself.faults.keys.sorted() == ["set"])
    let nested = try complete(
      ["INDOOR1", "OUTDOOR1"], [Relation("set", "in"), Relation("bare", "set"), Relation("bare", "out")])
    #expect(nested.complete == ["set": 1] && nested.faults.keys.sorted() == ["bare"])
    let circle = try complete(["INDOOR1"], [Relation("in", "out"), Relation("out", "in")])
    #expect(circle.complete == ["in": 1] && circle.faults.keys.sorted() == ["in", "out"])
  }

  @Test func `a component that the catalogue lacks is named as missing`() throws {
    let relations = [Relation("set", "in"), Relation("set", "gone", 2)]
    let result = try complete(["INDOOR1"], relations)
    #expect(result.incomplete == ["set": ["gone": 2]] && result.faults["set"]?.count == 1)
    let deleted = try complete(["INDOOR1"], relations, more: [Product("gone", "GONE", delFlag: 1)])
    #expect(deleted.incomplete == ["set": ["gone": 2]] && deleted.faults["set"]?.count == 1)
  }

  @Test func `a set that the catalogue lacks or that was deleted is a fault`() throws {
    let lacking = try complete(["INDOOR1"], [Relation("nowhere", "in")])
    #expect(lacking.complete.isEmpty && lacking.incomplete.isEmpty && lacking.faults["nowhere"]?.count == 1)
    let deleted = try complete(
      ["INDOOR1"], [Relation("old", "in")], more: [Product("old", "OLD-", delFlag: 1)])
    #expect(deleted.complete.isEmpty && deleted.incomplete.isEmpty && deleted.faults["old"]?.count == 1)
  }

  @Test func `a set's own barcode is one whole set`() throws {
    let relations = [Relation("set", "in"), Relation("set", "out")]
    let own = try complete(["SET-1", "SET-2"], relations)
    #expect(own.complete == ["set": 2] && own.incomplete.isEmpty && own.products == ["set": 2])
    let both = try complete(["SET-1", "INDOOR1", "OUTDOOR1"], relations)
    #expect(both.complete == ["set": 2])
    // What the person holds is there, whatever the relations say.
    let faulty = try complete(["SET-1"], [Relation("set", "in", 0)])
    #expect(faulty.complete == ["set": 1] && faulty.faults["set"]?.count == 1)
  }

  @Test func `a component of several sets counts for each`() throws {
    let relations = [Relation("set", "in"), Relation("bare", "in"), Relation("bare", "out")]
    let result = try complete(["INDOOR1"], relations)
    #expect(result.complete == ["set": 1] && result.incomplete == ["bare": ["out": 1]])
  }

  @Test func `a serial number counts once, a plain code every time`() throws {
    let result = try complete(
      ["INDOOR1", "INDOOR1", " INDOOR1\r", "6901234567892", "6901234567892", "INDOOR", "INDOOR"], [])
    #expect(result.products == ["in": 3, "ean": 2])
    #expect(result.repeated == ["INDOOR1", " INDOOR1\r"])
    let serials = ["(01)06901234567892(21)S1", "(01)06901234567892(21)S1", "(01)06901234567892(10)L"]
    let elements = try complete(serials + [serials[2]], [])
    #expect(elements.products == ["ean": 3] && elements.repeated == [serials[0]])
  }

  @Test func `a full-width serial number is the same piece`() throws {
    #expect(try complete(["ＩＮＤＯＯＲ1", "INDOOR1"], []).repeated == ["INDOOR1"])
  }

  @Test func `a weighed label counts every time, however its digits were written`() throws {
    let scale = [Product("scale", "2112345")]
    let plain = try complete(["2112345015002", "2112345015002"], [], more: scale)
    #expect(plain.products == ["scale": 2] && plain.repeated.isEmpty)
    let wide = "２１１２３４５０１５００２"
    let folded = try complete([wide, wide], [], more: scale)
    #expect(folded.products == ["scale": 2] && folded.repeated.isEmpty)
  }

  @Test func `what a logistic unit contains is not counted`() throws {
    let code = "]C102069012345678923712"
    let result = try complete([code], [Relation("set", "ean")])
    #expect(result.products.isEmpty && result.unknown == [code] && result.incomplete.isEmpty)
  }

  @Test func `of products that share a barcode each counts`() throws {
    let twin = [Product("twin", "INDOOR")]
    let result = try complete(["INDOOR1"], [Relation("set", "in"), Relation("bare", "twin")], more: twin)
    #expect(result.products == ["in": 1, "twin": 1] && result.complete == ["set": 1, "bare": 1])
  }

  @Test func `unknown codes are kept in order, each time`() throws {
    let result = try complete(["??", "", "??", "INDOOR1"], [])
    #expect(result.unknown == ["??", "", "??"] && result.products == ["in": 1])
  }
}
