import Catalog
import Documents
import Foundation
import LogStore
import RandomTestSupport
import Synchronization
import Testing

@testable import Workspace

/// Many threads that read while users are switched.
@Suite(.timeLimit(.minutes(10))) struct SwitchTests {
  @Test func `every reader sees the data of one user only, while another thread switches 200 times`() throws {
    let root = TemporaryRoot()
    let workspace = try root.open()
    let ids = ["ana", "bob", "carol"]
    for id in ids {
      try root.fill(id, 300)
      try workspace.signIn(id)
      try workspace.stores().settings.set(.owner, to: id)
      let carts = try workspace.stores().documents().collection("carts", of: Cart.self)
      try carts.insert(contentsOf: (0..<20).map { Cart(id: $0, owner: id) })
    }
    let tally = Tally()
    let threads = DispatchGroup()
    for number in 0..<8 {
      threads.enter()
      let thread = Thread {
        while !tally.isDone.load(ordering: .acquiring) {
          do {
            let stores = try workspace.stores()
            let id = try #require(stores.user)
            var owners: Set<String> = []
            let catalogue = try stores.catalogue()
            for product in 0..<5 {
              owners.insert(try #require(try catalogue.product(id: "\(product * 50)")).name)
            }
            owners.insert(try stores.settings.get(.owner))
            let carts = try stores.documents().collection("carts", of: Cart.self)
            for cart in try carts.query().limit(5).fetch() { owners.insert(cart.owner) }
            // A snapshot outlives the switch.
            owners.insert(try #require(try catalogue.product(id: "299")).name)
            if owners != [id] { tally.faults.withLock { $0.append("thread \(number): \(owners) as \(id)") } }
            tally.reads.add(1, ordering: .relaxed)
            _ = tally.seen.withLock { $0.insert(id) }
          } catch  where isClosed(error) {
            tally.closed.add(1, ordering: .relaxed)
          } catch {
            tally.faults.withLock { $0.append("thread \(number): \(error)") }
            break
          }
        }
        threads.leave()
      }
      thread.stackSize = 4 << 20
      thread.start()
    }
    defer {
      tally.isDone.store(true, ordering: .releasing)
      threads.wait()
    }
    for number in 0..<(200 * depth) {
      let id = ids[(number + 1) % ids.count]
      try workspace.switch(to: id)
      #expect(try workspace.current() == id)
    }
    tally.isDone.store(true, ordering: .releasing)
    threads.wait()
    #expect(tally.faults.withLock { $0.prefix(5) }.isEmpty, "\(tally.faults.withLock { $0.prefix(5) })")
    print(
      "SwitchTests: \(tally.reads.load(ordering: .relaxed)) reads, \(tally.closed.load(ordering: .relaxed)) met a switch"
    )
    #expect(tally.reads.load(ordering: .relaxed) > 100 && tally.seen.withLock { $0.count } > 1)
  }

  @Test func `two processes that switch leave one truth, and both know it`() throws {
    let root = TemporaryRoot()
    let workspaces = try [root.open(), root.open()]
    let tally = Tally()
    let threads = DispatchGroup()
    for (number, workspace) in workspaces.enumerated() {
      threads.enter()
      Thread {
        for round in 0..<40 {
          do {
            try workspace.signIn("user \(number)-\(round % 3)")
            _ = try workspace.current()
          } catch { tally.faults.withLock { $0.append("\(error)") } }
        }
        threads.leave()
      }.start()
    }
    threads.wait()
    #expect(tally.faults.withLock { $0 }.isEmpty)
    let current = try #require(try root.directory.currentUser())
    #expect(try workspaces.map { try $0.current() } == [current, current])
    #expect(try root.directory.verifySettings().isEmpty)
    #expect(try root.directory.users().count == 6)
  }
}

/// What threads found. A field that counts nobody orders anything by.
private final class Tally: Sendable {
  let isDone = Atomic(false)
  let faults = Mutex<[String]>([])
  let reads = Atomic(0)
  let closed = Atomic(0)
  let seen = Mutex<Set<String>>([])
}
