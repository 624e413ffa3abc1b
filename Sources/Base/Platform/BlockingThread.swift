import Dispatch

/// A thread for calls that block: commits, waits for a lock, the opening of files. None of them may hold up the few
/// threads that all tasks share.
///
/// As an executor it runs a task, and everything that the task calls, on that thread.
package final class BlockingThread: TaskExecutor {
  private let queue: DispatchQueue

  /// - Parameter label: The name of the thread, for people who look at the process.
  package init(_ label: String) { queue = DispatchQueue(label: "shelfmark." + label) }

  /// Runs `body` on a thread that no task waits for. Several calls run at the same time.
  package static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await run(on: .global(), body)
  }

  /// Runs `body` after everything that was asked for before.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await Self.run(on: queue, body)
  }

  /// Runs `body` after everything that was asked for before, and does not wait for it.
  package func post(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// Runs `body` after `delay`, or later if the thread is busy then, and does not wait for it.
  package func post(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + .microseconds(Int(delay / .microseconds(1))), execute: body)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    // Each job is handed over once, and run once: the queue runs everything that it takes. The closure keeps the
    // executor.
    let job = UnownedJob(job)
    queue.async { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  private static func run<Value: Sendable>(
    on queue: DispatchQueue, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: body)) }
    }
  }
}
