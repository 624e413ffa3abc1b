import Testing

@testable import UploadQueue

/// Reading the queue page by page.
struct UploadPagesTests {
  @Test(arguments: [1, 3, 7, 10, 100])
  func `pages have all uploads of one commit in the order of enqueuing, however few entries are in memory`(
    entryCount: Int
  ) async throws {
    let bench = try Bench()
    var ids: [UploadID] = []
    for number in 0..<10 { ids.append(try await bench.queue.enqueue("\(number)", kind: "scan")) }
    // A rewritten entry is elsewhere in the file, and as early in the order as it was.
    try await bench.queue.drop(ids[4])
    var pages = try bench.queue.pages(entryCount: entryCount)
    try await bench.queue.drop(ids[7])
    try await bench.queue.enqueue("later", kind: "scan")
    var found: [UploadID] = []
    while case let uploads = try pages.next(4), !uploads.isEmpty {
      #expect(uploads.count == 4 || found.count + uploads.count == 9)
      found += uploads.map(\.id)
    }
    ids.remove(at: 4)
    #expect(found == ids)
    #expect(try pages.next(1).isEmpty)
    var parked = try bench.queue.pages(.parked, entryCount: entryCount)
    #expect(try parked.next(1).isEmpty)
    #expect(try bench.queue.uploads().count == 9)
  }
}
