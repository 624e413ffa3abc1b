import Bytes
import DocumentFormat
import LogStore
import RandomTestSupport
import Storage
import StoreTestSupport
import Testing
@testable import Documents

/// Rot anywhere in `documents.log`: an error or the right content, never anything else.
@Suite struct DocumentDamageTests {
  private let documents = TestDocuments()
  private let all: [Member]

  init() throws {
    let store = try documents.store(version: 2)
    let members = try store.collection("members", indexes: Member.indexes)
    try members.insert(contentsOf: (0..<6).map { Member($0) })
    try members.update(2) { $0.user.name = "changed" }
    try members.delete(5)
    all = try members.query().order(by: \.id).fetch()
  }

  /// Asks everything. Returns how many questions ended in an error.
  private func ask(_ damaged: TestDocuments, _ note: String) throws -> Int {
    var refused = 0
    func expect<Answer: Equatable>(_ right: Answer, _ what: String, _ question: () throws -> Answer) throws {
      do {
        let answer = try question()
        if answer != right { throw Oddity("\(note), \(what): \(answer)") }
      } catch let oddity as Oddity {
        throw oddity
      } catch {
        guard error is StoreError || error is DocumentStoreError else { throw Oddity("\(note), \(what): \(error)") }
        guard "\(error)".contains("documents.log") || "\(error)".contains("members") else {
          throw Oddity("\(note), \(what) names nothing: \(error)")
        }
        refused += 1
      }
    }
    var opened: DocumentStore?
    try expect(true, "open") {
      opened = try damaged.inspect()
      return true
    }
    guard let store = opened else { return refused }
    let snapshot = try store.snapshot()
    try expect(2, "version") { snapshot.schemaVersion }
    let members = DocumentCollection<Member>(store, try DocumentTable("members"), [])
    try expect(5, "count") { try members.count() }
    for member in all { try expect(member, "get \(member.id)") { try members.get(member.id) } }
    for id in [5, 99] { try expect(nil, "get \(id)") { try members.get(id) } }
    let questions: [(Where<Member>, (Member) -> Bool)] = [
      (\.user.friendRelation?.remarkName == "remark 2", { $0.user.friendRelation?.remarkName == "remark 2" }),
      (.hasPrefix(\.user.friendRelation?.remarkName, "rem"), { $0.user.friendRelation != nil }),
      (\.user.status.isOnline == true, { $0.user.status.isOnline }), (.contains(\.user.tags, "t1"), { $0.id % 3 == 1 }),
      (\.user.age >= 1, { $0.user.age >= 1 }),
    ]
    for (number, (filter, holds)) in questions.enumerated() {
      try expect(all.filter(holds), "query \(number)") {
        try members.query(filter).order(by: \.id).fetch()
      }
    }
    try expect(true, "verify") { try snapshot.verify().isEmpty }
    return refused
  }

  @Test func `a changed byte anywhere gives an error or the right content, and never a trap`() throws {
    let log = documents.bytes
    var tried = 0
    var refused = 0
    for offset in log.indices {
      let isInside = offset > 8 && offset + 8 < log.count && log[(offset - 8)...(offset + 8)].allSatisfy { $0 == 0 }
      if depth == 1, isInside ? offset % 509 != 0 : offset % 5 != 0 { continue }
      var changed = log
      changed[offset] ^= [0x01, 0x80, 0xFF][offset % 3]
      tried += 1
      if try ask(documents.with(changed), "byte \(offset)") > 0 { refused += 1 }
    }
    #expect(try ask(documents, "whole") == 0)
    print("DocumentDamageTests: \(tried) changed bytes, \(refused) of them seen")
    #expect(refused > tried / 4)
  }

  @Test func `several changed bytes, lost pages and a file that is cut give nothing wrong either`() throws {
    var random = SeededGenerator(for: "DocumentDamageTests")
    let log = documents.bytes
    let interesting = log.indices.filter { log[$0] != 0 }
    for round in 0..<(60 * depth) {
      var changed = log
      switch round % 4 {
      case 0:
        let start = Int.random(in: 0..<log.count / 4096, using: &random) * 4096
        for offset in start..<start + 4096 { changed[offset] = 0 }
      case 1: changed.removeLast(Int.random(in: 1..<log.count, using: &random))
      default:
        for _ in 0..<Int.random(in: 2...6, using: &random) {
          changed[interesting.randomElement(using: &random)!] ^= UInt8.random(in: 1...255, using: &random)
        }
      }
      let damaged = documents.with(changed)
      do { _ = try ask(damaged, "round \(round)") } catch let oddity as Oddity {
        // Without both slots an earlier commit is all that can be known, and a file of zero bytes is none.
        guard (try? damaged.inspect().snapshot().sequence).map({ $0 < 4 }) == true else { throw oddity }
      }
    }
  }

