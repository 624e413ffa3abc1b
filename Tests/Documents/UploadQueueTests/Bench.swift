import Documents
import Glibc
import LogStore
import StoreTestSupport
import Synchronization
import Testing
import WaitingTestSupport

@testable import UploadQueue

/// A queue on a device in memory, with a clock of its own.
struct Bench {
  let device: SimulatedDevice
  let clock: TestClock
  let documents: DocumentStore
  let queue: UploadQueue
  let events: Events

  /// What the queue reported.
  final class Events: Sendable {
    private let list = Mutex<[QueueEvent]>([])
    var all: [QueueEvent] { list.withLock { $0 } }
    func add(_ event: QueueEvent) { list.withLock { $0.append(event) } }

    /// Commits, and how many calls each was for.
    var commits: [Int] {
      all.compactMap { if case .committed(let calls, _) = $0 { calls } else { nil } }
    }
  }

  init(
    _ device: SimulatedDevice = SimulatedDevice(), clock: TestClock = TestClock(),
    options: QueueOptions = QueueOptions(), environment: QueueEnvironment? = nil
  ) throws {
    self.device = device
    self.clock = clock
    events = Events()
    var options = options
    options.trace = events.add
    documents = try Self.documents(device)
    queue = try UploadQueue(in: documents, options: options, environment: environment ?? clock.environment)
  }

  static func documents(_ device: SimulatedDevice) throws -> DocumentStore {
    var options = DocumentStore.Options()
    // Two stores of one test take turns, on however slow a machine.
    options.lockTimeout = .seconds(600)
    let environment = FixedEnvironment().environment { _ in usleep(1000) }
    return try DocumentStore.open(
      StoreLocation.test(device.directory, name: "documents", environment: environment), options: options)
  }

  /// Options whose only sleeps are those of an idle worker.
  static var plain: WorkerOptions {
    var options = WorkerOptions()
    options.attemptTimeout = nil
    return options
  }

  func worker(_ server: ScriptedServer, _ options: WorkerOptions = Bench.plain) -> UploadWorker {
    UploadWorker(queue, options: options) { try await server.send($0) }
  }

  /// Sends until nothing waits.
  func run(_ server: ScriptedServer, _ options: WorkerOptions = Bench.plain) async throws {
    try await worker(server, options).run(untilEmpty: true)
    try checkInvariants(queue)
  }
}

/// Sees to it that the numbers of a queue are those of what is in it, and that its collections fit together.
func checkInvariants(_ queue: UploadQueue, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let snapshot = try queue.store.snapshot()
  let state = try queue.tables.state(in: snapshot)
  let entries = try queue.tables.schedule.query().results(in: snapshot).map { try $0.get() }
  for place in UploadState.allCases {
    #expect(entries.count { $0.state == place } == state.counts[place], "\(place)", sourceLocation: sourceLocation)
  }
  #expect(entries.reduce(0) { $0 + $1.byteCount } == state.counts.byteCount, sourceLocation: sourceLocation)
  #expect(
    entries.allSatisfy { $0.id >= state.oldestOrdinal && $0.id < state.nextOrdinal }, sourceLocation: sourceLocation)
  #expect(entries.allSatisfy { ($0.state == .sending) == ($0.lease != nil) }, sourceLocation: sourceLocation)
  let uploads = try queue.tables.uploads.query().results(in: snapshot).map { try $0.get() }
  #expect(Set(uploads.map(\.ordinal)) == Set(entries.map(\.id)), sourceLocation: sourceLocation)
  #expect(uploads.count == entries.count, sourceLocation: sourceLocation)
  let format = uploads.map { QueueState.format(for: $0.payload) }.max() ?? QueueState.plainFormat
  #expect(uploads.isEmpty ? state.format == format : state.format >= format, sourceLocation: sourceLocation)
  let byOrdinal = Dictionary(uniqueKeysWithValues: entries.map { ($0.id, $0) })
  for replacement in try queue.tables.replacements.query().results(in: snapshot) {
    let replacement = try replacement.get()
    #expect(byOrdinal[replacement.ordinal]?.replaceKey == replacement.id, sourceLocation: sourceLocation)
  }
  let counts = state.counts
  let left = counts.delivered + counts.superseded + counts.dropped + counts.expired + counts.removed
  #expect(counts.enqueued == counts.count + left, sourceLocation: sourceLocation)
}
