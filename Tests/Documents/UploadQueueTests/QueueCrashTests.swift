import Documents
import LogStore
import RandomTestSupport
import StoreTestSupport
import Synchronization
import Testing
import WaitingTestSupport

@testable import UploadQueue

/// Loss of power at every change of the disk while callers enqueue and a worker sends. The judge is the server's log:
/// what it got before the crash, and what it gets from those who start again.
@Suite struct QueueCrashTests {
  /// When something was known for certain: after so many changes of the disk.
  private final class Diary: Sendable {
    private struct Entries {
      var accepted: [UploadID: Int] = [:]
      var delivered: [UploadID: Int] = [:]
      var order: [String: [UploadID]] = [:]
    }

    private let device: SimulatedDevice
    private let entries = Mutex(Entries())

    init(_ device: SimulatedDevice) { self.device = device }

    /// Uploads that were reported as durable.
    var accepted: [UploadID: Int] { entries.withLock { $0.accepted } }
    /// Uploads whose success was committed.
    var delivered: [UploadID: Int] { entries.withLock { $0.delivered } }
    /// The accepted ones by order key.
    var order: [String: [UploadID]] { entries.withLock { $0.order } }

    func record(accepted id: UploadID, _ key: String) {
      entries.withLock { entries in
        entries.accepted[id] = device.operations
        entries.order[key, default: []].append(id)
      }
    }

    func record(delivered id: UploadID) { entries.withLock { $0.delivered[id] = device.operations } }
  }

  private struct Scan: Codable, Identifiable {
    let id: Int
    let upload: UploadID
  }

  /// What callers and a worker do, on a device that records; and the results that they got.
  private func workload(_ device: SimulatedDevice, seed: UInt64, _ server: ScriptedServer) async throws -> Diary {
    let diary = Diary(device)
    var options = QueueOptions()
    options.trace = { event in
      if case .delivered(let id) = event { diary.record(delivered: id) }
    }
    let clock = TestClock(seed: seed)
    let documents = try Bench.documents(device)
    let scans = try documents.collection("scans", of: Scan.self)
    let queue = try UploadQueue(in: documents, options: options, environment: clock.environment)
    let worker = UploadWorker(queue, options: Bench.plain) { try await server.send($0) }
    let run = Task { try await worker.run() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for key in ["a", "b"] {
        group.addTask {
          for number in 0..<3 {
            // Values and JSON text.
            let payload: UploadPayload =
              key == "a" ? .value(.text("\(key)\(number)")) : .json(try UploadJSON("\"\(key)\(number)\""))
            diary.record(accepted: try await queue.enqueue(payload: payload, kind: "k", orderKey: key), key)
          }
        }
      }
      try await group.waitForAll()
    }
    for number in 0..<2 {
      let id = try documents.transaction { transaction in
        let id = try queue.enqueue("scan \(number)", kind: "scan", orderKey: "c", in: transaction)
        try transaction.insert(Scan(id: number, upload: id), into: scans)
        return id
      }
      diary.record(accepted: id, "c")
    }
    var counts = queue.observedCounts.makeAsyncIterator()
    while let now = try await counts.next(), now.waiting + now.sending > 0 {}
    await worker.drain(within: .seconds(60))
    try await run.value
    return diary
  }

  @Test
  func `after a crash at any point, what was accepted arrives, what was committed is not sent again, and order holds`()
    async throws
  {
    var random = SeededGenerator(for: "QueueCrashTests")
    var states = 0
    var sends = 0
    for _ in 0..<depth {
      let device = SimulatedDevice()
      // The store is there; what is lost while it comes into being is the engine's affair.
      _ = try UploadQueue(in: Bench.documents(device))
      device.record()
      let script = Mutex(SeededGenerator(seed: random.next()))
      let server = ScriptedServer(
        stamp: { device.operations },
        answer: { _, _ in
          let choice = script.withLock { Int.random(in: 0..<6, using: &$0) }
          if choice == 0 { throw NoNetwork() }
          return UploadResponse(status: choice == 1 ? 503 : 200)
        })
      let diary = try await workload(device, seed: random.next(), server)
      let disks = device.recorded
      var seen: Set<UInt64> = []
      for (point, disk) in disks.enumerated() {
        for _ in 0..<(disk.isSettled ? 1 : depth == 1 ? 2 : 5) {
          let image = disk.crashed(.random(&random), &random)
          // The same disk at another point has been judged with another log, but hardly a different one.
          guard seen.insert(image.digest &+ UInt64(server.log.count { $0.stamp <= point })).inserted else { continue }
          states += 1
          let before = server.log.filter { $0.stamp <= point }
          sends += try await judge(image, point, before, diary, twice: point % 5 == 0, &random)
        }
      }
    }
    print("QueueCrashTests: \(states) crash states, \(sends) requests after them")
    #expect(states > 50)
  }

  /// Starts again from a crash, sends what is left, and compares. Returns how many requests that took.
  ///
  /// - Parameter twice: whether the one that starts again crashes as well.
  private func judge(
    _ image: DiskImage, _ point: Int, _ before: [ScriptedServer.Request], _ diary: Diary, twice: Bool,
    _ random: inout SeededGenerator
  ) async throws -> Int {
    var device = SimulatedDevice(image)
    var log = before
    let clock = TestClock(seed: random.next())
    clock.advance(by: .seconds(1000))
    if twice {
      device.record()
      let current = device
      let server = ScriptedServer(stamp: { current.operations })
      let bench = try Bench(device, clock: clock)
      try await bench.run(server)
      let disks = device.recorded
      let second = Int.random(in: disks.indices, using: &random)
      log += server.log.filter { $0.stamp <= second }
      device = SimulatedDevice(disks[second].crashed(.random(&random), &random))
    }
    let bench = try Bench(device, clock: clock)
    // A document and its upload are both there, or neither: the uploads' scans are read before they go.
    let scans = try bench.documents.collection("scans", of: Scan.self)
    let uploads = try bench.queue.uploads()
    for upload in uploads where upload.kind == "scan" {
      let number = Int(try upload.decode(String.self).dropFirst("scan ".count))!
      #expect(try scans.get(number)?.upload == upload.id, "crash after change \(point)")
    }
    for scan in try scans.query().fetch() {
      let isThere =
        uploads.contains { $0.id == scan.upload } || log.contains { $0.id == scan.upload && $0.status == 200 }
      #expect(isThere, "crash after change \(point): a scan without its upload")
    }
    try await bench.queue.retryAll()
    let server = ScriptedServer()
    try await bench.run(server)
    #expect(try bench.queue.counts().count == 0)
    log += server.log
    let arrived = Set(log.filter { $0.status == 200 }.map(\.id))
    for (id, change) in diary.accepted where change <= point {
      #expect(arrived.contains(id), "crash after change \(point): \(id) was accepted and never arrived")
    }
    for request in server.log {
      let committed = diary.delivered[request.id] ?? .max
      #expect(
        committed > point, "crash after change \(point): \(request.text) was sent after its success was committed")
    }
    for (key, order) in diary.order {
      // What was parked let others pass, and was sent again by hand: without it the order must hold.
      let requests = log.filter { $0.orderKey == key }
      let failures = Dictionary(grouping: requests.filter { $0.status != 200 }, by: \.id).mapValues(\.count)
      let numbers = requests.filter { failures[$0.id, default: 0] < 3 }.compactMap { order.firstIndex(of: $0.id) }
      #expect(numbers == numbers.sorted(), "crash after change \(point): key \(key) was sent as \(numbers)")
    }
    return server.log.count
  }
}
