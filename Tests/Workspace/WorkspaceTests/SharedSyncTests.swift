import Catalog
import CatalogSync
import Foundation
import LogStore
import RandomTestSupport
import Synchronization
import Testing

@testable import Workspace

/// Synchronisations of users of one organisation, with the bytes that they fetch.
@Suite(.timeLimit(.minutes(10))) struct SharedSyncTests {
  /// A server in memory, which counts what it sends.
  final class Server: CatalogTransport, Sendable {
    private struct State {
      var products: [(id: Int, changed: Int)] = []
      var clock = 1
      var bytes = 0
      var cursors: [String] = []
    }

    private let state = Mutex(State())

    /// Bytes that were sent since the last time somebody asked.
    func takeByteCount() -> Int { state.withLock { state in (state.bytes, state.bytes = 0).0 } }
    /// The cursors that were asked with.
    var cursors: [String] { state.withLock { $0.cursors } }

    /// Changes products, and adds those that are new.
    func change(_ ids: Range<Int>) {
      state.withLock { state in
        state.clock += 1
        state.products.removeAll { ids.contains($0.id) }
        state.products += ids.map { ($0, state.clock) }
      }
    }

    func fetchAnswer<Answer: ~Copyable>(
      cursor: String, into makeState: () throws -> Answer, onChunk: (inout Answer, Span<UInt8>) throws -> Void
    ) async throws -> Answer {
      let body = state.withLock { state in
        let since = Int(cursor) ?? 0
        let rows = state.products.filter { $0.changed > since }.map {
          #"{"id":"\#($0.id)","barcode":"69\#($0.id)","name":"product \#($0.id) as of \#($0.changed)","brand":"b"}"#
        }
        let text =
          #"{"appProductVOList":[\#(rows.joined(separator: ","))],"appProductRelVOList":[],"updateTime":"\#(state.clock)"}"#
        state.bytes += text.utf8.count
        state.cursors.append(cursor)
        return Array(text.utf8)
      }
      var answer = try makeState()
      try onChunk(&answer, body.span)
      return answer
    }

    var synchronizer: Synchronizer<Server> {
      var synchronizer = Synchronizer(self)
      synchronizer.options.allowsBarePayload = true
      return synchronizer
    }
  }

  private let root = TemporaryRoot()
  private let server = Server()
  private let origin = CatalogueOrigin(source: "https://one/cat", organisation: "7")

  private func sync(
    _ workspace: Workspace, _ id: String, _ origin: CatalogueOrigin?, full: Bool = false
  ) async throws -> Synchronization {
    try workspace.signIn(id)
    return try await workspace.stores().synchronize(server.synchronizer, from: origin, full: full)
  }

  @Test func `a catalogue survives a user switch without a second download (bytes counted)`() async throws {
    let workspace = try root.open()
    let count = 5000 * depth
    server.change(0..<count)
    #expect(try await sync(workspace, "ana", origin).adopted == nil)
    let (download, disk) = (server.takeByteCount(), try root.bytesOnDisk())
    // A switch there and back fetches nothing, and asks with the cursor.
    try workspace.signIn("carol")
    #expect(try workspace.stores().catalogue().productCount == 0)
    #expect(try await sync(workspace, "ana", origin).report.payload.products == 0)
    #expect(server.cursors == ["", "2"] && server.takeByteCount() < 200)
    // The second user's first synchronisation is an increment.
    server.change(7..<10)
    let bob = try await sync(workspace, "bob", origin)
    let fetched = server.takeByteCount()
    #expect(bob.report.update.mode == .incremental && bob.report.update.counts.productsUpserted == 3)
    #expect(bob.adopted?.cursor == "2" && bob.adopted?.isShared == true)
    #expect(bob.adopted?.byteCount ?? 0 > count * 50)
    #expect(fetched < 1000, "\(fetched) of \(download) bytes")
    #expect(server.cursors.last == "2")
    #expect(try workspace.stores().catalogue().productCount == count)
    #expect(try workspace.stores().catalogue().product(id: "7")?.name == "product 7 as of 3")
    // And the disk holds the catalogue once: the rest is less than a few pages for each user.
    let grown = try root.bytesOnDisk() - disk
    #expect(grown < 128 << 10 && disk > count * 50, "\(disk) bytes and \(grown)")
    try workspace.switch(to: "ana")
    #expect(try workspace.stores().catalogue().product(id: "7")?.name == "product 7 as of 2")
    print(
      "SharedSyncTests: \(download) bytes downloaded once, \(fetched) for the second user; \(disk) bytes on disk, \(grown) more"
    )
  }

  @Test func `only a synchronisation that was told an organisation shares`() async throws {
    let workspace = try root.open()
    server.change(0..<200)
    _ = try await sync(workspace, "ana", nil)
    #expect(try await sync(workspace, "bob", origin).adopted == nil)
    #expect(try await sync(workspace, "carol", origin).adopted?.cursor == "2")
    // Who does not tell any more shares no more, and neither does who tells another one.
    _ = try await sync(workspace, "bob", nil)
    _ = try await sync(workspace, "carol", CatalogueOrigin(source: origin.source, organisation: "8"))
    #expect(try await sync(workspace, "dave", origin).adopted == nil)
    #expect(try await sync(workspace, "erin", CatalogueOrigin(source: origin.source, organisation: "8")).adopted != nil)
    // A full update begins with nothing.
    #expect(try await sync(workspace, "frank", origin, full: true).adopted == nil)
    #expect(try root.directory.sharedBase(of: "frank") == nil)
  }

  @Test func `a synchronisation of who is no longer signed in is refused, one that has begun is finished`() async throws
  {
    let workspace = try root.open()
    server.change(0..<10)
    try workspace.signIn("ana")
    let ana = try workspace.stores()
    var synchronizer = server.synchronizer
    synchronizer.onProgress = { progress in if progress.phase == .receiving { try? workspace.signIn("bob") } }
    let done = try await ana.synchronize(synchronizer, from: origin)
    #expect(done.report.update.counts.productsUpserted == 10)
    #expect(try workspace.current() == "bob" && workspace.stores().catalogue().productCount == 0)
    await #expect(throws: WorkspaceError.self) {
      try await ana.synchronize(self.server.synchronizer, from: self.origin)
    }
    // Bob begins with what ana fetched.
    #expect(try await workspace.stores().synchronize(server.synchronizer, from: origin).adopted?.cursor == "2")
  }

  @Test func `a user who is removed during a synchronisation does not come back by it`() async throws {
    let (workspace, other) = (try root.open(), try root.open())
    server.change(0..<10)
    for id in ["bob", "ana"] { try workspace.signIn(id) }
    var synchronizer = server.synchronizer
    synchronizer.onProgress = { progress in if progress.phase == .committing { _ = try? other.remove("ana") } }
    do {
      let done = try await workspace.stores().synchronize(synchronizer, from: origin)
      #expect(done.noteFailure == nil)
    } catch is StoreError {
      // Its file has gone from under the writer.
    }
    #expect(try workspace.current() == nil && workspace.users() == ["bob"])
    #expect(try root.names().filter { $0.hasPrefix("users/") } == ["users/bob"])
  }

  @Test func `a note that cannot be written is a warning, and no failure of the synchronisation`() async throws {
    let workspace = try root.open()
    server.change(0..<10)
    try workspace.signIn("ana")
    try Data(repeating: 7, count: 20_000).write(to: root.url("users/ana/origin.log"))
    let done = try await workspace.stores().synchronize(server.synchronizer, from: origin)
    #expect(done.noteFailure != nil && done.report.update.counts.productsUpserted == 10)
    #expect(try await sync(workspace, "bob", origin).adopted == nil)
    #expect(try workspace.stores().catalogue().productCount == 10)
  }

  @Test func `a base with dead rows stays shared behind the first increments`() async throws {
    let workspace = try root.open()
    server.change(0..<2000)
    _ = try await sync(workspace, "ana", origin)
    // Half of it is replaced, below what a compaction would be worth.
    var quiet = server.synchronizer
    quiet.compaction = .never
    quiet.options.threshold = nil
    for _ in 0..<3 {
      server.change(0..<900)
      _ = try await workspace.stores().synchronize(quiet, from: origin)
    }
    let eager = CompactionPolicy(share: 0.5, floor: 4096)
    let store = try #require(try workspace.stores().catalogue().store)
    #expect(try eager.isDue(in: store), "for the one who has it alone")
    server.change(1..<3)
    try workspace.signIn("bob")
    var policy = server.synchronizer
    policy.compaction = eager
    let bob = try await workspace.stores().synchronize(policy, from: origin)
    #expect(bob.adopted?.isShared == true && bob.report.update.mode == .incremental)
    if case .notDue = bob.report.compaction {} else { Issue.record("\(bob.report.compaction)") }
    #expect(try root.directory.sharedBase(of: "bob")?.linkCount == 2)
    #expect(try workspace.stores().catalogue().productCount == 2000)
  }
}
