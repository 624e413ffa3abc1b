import Bytes
import RandomTestSupport
import RecordFormat
import StoreTestSupport
import Testing
@testable import LogStore

/// Key spaces in which a record has any number of keys, and tables that come while a store is used.
@Suite struct KeyListSpaceTests {
  private static let table = Schema.Table(
    "notes", keySpaces: [Schema.KeySpace("id", isUnique: true), Schema.KeySpace("words", isList: true)])
  private static let id = KeySpaceID(table: 0, index: 0)
  private static let words = KeySpaceID(table: 0, index: 1)
  private static let vocabulary = (0..<12).map { number in [UInt8](repeating: UInt8(number), count: number) }

  private func put(_ id: Int, _ words: Set<[UInt8]>, in transaction: Transaction) throws {
    var draft = RecordDraft()
    draft.addKey(Array("\(id)".utf8).rawSpan)
    draft.addKeys(words.sorted { $0.lexicographicallyPrecedes($1) })
    try transaction.put(try transaction.table(Self.table), draft)
  }

  /// The ids of the rows that have `word`, as often as they are found.
  private func ids(_ word: [UInt8], _ snapshot: Snapshot) throws -> [String] {
    var ids: [String] = []
    try snapshot.forEachRecord(Self.words, word.rawSpan) { (record) throws(StoreError) in
      ids.append(String(decoding: record.key(0).copied(), as: UTF8.self))
      return true
    }
    return ids.sorted()
  }

  private func check(_ model: [Int: Set<[UInt8]>], _ snapshot: Snapshot) throws {
    #expect(snapshot.rowCount(0) == model.count)
    for word in Self.vocabulary + [[1, 2], [3, 3, 3, 3]] {
      let expected = model.filter { $0.value.contains(word) }.map { "\($0.key)" }.sorted()
      #expect(try ids(word, snapshot) == expected, "\(word)")
    }
  }

  @Test func `each row is found by each of its keys, whatever is done to it`() throws {
    var random = SeededGenerator(for: "KeyListSpaceTests, operations")
    for _ in 0..<3 * depth {
      let store = TestStore()
      var writer = try store.writer(Schema([]))
      var model: [Int: Set<[UInt8]>] = [:]
      for step in 0..<40 {
        var snapshot = try writer.commit { transaction in
          for _ in 0..<Int.random(in: 1...[3, 40].randomElement(using: &random)!, using: &random) {
            let number = Int.random(in: 0..<200, using: &random)
            // Some words are so frequent that they get a list of rows.
            let words = Set(
              (0..<Int.random(in: 0..<5, using: &random)).map { _ in
                Self.vocabulary[min(11, Int.random(in: 0..<40, using: &random))]
              })
            model[number] = words
            try put(number, words, in: transaction)
          }
        }
        try check(model, snapshot)
        if step % 13 == 12 {
          let word = Self.vocabulary[Int.random(in: 0..<12, using: &random)]
          let count = model.count { $0.value.contains(word) }
          var deleted = 0
          snapshot = try writer.commit { deleted = try $0.delete(Self.words, word.rawSpan) }
          #expect(deleted == count)
          model = model.filter { !$0.value.contains(word) }
          try check(model, snapshot)
        }
        // A writer that begins anew reads back what another one remembered.
        if step % 7 == 6 {
          writer.close()
          writer = try store.writer(Schema([]))
        }
        if step % 17 == 16, let compacted = try writer.compact() { try check(model, compacted) }
        if step == 20, let reader = try store.reader() { try check(model, reader.snapshot) }
      }
      writer.close()
      let verification = try #require(try Verification.run(store.location))
      #expect(verification.findings.isEmpty)
    }
  }

  @Test func `a repaired store finds each row by each of its keys`() throws {
    let store = TestStore()
    let writer = try store.writer(Schema([Self.table]))
    var model: [Int: Set<[UInt8]>] = [:]
    let snapshot = try writer.commit { transaction in
      for number in 0..<50 {
        model[number] = [Self.vocabulary[number % 12], Self.vocabulary[5]]
        try put(number, model[number, default: []], in: transaction)
      }
    }
    let index = try #require(snapshot.manifest.tables[0].keySpaces[1].blocks.first)
    writer.close()
    var log = store.log
    log[Int(index.offset) + 64 + 30] ^= 1
    let damaged = store.with(log: log)
    let done = try Repair.run(damaged.location, schema: Schema([Self.table]))
    let repair = try #require(done)
    #expect(!repair.findings.isEmpty && repair.losses.isEmpty)
    let repaired = try #require(repair.snapshot)
    try check(model, repaired)
  }

