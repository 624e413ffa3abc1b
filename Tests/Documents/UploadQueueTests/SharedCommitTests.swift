import Documents
import LogStore
import StoreTestSupport
import Synchronization
import Testing

@testable import UploadQueue

/// `UploadQueue.commit`: changes of documents and uploads that share commits.
@Suite struct SharedCommitTests {
  private struct Note: Codable, Sendable, Identifiable, Equatable {
    var id: Int
  }
  private struct Stop: Error {}

  @Test func `documents and uploads of several callers are one commit, in order; what throws is taken back alone`()
    async throws
  {
    let bench = try Bench()
    let (queue, store) = (bench.queue, bench.queue.store)
    let notes = try store.collection("notes", of: Note.self)
    let before = try store.snapshot().sequence
    let results = await queue.commit(
      (0..<10).map { number in
        { (transaction: DocumentTransaction) in
          try transaction.insert(Note(id: number), into: notes)
          try queue.enqueue("\(number)", kind: "k", orderKey: "x", in: transaction)
          if number % 3 == 0 { throw Stop() }
          return number
        }
      })
    #expect(results.map { try? $0.get() } == (0..<10).map { $0 % 3 == 0 ? nil : $0 })
    for (number, result) in results.enumerated() where number % 3 == 0 {
      #expect(throws: Stop.self) { try result.get() }
    }
    #expect(try store.snapshot().sequence == before + 1)
    let kept = [1, 2, 4, 5, 7, 8]
    #expect(try notes.query().order(by: \.id).fetch().map(\.id) == kept)
    #expect(try queue.uploads().map { try $0.decode(String.self) } == kept.map(String.init))
    #expect(try queue.counts().waiting == 6 && queue.counts().enqueued == 6)
    try checkInvariants(queue)
  }

  @Test func `a queue that is full refuses the one that is too many, with all that it changed`() async throws {
    var options = QueueOptions()
    options.maximumCount = 2
    let bench = try Bench(options: options)
    let queue = bench.queue
    let notes = try queue.store.collection("notes", of: Note.self)
    let results = await queue.commit(
      (0..<4).map { number in
        { (transaction: DocumentTransaction) in
          try transaction.insert(Note(id: number), into: notes)
          if number != 3 { try queue.enqueue("\(number)", kind: "k", in: transaction) }
        }
      })
    #expect(results.map { (try? $0.get()) != nil } == [true, true, false, true])
    #expect(try notes.query().order(by: \.id).fetch().map(\.id) == [0, 1, 3])
    #expect(try queue.counts().waiting == 2)
    try checkInvariants(queue)
  }

  @Test func `callers share commits with those who enqueue`() async throws {
    let bench = try Bench()
    let queue = bench.queue
    let notes = try queue.store.collection("notes", of: Note.self)
    let before = try queue.store.snapshot().sequence
    try await withThrowingTaskGroup { group in
      for number in 0..<200 {
        group.addTask {
          if number.isMultiple(of: 2) {
            try await queue.enqueue("\(number)", kind: "k")
          } else {
            try await queue.commit { try $0.insert(Note(id: number), into: notes) }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try notes.count() == 100 && queue.counts().waiting == 100)
    #expect(try queue.store.snapshot().sequence - before < 200)
    try checkInvariants(queue)
  }

  private struct Text: Codable, Sendable, Identifiable {
    var id: Int
    var text: String
  }

  @Test(.disabled(if: testsAreSealed, "it looks for a row in clear"))
  func `a change that damage makes impossible fails alone, though it fails with its whole transaction`()
    async throws
  {
    let first = try Bench()
    try first.documents.collection("texts", of: Text.self).insert(Text(id: 1, text: "what rots"))
    var bytes = try #require(first.device.contents("documents.log"))
    let index = try #require(bytes.firstRange(of: Array("rots".utf8))).lowerBound
    bytes[index] ^= 1
    first.device.place(bytes, as: "documents.log")
    let bench = try Bench(first.device)
    let texts = try bench.documents.collection("texts", of: Text.self)
    let notes = try bench.documents.collection("notes", of: Note.self)
    let results = await bench.queue.commit(
      (0..<4).map { number in
        { (transaction: DocumentTransaction) in
          // The rows are looked for when the transaction ends.
          if number == 2 { _ = try transaction.deleteAll(from: texts) }
          try transaction.insert(Note(id: number), into: notes)
        }
      })
    #expect(results.map { (try? $0.get()) != nil } == [true, true, false, true])
    #expect(throws: StoreError.self) { try results[2].get() }
    #expect(try [0, 1, 2, 3].map { try notes.get($0) != nil } == [true, true, false, true])
  }
}
