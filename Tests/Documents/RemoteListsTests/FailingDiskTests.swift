import Glibc
import LogStore
import Storage
import StoreTestSupport
import Synchronization
import Testing

@testable import RemoteLists

/// A disk that fails keeps no answer of the network from its caller.
@Suite struct FailingDiskTests {
  enum Trouble: CaseIterable {
    case full, readOnly, syncFails, locked, noDescriptors

    /// Returns the lock that another process holds.
    func begin(_ device: SimulatedDevice) throws -> (any StorageLock)? {
      switch self {
      case .full: device.limit(to: device.byteCount)
      case .readOnly: for call in [DeviceCall.create, .write, .rename, .remove, .lock] { device.refuse(call, EROFS) }
      case .syncFails: device.refuse(.sync, EIO)
      case .locked: return try device.directory.lock("cache.lock")
      case .noDescriptors: for call in [DeviceCall.open, .create, .lock] { device.refuse(call, EMFILE) }
      }
      return nil
    }

    func end(_ device: SimulatedDevice) {
      device.limit(to: 1 << 30)
      device.failNoMore()
    }
  }

  @Test(arguments: Trouble.allCases, [true, false])
  func `a page is handed out and the failure reported in the answer`(
    _ trouble: Trouble, isEmpty: Bool
  ) async throws {
    let setAside = Mutex(0)
    let bench = Bench(Server(count: 9)) {
      $0.lockTimeout = .milliseconds(20)
      $0.onSetAside = { _ in setAside.withLock { $0 += 1 } }
    }
    let list = bench.list()
    if !isEmpty { for page in 1...2 { _ = try await list.load(page: page) } }
    // What this process has seen it can read without another file.
    _ = try list.contents()
    let lock = try trouble.begin(bench.device)
    let answer = try await list.load(page: 3)
    #expect(answer.source == .network && answer.items.map(\.id) == [3, 2, 1])
    #expect(answer.notStored is StoreError, "\(answer.notStored as Any)")
    if trouble == .locked, case StoreError.locked? = answer.notStored {} else { #expect(trouble != .locked) }
    bench.server.posts.insert(Post(10), at: 0)
    let refreshed = try await list.refresh()
    #expect(refreshed.source == .network && refreshed.notStored != nil)
    #expect(refreshed.items.map(\.id) == [10, 9, 8])
    if !isEmpty {
      // What is here can still be read, and is known to be old.
      let old = try await list.load(page: 1)
      #expect(old.items.map(\.id) == [9, 8, 7] && old.source == .stale)
    }
    bench.server.isOffline = true
    await #expect(throws: PageCacheError.self) { try await list.load(page: 4) }
    bench.server.isOffline = false
    // And when the trouble is over, so is its effect.
    lock?.release()
    trouble.end(bench.device)
    #expect(try await list.refresh().notStored == nil)
    #expect(try await list.load().source == .local)
    #expect(try list.contents().items == refreshed.items)
    #expect(setAside.withLock { $0 } == 0)
    #expect(try bench.store.statistics().bytes == bench.storedByteCount())
  }

  /// Whichever call of the device fails, once.
  @Test func `a call that fails leaves the old pages or the new one, and an answer in any case`() async throws {
    let template = Bench(Server(count: 9))
    for page in 1...2 { _ = try await template.list().load(page: page) }
    let image = template.device.image
    for isRefresh in [true, false] {
      let probe = SimulatedDevice(image)
      let calls = try await Self.calls(probe, isRefresh)
      #expect(calls.count > 5)
      for number in 1...calls.count {
        for fault in calls[number - 1].faults {
          let device = SimulatedDevice(image)
          let bench = Bench(Server((0..<9).map { Post(100 - $0) }), device: device) { $0.lockTimeout = .zero }
          device.fail(nil, number, fault)
          let list = bench.list(lifetime: .seconds(0))
          let answer = try await isRefresh ? list.refresh() : list.load(page: 1)
          #expect(answer.source == .network && answer.items.map(\.id) == [100, 99, 98])
          device.failNoMore()
          let ids = try bench.list(in: bench.again()).contents().items.map(\.id)
          let old = [9, 8, 7, 6, 5, 4]
          let isNew = ids == [100, 99, 98]
          #expect(isNew || ids == old && answer.notStored != nil, "call \(number), \(fault): \(ids)")
        }
      }
    }
  }

  private static func calls(_ device: SimulatedDevice, _ isRefresh: Bool) async throws -> [DeviceCall] {
    let bench = Bench(Server((0..<9).map { Post(100 - $0) }), device: device)
    device.record()
    let list = bench.list(lifetime: .seconds(0))
    _ = try await isRefresh ? list.refresh() : list.load(page: 1)
    return device.calls
  }
}
