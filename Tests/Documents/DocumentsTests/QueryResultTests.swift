import DocumentFormat
import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Documents

@Suite struct QueryResultTests {
  private func members(_ count: Int = 200) throws -> (collection: DocumentCollection<Member>, all: [Member]) {
    var random = SeededGenerator(for: "QueryResultTests")
    let all = (0..<count).map { Member($0, &random) }
    let collection = try TestDocuments().store().collection("members", indexes: Member.indexes)
    try collection.insert(contentsOf: all)
    return (collection, all)
  }

  /// The order of index keys in `Documentation/Format/Documents.md`: null first, texts by their bytes.
  private func precedes(_ a: String?, _ b: String?) -> Bool? {
    let (a, b) = (a.map { Array($0.utf8) }, b.map { Array($0.utf8) })
    if a == b { return nil }
    guard let a else { return true }
    guard let b else { return false }
    return a.lexicographicallyPrecedes(b)
  }

  @Test func `an order by several paths decides by the first that differs, each in its direction`() throws {
    let (members, all) = try members()
    let expected = all.sorted { a, b in
      if let first = precedes(a.user.friendRelation?.remarkName, b.user.friendRelation?.remarkName) { return first }
      if a.user.status.isOnline != b.user.status.isOnline { return a.user.status.isOnline }
      if a.user.age != b.user.age { return a.user.age < b.user.age }
      return a.id > b.id
    }
    let query = members.query().order(by: \.user.friendRelation?.remarkName)
      .order(by: \.user.status.isOnline, descending: true).order(by: \.user.age).order(by: \.id, descending: true)
    #expect(try query.fetch() == expected)
    for (offset, limit) in [(0, 10), (5, 1), (190, 50), (200, 3), (500, 3), (0, 0), (7, 0), (.max, .max), (3, .max)] {
      let window = Array(expected.dropFirst(offset).prefix(limit))
      #expect(try query.offset(offset).limit(limit).fetch() == window, "\(offset), \(limit)")
      #expect(try query.offset(offset).limit(limit).count() == window.count)
      #expect(try query.offset(offset).limit(limit).first() == window.first)
    }
    #expect(try query.offset(20).fetch() == Array(expected.dropFirst(20)))
    #expect(try query.first() == expected.first)
  }

  @Test func `without an order limit and offset cut a sequence that stays the same`() throws {
    let (members, all) = try members()
    for filter in [Where<Member>(.always), \.user.status.isOnline == true, .contains(\.user.tags, "x")] {
      let whole = try members.query(filter).fetch()
      #expect(!whole.isEmpty && Set(whole.map(\.id)).count == whole.count)
      for (offset, limit) in [
        (0, 3), (0, 0), (2, 0), (5, 7), (whole.count - 1, 5), (whole.count, 1), (.max, 1), (1, .max),
      ] {
        let window = Array(whole.dropFirst(offset).prefix(limit))
        #expect(try members.query(filter).offset(offset).limit(limit).fetch() == window, "\(offset), \(limit)")
        #expect(try members.query(filter).offset(offset).limit(limit).count() == window.count, "\(offset), \(limit)")
      }
      #expect(try members.query(filter).first() == whole.first)
      #expect(try members.query(filter).limit(0).first() == nil)
    }
    #expect(try members.query().fetch() == all)
  }

  @Test func `distinct values come once each, in the order of the documents`() throws {
    let (members, all) = try members()
    var seen: Set<String?> = []
    let expected = all.reversed().map(\.user.friendRelation?.remarkName).filter { seen.insert($0).inserted }
    #expect(expected.count > 5)
    #expect(
      try members.query().order(by: \.id, descending: true).distinct(\.user.friendRelation?.remarkName) == expected)
    #expect(try Set(members.query().distinct(\.user.role)) == Set(Member.Role.allCases))
  }

  @Test func `explain names the index, or says that all is read`() throws {
    let (members, _) = try members()
    let plans: [(Where<Member>, String)] = [
      (\.user.friendRelation?.remarkName == "a", "index on user.friendRelation.remarkName (1 key, by value)"),
      (
        .hasPrefix(\.user.friendRelation?.remarkName, "ann"),
        "index on user.friendRelation.remarkName (1 key, by prefix)"
      ),
      (\.user.age > 3, "scan all documents"),
      (\.user.age > 3 && .in(\.user.gender, [.male, .female]), "index on user.gender (2 keys, by value)"),
      (\.user.age > 3 || \.user.status.isOnline == true, "scan all documents"),
      (
        \.user.gender == Gender.male || .contains(\.user.tags, "x"),
        "index on user.gender (1 key, by value) and index on user.tags (1 key, by value)"
      ),
      (!(\.user.status.isOnline == true), "scan all documents"),
      (.in(\.user.gender, [Gender]()), "nothing: no document can match"),
    ]
    for (filter, text) in plans { #expect(try members.query(filter).explain().description == text) }
  }

  @Test func `a query over a snapshot stays what it was while writers commit, compact and delete`() throws {
    let (members, all) = try members()
    let snapshot = try members.store.snapshot()
    let query = members.query(\.user.status.isOnline == true).order(by: \.id)
    let results = try query.results(in: snapshot)
    let expected = all.filter(\.user.status.isOnline)
    for step in 0..<6 {
      switch step {
      case 0: try members.update(expected[0].id) { $0.user.status.isOnline = false }
      case 1: try members.delete(expected[1].id)
      case 2: try members.store.compact()
      case 3: try members.deleteAll()
      case 4: try members.insert(contentsOf: (1000..<1100).map { Member($0) })
      default: try members.store.compact()
      }
      #expect(try results.map { try $0.get() } == expected, "step \(step)")
      #expect(try query.results(in: snapshot).map { try $0.get() } == expected, "step \(step)")
      #expect(try members.get(expected[1].id, in: snapshot) == expected[1])
      #expect(try DocumentContents(snapshot).documents["members"]?.count == all.count)
    }
    #expect(try query.fetch() == (1000..<1100).map { Member($0) }.filter(\.user.status.isOnline))
  }

  @Test func `each operation tells the tracer what it did and read`() throws {
    let traces = Traces()
    var options = DocumentStore.Options()
    options.trace = Tracer { traces.add($0) }
    let store = try TestDocuments().store(options)
    let members = try store.collection("members", indexes: Member.indexes)
    try members.insert(contentsOf: (0..<30).map { Member($0) })
    #expect(try members.get(3) != nil && members.get(99) == nil)
    _ = try members.query(\.user.gender == Gender.male).fetch()
    _ = try members.query(\.user.age > 10).count()
    try members.update(3) { $0.user.age = 3 }
    try members.delete(3)
    try members.deleteAll()
    let reported = traces.all
    #expect(
      reported.map(\.operation) == [.reindex, .insert, .get, .get, .query, .count, .update, .delete, .deleteAll])
    #expect(reported.map(\.documentsRead) == [0, 0, 1, 0, 8, 30, 1, 0, 0])
    #expect(reported.map(\.documentsAffected) == [0, 30, 0, 0, 8, 19, 1, 1, 29])
    #expect(reported.map { $0.plan == nil } == [true, true, true, true, false, false, true, true, true])
    #expect(reported.allSatisfy { $0.collection == "members" && $0.duration >= .zero })
  }
}
