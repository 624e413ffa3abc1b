import Glibc
import Logging
import ServiceLifecycle
import Synchronization
import Testing
import WaitingTestSupport

@testable import ScanInputs

/// Takes what inputs say, and answers each reading with its number and code.
final class Recorder: ReadingHandler {
  struct State {
    var readings: [Reading] = []
    var answered = 0
    var events: [InputEvent] = []
    var pauses = 0
    /// How many readings were handed over together, each time that there were several.
    var batches: [Int] = []
    /// How many readings may be answered; the others wait.
    var permitted = Int.max
  }

  let state = Mutex(State())
  private let repeats: @Sendable (String) -> Bool
  private let padding: [UInt8]

  /// - Parameters:
  ///   - pad: Bytes that an answer has at least.
  ///   - repeats: Which codes are double scans.
  init(pad: Int = 0, repeats: @escaping @Sendable (String) -> Bool = { _ in false }) {
    padding = [UInt8](repeating: UInt8(ascii: "."), count: pad)
    self.repeats = repeats
  }

  func answer(_ reading: Reading) async -> ReadingAnswer {
    let number = state.withLock { state in
      state.readings.append(reading)
      return state.readings.count
    }
    while state.withLock({ $0.permitted < number }) { await Task.pause() }
    state.withLock { $0.answered += 1 }
    let tag = reading.tag.map { " \($0)" } ?? ""
    let text = "\(number) \(reading.code)\(tag)"
    return ReadingAnswer(line: Array(text.utf8) + padding, isRepeat: repeats(reading.code))
  }

  func answer(_ readings: [Reading]) async -> [ReadingAnswer] {
    state.withLock { $0.batches.append(readings.count) }
    var answers: [ReadingAnswer] = []
    for reading in readings { answers.append(await answer(reading)) }
    return answers
  }

  func note(_ event: InputEvent, input: String) { state.withLock { $0.events.append(event) } }

  var batches: [Int] { state.withLock { $0.batches } }

  func permit(_ count: Int) { state.withLock { $0.permitted = count } }

  func notePause() { state.withLock { $0.pauses += 1 } }
  /// Pauses that ended a line.
  var pauses: Int { state.withLock { $0.pauses } }
  var codes: [String] { state.withLock { $0.readings.map(\.code) } }
  var answered: Int { state.withLock { $0.answered } }
  var events: [InputEvent] { state.withLock { $0.events } }
  var faults: [InputFault] {
    events.compactMap { event in
      if case .fault(let fault) = event { fault } else { nil }
    }
  }
  var refusals: [ConnectionRefusal] {
    events.compactMap { event in
      if case .refused(let refusal) = event { refusal } else { nil }
    }
  }
  /// How many connections there were, after each change.
  var connections: [Int] {
    events.compactMap { event in
      if case .connections(let count, _) = event { count } else { nil }
    }
  }
  /// What was opened, in order.
  var openings: [String] {
    events.compactMap { event in
      if case .opened(let what) = event { what } else { nil }
    }
  }
  /// Why it was closed, in order.
  var closings: [String] {
    events.compactMap { event in
      if case .closed(let reason, _) = event { reason } else { nil }
    }
  }
}

extension Task where Success == Never, Failure == Never {
  /// A moment, for who looks again and again until a deadline.
  static func pause() async { try? await Task.sleep(for: .milliseconds(1)) }
}

struct Late: Error, CustomStringConvertible {
  let description: String
}

/// An input that runs in a service group.
struct RunningInput: Sendable {
  let group: ServiceGroup
  let task: Task<Void, any Error>
  private let ended: Ended

  private final class Ended: Sendable {
    let value = Mutex(false)
  }

  init(
    _ options: InputOptions, _ recorder: Recorder, _ change: (inout InputEnvironment) -> Void = { _ in }
  ) {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    var input = ScanInput(options, handler: recorder, logger: logger)
    change(&input.environment)
    let group = ServiceGroup(configuration: .init(services: [.init(service: input)], logger: logger))
    let ended = Ended()
    self.group = group
    self.ended = ended
    task = Task {
      defer { ended.value.withLock { $0 = true } }
      try await group.run()
    }
  }

  var isRunning: Bool { ended.value.withLock { !$0 } }

  func shutDown() async throws {
    await group.triggerGracefulShutdown()
    try await end()
  }

  /// Waits for the end, which comes by itself.
  func end() async throws {
    try await eventually("the end") { !isRunning }
    try await task.value
  }

  func cancel() async throws {
    task.cancel()
    try await eventually("the end after a cancellation") { !isRunning }
  }
}

/// Runs an input while `body` does, and shuts it down.
func withInput(
  _ source: InputSource, _ recorder: Recorder, line: LineFormat = LineFormat(),
  environment: (inout InputEnvironment) -> Void = { _ in }, _ body: (RunningInput) async throws -> Void
) async throws {
  var options = InputOptions(name: "test", source: source)
  options.line = line
  let input = RunningInput(options, recorder, environment)
  do {
    try await body(input)
  } catch {
    try? await input.cancel()
    throw error
  }
  if input.isRunning { try await input.shutDown() }
}

/// Lets an input wait for its source only as long as a test wants it to.
final class Gate: Sendable {
  private let state = Mutex((passes: 0, waits: [Duration]()))

  /// How long the input wanted to wait, each time.
  var waits: [Duration] { state.withLock { $0.waits } }

  func open(_ times: Int = 1) { state.withLock { $0.passes += times } }

  func sleep(_ duration: Duration) async throws {
    state.withLock { $0.waits.append(duration) }
    while true {
      let passes = state.withLock { state in
        guard state.passes > 0 else { return false }
        state.passes -= 1
        return true
      }
      if passes { return }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}
