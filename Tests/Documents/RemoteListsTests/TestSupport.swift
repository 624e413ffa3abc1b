import Foundation
import LogStore
import StoreTestSupport
import Synchronization

@testable import RemoteLists

struct Post: Codable, Identifiable, Hashable, Sendable {
  let id: Int
  var text: String

  init(_ id: Int, _ text: String = "") {
    self.id = id
    self.text = text
  }
}

/// The server cannot be reached.
struct Offline: Error, Equatable {}

/// A server with one list, whose answers the test may fail or hold back.
final class Server: Sendable {
  private struct State {
    var posts: [Post]
    var calls: [Int] = []
    var isOffline = false
    var isHolding = false
    var held: [Int: CheckedContinuation<Void, any Error>] = [:]
    var lastNumber = 0
    var cancelled = 0
  }

  private let state: Mutex<State>

  init(_ posts: [Post] = []) { state = Mutex(State(posts: posts)) }

  /// As many posts, the newest one first: n, …, 2, 1.
  convenience init(count: Int) { self.init((0..<count).map { Post(count - $0, "first") }) }

  var posts: [Post] {
    get { state.withLock { $0.posts } }
    set { state.withLock { $0.posts = newValue } }
  }

  var isOffline: Bool {
    get { state.withLock { $0.isOffline } }
    set { state.withLock { $0.isOffline = newValue } }
  }

  /// The pages that were requested.
  var calls: [Int] { state.withLock { $0.calls } }
  var heldCount: Int { state.withLock { $0.held.count } }
  var cancelledCount: Int { state.withLock { $0.cancelled } }

  /// From now on fetches read their page and wait with the answer.
  func hold() { state.withLock { $0.isHolding = true } }

  /// Lets all fetches go on, or fails them.
  func release(_ error: (any Error)? = nil) {
    let held = state.withLock { state in
      state.isHolding = false
      defer { state.held = [:] }
      return state.held
    }
    for continuation in held.values {
      if let error { continuation.resume(throwing: error) } else { continuation.resume() }
    }
  }

  func fetch(_ page: Int, _ size: Int) async throws -> [Post] {
    let (answer, isHolding, number) = try state.withLock { state in
      state.calls.append(page)
      if state.isOffline { throw Offline() }
      state.lastNumber += 1
      return (Array(state.posts.dropFirst((page - 1) * size).prefix(size)), state.isHolding, state.lastNumber)
    }
    guard isHolding else { return answer }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          if Task.isCancelled { return true }
          state.held[number] = continuation
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        state.cancelled += 1
        return state.held.removeValue(forKey: number)
      }
      continuation?.resume(throwing: CancellationError())
    }
    return answer
  }
}

/// A clock that stands still until it is set.
final class Clock: Sendable {
  private let time = Mutex(Date(timeIntervalSince1970: 1_700_000_000))
  var now: Date { time.withLock { $0 } }
  func advance(_ seconds: Double) { time.withLock { $0 += seconds } }
}

/// A cache on a simulated device, with a clock and a server.
struct Bench {
  let device: SimulatedDevice
  let clock = Clock()
  let server: Server
  let store: PageStore

  init(
    _ server: Server = Server(), device: SimulatedDevice = SimulatedDevice(),
    _ change: (inout PageStore.Options) -> Void = { _ in }
  ) {
    self.device = device
    self.server = server
    store = Self.store(device, clock, change)
  }

  static func store(
    _ device: SimulatedDevice, _ clock: Clock, _ change: (inout PageStore.Options) -> Void = { _ in }
  ) -> PageStore {
    var options = PageStore.Options()
    options.now = { clock.now }
    options.pollInterval = .milliseconds(5)
    change(&options)
    return PageStore(location(device), options: options)
  }

  static func location(_ device: SimulatedDevice) -> StoreLocation {
    StoreLocation.test(device.directory, name: "cache", environment: FixedEnvironment().environment())
  }

  /// The same file as another process, or a later start, opens it.
  func again(_ change: (inout PageStore.Options) -> Void = { _ in }) -> PageStore {
    Self.store(device, clock, change)
  }

  func list(
    _ key: String = "inbox", size: Int = 3, lifetime: Duration? = .seconds(60), order: PageOrder = .newestFirst,
    in other: PageStore? = nil
  ) -> PageCache<String, Post> {
    PageCache(key, in: other ?? store, pageSize: size, lifetime: lifetime, order: order) { [server] in
      try await server.fetch($0, $1)
    }
  }
}

extension PageAnswer {
  /// What is compared: everything but the errors.
  var summary: String { "\(source) \(page) \(age)" }
}

/// Lets others run until the condition holds.
///
/// - Throws: after five minutes, which is for ever: beside tests that keep every processor busy a task may wait long
///   for a thread.
func until(_ condition: () throws -> Bool) async throws {
  let start = ContinuousClock.now
  while try !condition() {
    if ContinuousClock.now - start > .seconds(300) { throw NeverSo() }
    await Task.yield()
  }
}

struct NeverSo: Error {}
