import Barcodes
import BenchmarkSupport
import Catalog
import CatalogRows
import CatalogueGenerator
import LogStore

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// One kind of lookup, as often as asked and nothing else, for a tool that counts instructions: `scripts/instructions`.
///
///     instructions make DIR
///     instructions CASE DIR COUNT
///
/// Two runs with different counts tell what one lookup costs: all else is in both.
@main
struct Instructions {
  private enum Case: String, CaseIterable {
    case hit, miss
    case hitById = "hit-by-id"
    case missById = "miss-by-id"
    case product, relations, match
    case noMatch = "no-match"
    /// By a code of the table of codes.
    case code
    case matchCode = "match-code"
    /// To the first answer.
    case open
    /// By the first word of a name, and by all of its words.
    case search
    case searchName = "search-name"
    case sealedHit = "sealed-hit"
    case sealedMiss = "sealed-miss"
    case sealedOpen = "sealed-open"

    var needsCodes: Bool { self == .code || self == .matchCode }
    var isSearch: Bool { self == .search || self == .searchName }
    /// The two counts of a case: a search takes as long as thousands of lookups.
    var counts: (few: Int, many: Int) { isSearch ? (20, 80) : (2000, 12000) }
    /// The same kind in a clear store, if it is one of a sealed store.
    var inClear: Case? {
      switch self {
      case .sealedHit: .hit
      case .sealedMiss: .miss
      case .sealedOpen: .open
      default: nil
      }
    }
  }

  private static let generator = CatalogueGenerator(productCount: 4000)
  /// Few keys, so that making them does not drown what is counted.
  private static let keyCount = 500

  static func main() {
    do { try run(Array(CommandLine.arguments.dropFirst())) } catch {
      complain("\(error)")
      exit(error is UsageError ? 64 : 1)
    }
  }

  private static func run(_ arguments: [String]) throws {
    switch (arguments.first, arguments.count) {
    case ("cases", 1): for one in Case.allCases { print(one.rawValue, one.counts.few, one.counts.many) }
    case ("make", 2):
      for store in [BenchmarkStore(at: arguments[1]), sealedStore(arguments[1])] {
        let writer = try store.writer()
        defer { writer.close() }
        _ = try BenchmarkStore.fill(writer, generator)
      }
      try makeCodes(in: storeWithCodes(arguments[1]))
      let writer = try storeWithWords(arguments[1]).writer()
      defer { writer.close() }
      _ = try BenchmarkStore.fill(writer, generator)
    case (let name?, 3):
      guard let one = Case(rawValue: name), let count = Int(arguments[2]) else { throw usage }
      var store = one.needsCodes ? storeWithCodes(arguments[1]) : BenchmarkStore(at: arguments[1])
      if one.inClear != nil { store = sealedStore(arguments[1]) }
      if one.isSearch { store = storeWithWords(arguments[1]) }
      let kind = one.inClear ?? one
      if kind == .open {
        try measureOpening(store, count)
      } else if kind.isSearch {
        try measureSearches(kind, store.reader().snapshot(), count)
      } else {
        try measure(kind, store.reader().snapshot(), count)
      }
    default: throw usage
    }
  }

  private static func storeWithCodes(_ directory: String) -> BenchmarkStore { BenchmarkStore(at: directory + "/codes") }

  private static func storeWithWords(_ directory: String) -> BenchmarkStore {
    BenchmarkStore(at: directory + "/words", indexes: .standard)
  }

  private static func sealedStore(_ directory: String) -> BenchmarkStore {
    BenchmarkStore(at: directory + "/sealed", isSealed: true)
  }

  /// Fills a store with the same products, each of which has two further codes.
  private static func makeCodes(in store: BenchmarkStore) throws {
    let writer = try store.writer()
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    try generator.writeRows(to: &update)
    var product = ProductRow()
    var code = CodeRow()
    for index in 0..<generator.productCount {
      generator.product(index, into: &product)
      for number in 0..<2 {
        code.reset()
        code.texts.set(CodeText.productId.rawValue, product[.id])
        code.texts.set(CodeText.code.rawValue, Self.code(number, of: index))
        code.texts.set(CodeText.unit.rawValue, "case")
        code.quantity = ExactDecimal(24)
        try update.code(code)
      }
    }
    _ = try update.commit(cursor: generator.cursor)
  }

  private static func code(_ number: Int, of index: Int) -> String { "59\(10_000_000_000 + index * 2 + number)" }

