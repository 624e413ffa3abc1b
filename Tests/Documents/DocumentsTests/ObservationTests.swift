import DocumentFormat
import LogStore
import StoreTestSupport
import Testing

@testable import Documents

@Suite(.timeLimit(.minutes(10))) struct ObservationTests {
  private func options() -> DocumentStore.Options {
    var options = DocumentStore.Options()
    options.pollInterval = .milliseconds(5)
    return options
  }

  @Test func `changes come in their order, each once, and several that nobody waited for as one`() async throws {
    let store = try TestDocuments().store(options())
    let members = try store.collection("members", indexes: Member.indexes)
    let others = try store.collection("others", of: Member.self)
    var changes = members.changes.makeAsyncIterator()
    try members.insert(Member(1))
    #expect(try await changes.next() == .changed(upserted: [1], deleted: []))
    try members.insert(Member(2))
    #expect(try await changes.next() == .changed(upserted: [2], deleted: []))
    try members.update(1) { $0.user.age = 5 }
    #expect(try await changes.next() == .changed(upserted: [1], deleted: []))
    try members.delete(2)
    #expect(try await changes.next() == .changed(upserted: [], deleted: [2]))
    // Another collection's commit is none; neither is one that takes back what the one before did.
    try others.insert(Member(9))
    try members.insert(Member(3))
    try members.insert(Member(4))
    try members.update(3) { $0.user.age = 1 }
    try members.delete(4)
    try members.delete(1)
    #expect(try await changes.next() == .changed(upserted: [3], deleted: [1]))
    try members.insert(Member(5))
    try members.delete(5)
    try members.insert(contentsOf: [Member(7), Member(6)])
    #expect(try await changes.next() == .changed(upserted: [7, 6], deleted: []))
    try members.delete(6)
    try store.compact()
    try members.insert(Member(8))
    #expect(try await changes.next() == .everything)
  }

  @Test func `the first commit of a store is reported`() async throws {
    let members = try TestDocuments().store(options()).collection("members", of: Member.self)
    var changes = members.changes.makeAsyncIterator()
    try members.insert(Member(1))
    #expect(try await changes.next() == .everything)
    try members.insert(Member(2))
    #expect(try await changes.next() == .changed(upserted: [2], deleted: []))
  }

  @Test func `a new index, and a row written again with the same content, are no change`() async throws {
    let store = try TestDocuments().store(options())
    var members = try store.collection("members", of: Member.self)
    try members.insert(contentsOf: (0..<20).map { Member($0) })
    var changes = members.changes.makeAsyncIterator()
    members = try store.collection("members", indexes: Member.indexes)
    try members.upsert(Member(3))
    try members.insert(Member(20))
    #expect(try await changes.next() == .changed(upserted: [20], deleted: []))
  }

  @Test func `commits of another store on the same file are reported too, in order`() async throws {
    let documents = TestDocuments()
    let mine = try documents.store(options()).collection("members", indexes: Member.indexes)
    let theirs = try documents.store().collection("members", indexes: Member.indexes)
    try theirs.insert(Member(0))
    #expect(try mine.get(0) != nil)
    var changes = mine.changes.makeAsyncIterator()
    for id in 1..<6 {
      try theirs.insert(Member(id))
      #expect(try await changes.next() == .changed(upserted: [id], deleted: []))
    }
    try theirs.deleteAll()
    #expect(try await changes.next() == .changed(upserted: [], deleted: Array(0..<6)))
  }

  @Test func `values are the results now, and again after each commit that touches the collection`() async throws {
    let documents = TestDocuments()
    let store = try documents.store(options())
    let members = try store.collection("members", indexes: Member.indexes)
    try members.insert(contentsOf: (0..<10).map { Member($0) })
    var values = members.query(\.user.status.isOnline == true).order(by: \.id).values.makeAsyncIterator()
    func ids(_ results: QueryResults<Member>?) throws -> [Int]? { try results?.map { try $0.get().id } }
    #expect(try ids(await values.next()) == [0, 3, 6, 9])
    try members.update(3) { $0.user.status.isOnline = false }
    #expect(try ids(await values.next()) == [0, 6, 9])
    try documents.store().collection("members", indexes: Member.indexes).insert(Member(12))
    #expect(try ids(await values.next()) == [0, 6, 9, 12])
    try store.collection("others", of: Member.self).insert(Member(1))
    try members.deleteAll()
    #expect(try ids(await values.next()) == [])
  }

  @Test func `an observer whose task is cancelled ends, and others go on`() async throws {
    let store = try TestDocuments().store(options())
    let members = try store.collection("members", of: Member.self)
    try members.insert(Member(0))
    var other = members.changes.makeAsyncIterator()
    let task = Task {
      var seen = 0
      for try await _ in members.changes { seen += 1 }
      return seen
    }
    task.cancel()
    _ = try await task.value
    try members.insert(Member(1))
    #expect(try await other.next() == .changed(upserted: [1], deleted: []))
  }
}
