import DocumentFormat
import LogStore
import StoreTestSupport
import Testing

@testable import Documents

/// Collections that are large enough for several threads: they find and change what one thread does.
@Suite struct ThreadedQueryTests {
  private struct Item: Codable, Identifiable, Equatable {
    let id: Int
    var number: Int
    var mark: String?
  }

  private static let count = Threads.scannedCount + 500

  private let traces = Traces()
  private let store: DocumentStore
  private let items: DocumentCollection<Item>

  /// A document whose `number` is the ID's remainder, and whose bytes are made by hand: an encoder would take seconds.
  private static func document(_ id: Int, number: [UInt8]? = nil) -> EncodedDocument {
    let key = DocumentValue.integer(Int64(id)).documentBytes
    let number = number ?? DocumentValue.integer(Int64(id % 100)).documentBytes
    return EncodedDocument(
      key: key, bytes: [0xA2, 0x62] + "id".utf8 + key + [0x66] + Array("number".utf8) + number)
  }

  init() throws {
    var options = DocumentStore.Options()
    options.trace = Tracer { [traces] in traces.add($0) }
    store = try TestDocuments().store(options)
    items = try store.collection("items")
    try untyped.put(contentsOf: (0..<Self.count).lazy.map { Self.document($0) })
    // Rows that died, and rows in another segment, which come last.
    try untyped.put(contentsOf: stride(from: 3, to: Self.count, by: 1000).lazy.map { Self.document($0) })
  }

  private var untyped: UntypedCollection { get throws { try store.untypedCollection("items") } }

  @Test func `a scan by several threads finds what one thread finds, in the same order, and counts it`() throws {
    for number in [3, 50] {
      let ids = try items.query(\.number == number).fetch().map(\.id)
      #expect(traces.last?.documentsRead == Self.count)
      // With a limit one thread scans.
      #expect(try items.query(\.number == number).limit(Self.count).fetch().map(\.id) == ids)
      #expect(ids.sorted() == Array(stride(from: number, to: Self.count, by: 100)))
      #expect(try items.query(\.number == number).offset(2).count() == ids.count - 2)
      #expect(traces.last?.documentsRead == Self.count)
      #expect(try items.query(\.number == number).offset(2).fetch().map(\.id) == Array(ids.dropFirst(2)))
    }
    #expect(try items.query(\.number == 100).count() == 0)
    try store.transaction { transaction in
      try transaction.insert(Item(id: -1, number: 50), into: items)
      #expect(try transaction.count(items.query(\.number == 50)) == items.query(\.number == 50).count() + 1)
    }
  }

  @Test func `the first document in the file that cannot be read is the one that is reported`() throws {
    // No field can begin with a break.
    try untyped.put(contentsOf: [70_000, 20_000, 90_000].map { Self.document($0, number: [0xFF]) })
    for limit in [Int.max, Self.count] {
      let error = #expect(throws: DocumentStoreError.self) {
        let query = items.query(\.number == 1)
        _ = try limit == .max ? query.fetch() : query.limit(limit).fetch()
      }
      guard case .document(_, let id, _) = error else { throw Oddity("\(limit): \(String(describing: error))") }
      #expect(id == "70000")
    }
  }

  @Test func `a field is assigned in more documents than a batch has, and nothing else changes`() throws {
    let condition: Where<Item> = \.number < 6
    let sequence = try store.snapshot().sequence
    let count = try items.query(condition).count()
    #expect(count > Threads.batchCount)
    #expect(try items.query(condition).update(set: [\.mark: "new"]) == count)
    #expect(try store.snapshot().sequence == sequence + 1)
    #expect(try items.query(\.mark == "new").count() == count && items.count() == Self.count)
    #expect(try items.get(4) == Item(id: 4, number: 4, mark: "new") && items.get(6) == Item(id: 6, number: 6))
    #expect(try items.query(\.number < 7).update(set: [\.mark: "new"]) == Self.count / 100, "the others have it")
    #expect(try items.query(\.number < 6).delete() == count)
    #expect(try items.count() == Self.count - count)
    #expect(try store.snapshot().verify().isEmpty)
  }

  @Test func `a document that can no longer be decoded undoes the changes of all threads`() throws {
    // Its type wants a number, so it cannot be decoded, and it is found.
    let text = DocumentValue.text("three").documentBytes
    try untyped.put(contentsOf: [99_999, 60_000].map { Self.document($0, number: text) })
    let sequence = try store.snapshot().sequence
    let error = #expect(throws: DocumentStoreError.self) {
      try items.query(!(\.number >= 6)).update(set: [\.mark: "new"])
    }
    guard case .document(_, let id, _) = error else { throw Oddity("\(String(describing: error))") }
    #expect(id == "99999")
    #expect(try store.snapshot().sequence == sequence && items.query(\.mark == "new").count() == 0)
  }
}
