import StoreTestSupport
import Testing

@testable import UploadQueue

@Suite struct ConcurrencyTests {
  @Test func `32 tasks enqueue while two workers run: everything arrives once, in order by key`() async throws {
    let bench = try Bench()
    let other = try Bench(bench.device, clock: bench.clock)
    let server = ScriptedServer()
    let workers = [bench.worker(server), other.worker(server)]
    let runs = workers.map { worker in Task { try await worker.run() } }
    let ids = try await withThrowingTaskGroup(of: [UploadID].self) { group in
      for task in 0..<32 {
        let queue = task % 2 == 0 ? bench.queue : other.queue
        group.addTask {
          var ids: [UploadID] = []
          for number in 0..<12 {
            ids.append(try await queue.enqueue("\(number)", kind: "k", orderKey: "\(task)"))
          }
          return ids
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    var counts = bench.queue.observedCounts.makeAsyncIterator()
    while let now = try await counts.next(), now.delivered < 32 * 12 {}
    for worker in workers {
      // The last success is committed before its attempt is off the list, and on this clock a bound is over at once.
      while await worker.inFlight > 0 { await Task.yield() }
      #expect(await worker.drain(within: .seconds(60)))
    }
    for run in runs { try await run.value }
    #expect(server.log.count == 32 * 12)
    #expect(Set(server.log.map(\.id)) == Set(ids.joined()))
    let byKey = Dictionary(grouping: server.log) { $0.orderKey! }
    for (_, requests) in byKey { #expect(requests.map { Int($0.text)! } == Array(0..<12)) }
    #expect(ids.allSatisfy { $0 == $0.sorted() })
    try checkInvariants(bench.queue)
  }
}
