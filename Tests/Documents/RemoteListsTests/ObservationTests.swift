import Testing

@testable import RemoteLists

@Suite struct ObservationTests {
  @Test func `the merged list comes at once and after each change, also by another process`() async throws {
    let bench = Bench(Server(count: 6))
    let list = bench.list()
    var values = list.values.makeAsyncIterator()
    #expect(await values.next()?.pages == [])
    _ = try await list.load(page: 1)
    #expect(await values.next()?.items.map(\.id) == [6, 5, 4])
    // What changes nothing, and other lists, tell nothing: the next value is that of page 2.
    _ = try await list.load(page: 1)
    _ = try await bench.list("other").load(page: 1)
    let other = bench.list(in: bench.again())
    _ = try await other.load(page: 2)
    #expect(await values.next()?.items.map(\.id) == [6, 5, 4, 3, 2, 1])
    bench.server.posts = [Post(9)]
    _ = try await other.refresh()
    let refreshed = await values.next()
    #expect(refreshed?.items.map(\.id) == [9] && refreshed?.isComplete == true)
    try list.clear()
    #expect(await values.next()?.pages == [])
  }

  @Test func `observers follow into the file that takes a damaged one's place`() async throws {
    let bench = Bench(Server(count: 6))
    let list = bench.list()
    _ = try await list.load(page: 1)
    var values = list.values.makeAsyncIterator()
    #expect(await values.next()?.pages == [1])
    bench.device.place([1, 2, 3], as: "cache.log")
    let other = bench.list(in: bench.again())
    _ = try await other.load(page: 1)
    _ = try await other.load(page: 2)
    var pages: [Int]?
    while pages != [1, 2], let next = await values.next() { pages = next.pages }
    #expect(pages == [1, 2])
    _ = try await list.load(page: 3)
    while pages != [1, 2, 3], let next = await values.next() { pages = next.pages }
    #expect(pages == [1, 2, 3])
  }

  @Test func `an observer ends when its task is cancelled`() async throws {
    let bench = Bench(Server(count: 6))
    let list = bench.list()
    let (ready, reported) = AsyncStream<Void>.makeStream()
    let task = Task {
      var count = 0
      for await _ in list.values {
        count += 1
        reported.yield()
      }
      return count
    }
    var signals = ready.makeAsyncIterator()
    _ = await signals.next()
    task.cancel()
    #expect(await task.value == 1)
  }
}
