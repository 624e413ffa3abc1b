import Dispatch

/// A thread for what blocks: commits, waits for a lock, the opening of files. None of that may hold up the few threads that
/// all tasks share.
///
/// As an executor it runs a task, and all that the task calls, on that thread.
final class BlockingThread: TaskExecutor {
  private let queue: DispatchQueue

  init(_ label: String) { queue = DispatchQueue(label: "shelfmark.daemon." + label) }

  /// Runs `body` behind what was asked for before.
  func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Swift.Result(catching: body)) }
    }
  }

  /// Runs `body` behind what was asked for before, and does not wait for it.
  func post(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// The same, not sooner than in this time.
  func post(after milliseconds: Int, _ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds), execute: body)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    // Each job is handed over once, and run once: the queue runs everything that it takes. The closure keeps the executor.
    let job = UnownedJob(job)
    queue.async { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
