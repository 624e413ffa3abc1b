import RandomTestSupport
import Testing

@testable import CatalogOrigin

/// Random edits of the files, reloads and clients that sync whenever they like: in the end every client holds
/// what the files hold.
@Suite struct OriginModelTests {
  /// A client by the protocol's rules.
  struct Client {
    var cursor = ""
    var products: [String: TestProduct] = [:]
    var relations: [String: [TestRelation]] = [:]
    var codes: [String: [TestCode]] = [:]

    mutating func apply(_ answer: OriginAnswer) throws {
      let rows = try answer.collected()
      if answer.isFull { (products, relations, codes) = ([:], [:], [:]) }
      let owned = Dictionary(grouping: rows.relations, by: \.productId)
      let ownCodes = Dictionary(grouping: rows.codes, by: \.productId)
      for product in rows.products where answer.isFull || product.delFlag == 0 {
        products[product.id] = product
        relations[product.id] = owned[product.id]
        // An answer without a list of codes says nothing about them.
        if answer.hasCodes { codes[product.id] = ownCodes[product.id] }
      }
      for product in rows.products where !answer.isFull && product.delFlag != 0 {
        products[product.id] = nil
        relations[product.id] = nil
        codes[product.id] = nil
      }
      cursor = answer.updateTime
    }
  }

  struct Files {
    var products: [String: TestProduct] = [:]
    var relations: [String: TestRelation] = [:]
    var codes: [String: TestCode] = [:]

    mutating func edit(at time: Stamp, using random: inout SeededGenerator) {
      let id = "p\(Int.random(in: 0..<30, using: &random))"
      switch Int.random(in: 0..<14, using: &random) {
      case 10...12:
        let code = "c\(Int.random(in: 0..<8, using: &random))"
        // Two rows may be the same in all but their ids.
        codes[code] = TestCode(
          id: code, productId: id, code: "code \(Int.random(in: 0..<3, using: &random))",
          quantity: [1, 6, 24].randomElement(using: &random)!)
      case 13:
        // At times the last code goes.
        if Bool.random(using: &random) { codes = [:] } else { codes["c\(Int.random(in: 0..<8, using: &random))"] = nil }
      case 0...4:
        // Careful people set updateTime, most do not, some set nonsense.
        let former = products[id]?.updateTime ?? ""
        let updateTime = [time.string, former, former, "", "2026-01-01 00:00:00", "soon"]
          .randomElement(using: &random)!
        let name = "\(Int.random(in: 0..<1_000, using: &random))"
        products[id] = TestProduct(
          id: id, name: name, updateTime: updateTime,
          delFlag: Int.random(in: 0..<8, using: &random) == 0 ? 1 : 0)
      case 5, 6:
        products[id] = nil
      case 7, 8:
        let relation = "r\(Int.random(in: 0..<20, using: &random))"
        relations[relation] = TestRelation(
          id: relation, productId: id, subProductId: "p\(Int.random(in: 0..<30, using: &random))")
      default:
        relations["r\(Int.random(in: 0..<20, using: &random))"] = nil
      }
    }

    var sorted: ([TestProduct], [TestRelation], codes: [TestCode]) {
      (products.values.sorted { $0.id < $1.id }, relations.values.sorted(), codes.values.sorted())
    }

    /// What every client must hold, apart from rows that never match a scan.
    var live: [String: (TestProduct, [TestRelation], [TestCode])] {
      let ownCodes = Dictionary(grouping: codes.values, by: \.productId)
      let owned = Dictionary(grouping: relations.values, by: \.productId)
      return products.filter { $0.value.delFlag == 0 }.mapValues {
        ($0, (owned[$0.id] ?? []).sorted(), (ownCodes[$0.id] ?? []).sorted())
      }
    }
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `every client ends with the rows of the files`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var seconds: Int64 = 1_767_323_045
    var files = Files()
    for _ in 0..<20 { files.edit(at: Stamp(secondsSince1970: seconds), using: &random) }
    let origin = try await TestOrigin(
      files.sorted.0, files.sorted.1, codes: files.sorted.codes, now: Stamp(secondsSince1970: seconds))
    var clients = [Client](repeating: Client(), count: 5)
    for _ in 0..<200 {
      // Mostly within one second, and sometimes back.
      seconds += Int64([0, 0, 0, 1, 2, -3, 60].randomElement(using: &random)!)
      let now = Stamp(secondsSince1970: seconds)
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3:
        for _ in 0..<Int.random(in: 1...4, using: &random) { files.edit(at: now, using: &random) }
      case 4...6:
        _ = try await origin.reload(files.sorted.0, files.sorted.1, codes: files.sorted.codes, now: now)
      default:
        let index = Int.random(in: clients.indices, using: &random)
        let startsOver = Int.random(in: 0..<8, using: &random) == 0
        let answer = try origin.answer(startsOver ? "" : clients[index].cursor, now: now)
        // Some answers get lost on their way.
        if Int.random(in: 0..<6, using: &random) != 0 { try clients[index].apply(answer) }
      }
    }
    let now = Stamp(secondsSince1970: seconds)
    _ = try await origin.reload(files.sorted.0, files.sorted.1, codes: files.sorted.codes, now: now)
    let expected = files.live
    for index in clients.indices {
      try clients[index].apply(origin.answer(clients[index].cursor, now: now))
      let held = clients[index].products.filter { $0.value.delFlag == 0 }
      #expect(Set(held.keys) == Set(expected.keys), "seed \(seed), client \(index)")
      for (id, (product, relations, codes)) in expected {
        #expect(held[id] == product, "seed \(seed), client \(index)")
        #expect(
          (clients[index].relations[id] ?? []).sorted() == relations, "seed \(seed), client \(index), \(id)")
        #expect((clients[index].codes[id] ?? []).sorted() == codes, "seed \(seed), client \(index), \(id)")
      }
    }
  }
}
