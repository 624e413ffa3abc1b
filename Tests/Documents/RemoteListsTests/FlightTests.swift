import Foundation
import Testing

@testable import RemoteLists

/// Loads at one time.
@Suite struct FlightTests {
  @Test func `concurrent loads of one page fetch once`() async throws {
    let bench = Bench(Server(count: 9))
    let (list, same) = (bench.list(), bench.list())
    bench.server.hold()
    let loads = (0..<20).map { number in Task { try await (number % 2 == 0 ? list : same).load(page: 2) } }
    let other = Task { try await list.load(page: 1) }
    try await until { bench.store.flights.waiterCount == 21 && bench.server.heldCount == 2 }
    bench.server.release()
    for load in loads {
      let answer = try await load.value
      #expect(answer.source == .network && answer.items.map(\.id) == [6, 5, 4])
    }
    _ = try await other.value
    #expect(bench.server.calls.sorted() == [1, 2])
    #expect(bench.store.flights.isEmpty)
  }

  @Test func `all who wait for a fetch that fails learn of it`() async throws {
    let bench = Bench(Server(count: 9))
    let list = bench.list()
    bench.server.hold()
    let loads = (0..<5).map { _ in Task { try await list.load() } }
    try await until { bench.store.flights.waiterCount == 5 && bench.server.heldCount == 1 }
    bench.server.release(Offline())
    for load in loads { await #expect(throws: PageCacheError.self) { try await load.value } }
    #expect(try await list.load().source == .network)
    #expect(bench.server.calls == [1, 1])
  }

  @Test func `when the first caller is cancelled the others still get an answer`() async throws {
    let bench = Bench(Server(count: 9))
    let list = bench.list()
    bench.server.hold()
    let first = Task { try await list.load() }
    try await until { bench.server.heldCount == 1 }
    let others = (0..<3).map { _ in Task { try await list.load() } }
    try await until { bench.store.flights.waiterCount == 4 }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(bench.store.flights.waiterCount == 3 && bench.server.cancelledCount == 0)
    bench.server.release()
    for other in others { #expect(try await other.value.items.map(\.id) == [9, 8, 7]) }
    #expect(bench.server.calls == [1])
  }

  @Test func `a fetch is cancelled when nobody waits any more, and the next load fetches anew`() async throws {
    let bench = Bench(Server(count: 9))
    let list = bench.list()
    bench.server.hold()
    let loads = (0..<3).map { _ in Task { try await list.load() } }
    try await until { bench.server.heldCount == 1 && bench.store.flights.waiterCount == 3 }
    for load in loads { load.cancel() }
    for load in loads { await #expect(throws: CancellationError.self) { try await load.value } }
    #expect(bench.store.flights.isEmpty && bench.server.cancelledCount == 1)
    bench.server.release()
    #expect(try await list.load().source == .network)
    #expect(bench.server.calls == [1, 1])
    // Whoever is cancelled before it begins does not fetch either, or not for long.
    let early = Task {
      // The task is used where it is lent.
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await bench.list("other").load()
    }
    await #expect(throws: CancellationError.self) { try await early.value }
    #expect(try bench.list("other").contents().pages.isEmpty)
  }

  @Test func `a load of page 1 waits for the refresh that is under way`() async throws {
    let bench = Bench(Server(count: 9))
    let list = bench.list()
    bench.server.hold()
    let refresh = Task { try await list.refresh() }
    try await until { bench.server.heldCount == 1 }
    let load = Task { try await list.load() }
    try await until { bench.store.flights.waiterCount == 2 }
    bench.server.release()
    #expect(try await refresh.value.items == load.value.items)
    #expect(bench.server.calls == [1])
  }

  @Test func `two types of items under one key fetch each for themselves`() async throws {
    struct Other: Codable, Identifiable, Sendable { let id: String }
    let bench = Bench(Server(count: 3))
    let list = bench.list()
    bench.server.hold()
    let posts = Task { try await list.load() }
    try await until { bench.server.heldCount == 1 }
    let others = PageCache<String, Other>("inbox", in: bench.store, pageSize: 3) { _, _ in [Other(id: "x")] }
    #expect(try await others.load().items.map(\.id) == ["x"])
    bench.server.release()
    #expect(try await posts.value.items.count == 3)
  }
}