  /// Rows that a wrong program wrote, under checksums that hold.
  private func write(_ id: [UInt8], _ document: [UInt8], keys: [[UInt8]]) throws {
    let writer = try StoreWriter(documents.location, schema: Schema([]))
    defer { writer.close() }
    _ = try writer.commit { transaction in
      var draft = RecordDraft()
      draft.addKey(id.rawSpan)
      draft.addKeys(keys)
      draft.body = document
      try transaction.put(transaction.table(DocumentTable("members").schema([])), draft)
    }
  }

  @Test func `verification tells documents that are none, and keys that are not theirs`() throws {
    #expect(try documents.inspect().snapshot().verify().isEmpty)
    let good = try DocumentEncoder().encode(Member(9))
    let key = try DocumentTable.key(9)
    let members = try DocumentTable("members")
    let declared = try documents.inspect().snapshot().indexes(of: members)
    let keys = try members.keys(of: good, key, declared)
    func findings() throws -> [String] { try documents.inspect().snapshot().verify().map(\.description) }
    try write(key, good, keys: keys)
    #expect(try findings() == [])
    try write(key, good, keys: Array(keys.dropFirst()))
    #expect(try findings().count == 1 && findings()[0].contains("1 keys of its indexes are missing, and 0"))
    #expect(try findings()[0].contains("document 9"))
    // An index that never was, and what is no key.
    for stranger in [[200, 0, 7, 65], [1], [0, 0] + (try #require(IndexKey(.bool(true)))).bytes] {
      try write(key, good, keys: keys + [stranger])
      #expect(try findings().count == 1 && findings()[0].contains("0 keys of its indexes are missing, and 1"))
    }
    try write(key, Array(good.dropLast()), keys: keys)
    #expect(try findings().count == 1 && findings()[0].contains("lost: the document"))
    #expect(throws: DocumentStoreError.self) {
      try documents.store(version: 2).collection("members", of: Member.self).get(9)
    }
    try write(key, good, keys: keys)
    try write([0xFF, 0xFF], good, keys: keys)
    #expect(try findings().count == 1 && findings()[0].contains("its id"))
    // A removed index leaves keys behind, which are nobody's business.
    let other = TestDocuments()
    try other.store().collection("members", indexes: Member.indexes).insert(Member(1))
    try other.store().collection("members", of: Member.self).insert(Member(2))
    #expect(try other.inspect().snapshot().verify().isEmpty)
  }

  @Test func `a repair keeps what can be read, whole commits first, and indexes are filled anew`() throws {
    let contents = try documents.contents()
    let log = documents.bytes
    #expect(try DocumentStore.repair(documents.location)?.damagedPath == nil)
    #expect(documents.bytes == log)
    #expect(try DocumentStore.repair(TestDocuments().location) == nil)
    var kept = 0
    for offset in stride(from: 0, to: log.count, by: depth == 1 ? 211 : 13) where log[offset] != 0 {
      var changed = log
      changed[offset] ^= 0x55
      let damaged = documents.with(changed)
      guard let repair = try DocumentStore.repair(damaged.location) else { throw Oddity("no store") }
      let found = try damaged.contents()
      #expect(try Verification.run(damaged.location)?.findings.isEmpty == true)
      let right = contents.documents["members"]!
      let isWhole = found.documents == contents.documents
      #expect(isWhole || !repair.losses.isEmpty, "byte \(offset): a loss is not reported")
      if repair.losses.isEmpty {
        #expect(found == contents, "byte \(offset)")
        kept += 1
      } else {
        #expect(found.indexes.isEmpty)
        for (id, bytes) in found.documents["members"] ?? [:] where right[id] != bytes {
          // What was deleted or replaced may come back where nobody can tell, and then it is reported.
          #expect(!repair.losses.isEmpty, "byte \(offset)")
        }
      }
      // Whoever knows the type declares the indexes again, and they find what is there.
      let members = try damaged.store(version: found.schemaVersion).collection("members", indexes: Member.indexes)
      #expect(try damaged.contents().documents == found.documents)
      #expect(
        try members.query(\.user.status.isOnline == true).count()
          == members.query().fetch().count { $0.user.status.isOnline })
    }
    #expect(kept > 5)
  }
}
