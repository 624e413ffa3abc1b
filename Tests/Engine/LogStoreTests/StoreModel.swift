import LogStore
import RandomTestSupport
import StoreTestSupport

/// What a store should hold, as plain collections; and random changes to both.
struct StoreModel {
  /// Items by id.
  private(set) var items: [String: TestRow] = [:]
  private(set) var links: [TestRow] = []
  private(set) var state: [UInt8] = []
  private(set) var sequence: UInt64 = 0
  /// Ids are numbers below this.
  var idLimit = 400
  private let brands = ["", "Gree", "Midea", "海尔", String(repeating: "long ", count: 30)]

  var contents: StoreContents {
    var contents = StoreContents()
    contents.sequence = sequence
    contents.state = state
    contents.tables = [items.values.sorted(), links.sorted()]
    return contents
  }

  /// The same rows and state as another commit, after a rollback or a compaction.
  func again(as sequence: UInt64) -> StoreModel {
    var copy = self
    copy.sequence = sequence
    return copy
  }

  /// What a repair left.
  func keeping(_ contents: StoreContents) -> StoreModel {
    var copy = self
    copy.items = [:]
    for row in contents.tables[0] { copy.items[String(decoding: row.keys[0], as: UTF8.self)] = row }
    copy.links = contents.tables[1]
    copy.state = contents.state
    copy.sequence = contents.sequence
    return copy
  }

  /// Fills a transaction at random, and becomes what its commit should be.
  mutating func change(
    _ transaction: Transaction, rows: Int, _ random: inout SeededGenerator
  ) throws(StoreError) {
    if transaction.base == nil {
      items = [:]
      links = []
    }
    let before = items
    let linksBefore = links
    // Deletions act on what was there before, puts on unique keys win over them.
    var deadLinks: Set<TestRow> = []
    var put: [String: TestRow] = [:]
    var newLinks: [TestRow] = []
    var removed: Set<String> = []
    for _ in 0..<rows {
      let number = Int.random(in: 0..<idLimit, using: &random)
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<10:
        let row = item(number, &random)
        try transaction.put(0, row)
        put["\(number)"] = row
      case 10..<14:
        let row = link(&random)
        try transaction.put(1, row)
        newLinks.append(row)
      case 14..<16:
        try transaction.delete(TestSchema.id, "\(number)")
        removed.insert("\(number)")
      case 16:
        let code = code(number, &random)
        try transaction.delete(TestSchema.code, code)
        guard !code.isEmpty else { continue }
        for (id, row) in before where row.keys[1] == Array(code.utf8) { removed.insert(id) }
      default:
        let space = Bool.random(using: &random) ? TestSchema.from : TestSchema.to
        let row = link(&random)
        try transaction.delete(space, String(decoding: row.keys[space.index], as: UTF8.self))
        for link in linksBefore where link.keys[space.index] == row.keys[space.index] {
          deadLinks.insert(link)
        }
      }
    }
    for id in removed { items[id] = nil }
    for (id, row) in put { items[id] = row }
    links.removeAll(where: deadLinks.contains)
    links += newLinks
    state = random.bytes(Int.random(in: 0...9, using: &random))
    transaction.state = state
    sequence += 1
  }

  private func item(_ number: Int, _ random: inout SeededGenerator) -> TestRow {
    let shared = (0..<Int.random(in: 0...3, using: &random)).map { _ in brands.randomElement(using: &random)!
    }
    let body = String(repeating: "b", count: Int.random(in: 0...60, using: &random))
    return TestRow("\(number)", code(number, &random), shared: shared, body: body + "\(random.next() % 1000)")
  }

  /// Most codes belong to few rows, some to many, and some rows have none.
  private func code(_ number: Int, _ random: inout SeededGenerator) -> String {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: ""
    case 1: "everyone"
    case 2: "some\(Int.random(in: 0..<5, using: &random))"
    default: "code\(number / 2)"
    }
  }

  private func link(_ random: inout SeededGenerator) -> TestRow {
    // Keys and bodies of different lengths, the empty ones included.
    let from = Int.random(in: 0..<60, using: &random)
    let to = Int.random(in: 0..<8, using: &random)
    return TestRow(
      from == 0 ? "" : String(repeating: "f", count: from % 30) + "\(from)", to == 0 ? "" : "to\(to)",
      body: "\(random.next())")
  }
}
