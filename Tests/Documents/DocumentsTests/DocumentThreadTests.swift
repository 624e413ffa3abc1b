import Bytes
import DocumentFormat
import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Synchronization
import Testing
@testable import Documents

/// Threads and stores side by side on a real file.
@Suite struct DocumentThreadTests {
  private struct Account: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var balance: Int
    var owner: [String]
  }

  /// Runs `body` in so many threads at the same time, however few processors there are.
  private func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        body(number)
        group.leave()
      }
    }
    group.wait()
  }

  @Test func `transfers by many threads through two stores lose nothing, and every reader sees whole commits`() throws {
    let folder = try TemporaryDirectory()
    var options = DocumentStore.Options()
    options.lockTimeout = .seconds(60)
    options.compaction = CompactionPolicy(share: 0.5, floor: 1 << 16)
    let location = StoreLocation.test(folder.directory, name: "documents")
    let indexes: [Index<Account>] = [Index(\.owner)]
    let stores = try (0..<2).map { _ in try DocumentStore.open(location, options: options) }
    let collections = try stores.map { try $0.collection("accounts", indexes: indexes) }
    let accounts = 10
    try collections[0].insert(contentsOf: (0..<accounts).map { Account(id: $0, balance: 100, owner: ["all"]) })
    let failures = Mutex<[String]>([])
    let transfers = 25 * depth
    let writers = Atomic(2)
    let looks = Atomic(0)
    inThreads(4) { thread in
      var random = SeededGenerator(seed: UInt64(thread))
      do {
        if thread < 2 {
          defer { writers.subtract(1, ordering: .releasing) }
          let collection = collections[thread]
          for _ in 0..<transfers {
            let (from, to) = (
              Int.random(in: 0..<accounts, using: &random), Int.random(in: 0..<accounts, using: &random)
            )
            let amount = Int.random(in: 1...20, using: &random)
            try collection.store.transaction { transaction in
              try transaction.update(from, in: collection) { $0.balance -= amount }
              try transaction.update(to, in: collection) { $0.balance += amount }
            }
          }
        } else {
          let collection = collections[thread - 2]
          var last: UInt64 = 0
          while writers.load(ordering: .acquiring) > 0 {
            let snapshot = try collection.store.snapshot()
            guard snapshot.sequence >= last else { throw Oddity("a reader went back") }
            last = snapshot.sequence
            let all = try collection.query().results(in: snapshot).map { try $0.get() }
            let found = try collection.query(.contains(\.owner, "all")).results(in: snapshot).map { try $0.get() }
            guard all.count == accounts, all.reduce(0, { $0 + $1.balance }) == 100 * accounts else {
              throw Oddity("half a transfer: \(all)")
            }
            guard found.map(\.id).sorted() == Array(0..<accounts) else { throw Oddity("the index finds \(found)") }
            looks.add(1, ordering: .relaxed)
          }
        }
      } catch { failures.withLock { $0.append("\(error)") } }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(looks.load(ordering: .relaxed) > 1)
    for collection in collections {
      #expect(try collection.query().fetch().reduce(0) { $0 + $1.balance } == 100 * accounts)
      #expect(try DocumentContents(collection.store.snapshot()).documents["accounts"]?.count == accounts)
    }
    let before = try stores[0].snapshot().sequence
    print("DocumentThreadTests: \(before) commits, \(looks.load(ordering: .relaxed)) looks")
    #expect(try Verification.run(location)?.findings.isEmpty == true)
  }

  @Test func `threads that share one store write one after another`() throws {
    let folder = try TemporaryDirectory()
    let store = try DocumentStore.open(StoreLocation.test(folder.directory, name: "documents"))
    let collection = try store.collection("counters", of: Account.self)
    try collection.insert(Account(id: 0, balance: 0, owner: []))
    let failures = Mutex<[String]>([])
    inThreads(4) { thread in
      do {
        for number in 0..<10 {
          try collection.update(0) { $0.balance += 1 }
          try collection.insert(Account(id: 1000 * (thread + 1) + number, balance: 0, owner: []))
          _ = try collection.get(1000 * (thread + 1) + number)
        }
      } catch { failures.withLock { $0.append("\(error)") } }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try collection.get(0)?.balance == 40)
    #expect(try collection.count() == 41)
  }
}