  @Test func `a batch of keys finds and deletes the rows that single keys do`() throws {
    var random = SeededGenerator(for: "KeyListSpaceTests, batches")
    let store = TestStore()
    let writer = try store.writer(Schema([]))
    var model: [Int: Set<[UInt8]>] = [:]
    for round in 0..<4 {
      let snapshot = try writer.commit { transaction in
        for number in (round * 20)..<(round * 20 + 30) {
          model[number] = Set((0..<3).map { _ in Self.vocabulary[Int.random(in: 0..<12, using: &random)] })
          try put(number, model[number, default: []], in: transaction)
        }
      }
      var keys = KeyBatch()
      for word in Self.vocabulary + [[1, 2]] { keys.append(word.rawSpan) }
      var found = [[String]](repeating: [], count: keys.count)
      try snapshot.forEachRecord(Self.words, of: keys) { (index, record) throws(StoreError) in
        found[index].append(String(decoding: record.key(0).copied(), as: UTF8.self))
      }
      for index in 0..<keys.count { #expect(try found[index].sorted() == ids(keys.key(index).copied(), snapshot)) }
      #expect(found.contains { $0.count > PostingList.threshold } && found.contains { $0.isEmpty })
    }
    var keys = KeyBatch()
    for word in Self.vocabulary[2..<4] { keys.append(word.rawSpan) }
    var deleted = 0
    let snapshot = try writer.commit { deleted = try $0.delete(Self.words, keys) }
    let left = model.filter { $0.value.isDisjoint(with: Self.vocabulary[2..<4]) }
    #expect(deleted == model.count - left.count && deleted > 0)
    try check(left, snapshot)
    writer.close()
  }

  @Test func `a row whose list is no list is reported`() throws {
    let store = TestStore()
    let plain = Schema([
      Schema.Table("notes", keySpaces: [Schema.KeySpace("id", isUnique: true), Schema.KeySpace("words")])
    ])
    let writer = try store.writer(plain)
    let transaction = try writer.begin()
    var draft = RecordDraft()
    let key: [UInt8] = [1]
    draft.addKey(key.rawSpan)
    let noList: [UInt8] = [9, 1]
    draft.addKey(noList.rawSpan)
    try transaction.put(0, draft)
    transaction.manifest.tables[0].keySpaces[1].isList = true
    _ = try writer.commit(transaction)
    writer.close()
    let verification = try Verification.run(store.location)
    #expect(try #require(verification).findings.contains { $0.what.contains("its words is no list of keys") })
  }

  @Test func `a manifest with a key space of lists or an ordered index has a version of its own`() {
    let lists = Schema([Self.table]).manifest
    #expect(lists.encoded()[0] == 2)
    #expect(TestSchema.plain.manifest.encoded()[0] == 1)
    #expect(TestSchema.schema.manifest.encoded()[0] == 3)
  }

  @Test func `tables come with the first row, and are found by name`() throws {
    let store = TestStore()
    let writer = try store.writer(Schema([]))
    let first = try writer.commit { _ = try $0.table(Self.table) }
    #expect(first.table(named: "notes") == 0 && first.table(named: "items") == nil)
    let second = try writer.commit { transaction in
      let items = try transaction.table(TestSchema.items)
      let notes = try transaction.table(Self.table)
      #expect(items == 1 && notes == 0)
      try transaction.put(items, TestRow("a", "1"))
    }
    #expect(second.table(named: "items") == 1 && second.rowCount(1) == 1 && first.table(named: "items") == nil)
    let changes = try second.changes(since: first)
    #expect(changes.added.map(\.count) == [0, 1])
    #expect(throws: StoreError.self) {
      try writer.commit { _ = try $0.table(Schema.Table("notes", keySpaces: [])) }
    }
    let new = try writer.compact()
    let compacted = try #require(new)
    #expect(compacted.table(named: "items") == 1 && compacted.rowCount(1) == 1)
  }

  @Test func `a repair cuts a list of keys that is none, keeps the row, and says so`() throws {
    let store = TestStore()
    let writer = try store.writer(Schema([]))
    _ = try writer.commit { transaction in
      try put(1, [[7]], in: transaction)
      // A whole key, and one that claims more than there is.
      var draft = RecordDraft()
      draft.addKey([UInt8(ascii: "2")].rawSpan)
      draft.addKey([1, 7, 5, 1].rawSpan)
      try transaction.put(0, draft)
    }
    writer.close()
    #expect(try Verification.run(store.location)?.findings.isEmpty == false)
    let repair = try #require(try Repair.run(store.location, schema: Schema([])))
    #expect(repair.losses.count == 1 && repair.losses[0].description.contains("keys of a row of notes"))
    #expect(try ids([7], #require(repair.snapshot)) == ["1", "2"])
    #expect(try Verification.run(store.location)?.findings.isEmpty == true)
  }
}