  private static var usage: UsageError {
    UsageError(
      "usage: instructions cases | make DIR | \(Case.allCases.map(\.rawValue).joined(separator: "|")) DIR COUNT")
  }

  private static func measure(_ one: Case, _ snapshot: CatalogSnapshot, _ count: Int) throws {
    let keys = keys(for: one)
    let texts = TextKeys(keys)
    var sum: UInt64 = 0
    for turn in 0..<(count / keyCount) {
      let range = 0..<keyCount
      let answers =
        switch one {
        case .hit, .miss: try LookupLoops.byBarcode(snapshot, keys, range)
        case .hitById, .missById: try LookupLoops.byId(snapshot, keys, range)
        case .product: try LookupLoops.products(snapshot, texts, range)
        case .relations: try LookupLoops.relations(snapshot, texts, range)
        case .match: try LookupLoops.matches(snapshot, texts, .exact, range)
        case .noMatch: try LookupLoops.matches(snapshot, texts, .none, range)
        case .code: try LookupLoops.byCode(snapshot, keys, range)
        case .matchCode: try LookupLoops.matches(snapshot, texts, .exact, range)
        case .open, .search, .searchName, .sealedHit, .sealedMiss, .sealedOpen:
          preconditionFailure("\(one) has no loop here")
        }
      sum &+= answers
      // A wrong answer would cost something else.
      guard sum == keys.expectedSum(range) &* UInt64(turn + 1) else { throw WrongAnswer("\(one): \(sum)") }
    }
  }

  /// Searches for the names of products, each of which has to be found by its whole name.
  private static func measureSearches(_ one: Case, _ snapshot: CatalogSnapshot, _ count: Int) throws {
    var row = ProductRow()
    for index in 0..<count {
      generator.product(index * 7 % generator.productCount, into: &row)
      let name = row.texts.string(ProductText.name.rawValue)
      let text = one == .search ? String(name.prefix { $0 != " " }) : name
      let found = try snapshot.search(text).results
      let isFound = one == .search ? !found.isEmpty : found.contains { $0.product.name == name }
      guard isFound else { throw WrongAnswer("\(one): \(text) is not found") }
    }
  }

  private static func measureOpening(_ store: BenchmarkStore, _ count: Int) throws {
    let keys = keys(for: .hit)
    for _ in 0..<count {
      let sum = try LookupLoops.byBarcode(store.reader().snapshot(), keys, 0..<1)
      guard sum == keys.expectedSum(0..<1) else { throw WrongAnswer("opening: \(sum)") }
    }
  }

  /// Made by hand: with the generator's rows alone the answer is known.
  private static func keys(for one: Case) -> KeyList {
    var keys = KeyList()
    var number = 0
    var bytes: [UInt8] = []
    while keys.count < keyCount {
      bytes.removeAll(keepingCapacity: true)
      defer { number += 1 }
      switch one {
      case .miss, .missById, .noMatch:
        generator.putUnknownBarcode(number, &bytes)
        keys.append(bytes, expecting: 0)
      case .relations: appendSet(number % generator.setCount, to: &keys)
      case .code, .matchCode: keys.append(Array(code(1, of: number).utf8), expecting: answer(number))
      case .search, .searchName, .sealedHit, .sealedMiss, .sealedOpen:
        preconditionFailure("\(one) has no such keys")
      case .hit, .match, .hitById, .product, .open:
        guard generator.codeKind(number) == .ean13, !generator.sharesBarcode(number) else { continue }
        if one == .hit || one == .match || one == .open {
          generator.putBarcode(number, &bytes)
        } else {
          generator.putId(number, &bytes)
        }
        keys.append(bytes, expecting: answer(number))
      }
    }
    return keys
  }

  private static func answer(_ index: Int) -> UInt64 {
    var row = ProductRow()
    generator.product(index, into: &row)
    return Touch.of(row)
  }

  private static func appendSet(_ number: Int, to keys: inout KeyList) {
    let index = generator.set(number)
    var row = RelationRow()
    var sum: UInt64 = 0
    for place in 0..<generator.componentCount(ofSet: index) {
      generator.relation(ofSet: index, place, into: &row)
      sum &+= UInt64(bitPattern: row.groupNum)
    }
    var id: [UInt8] = []
    generator.putId(index, &id)
    keys.append(id, expecting: sum)
  }
}
