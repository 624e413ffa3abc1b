import NIOPosix

/// A thread of its own for one input, where calls may block: neither the tasks of the process nor its sockets wait for them.
///
/// An input that is read while its answers are written has two threads.
struct InputThread: Sendable {
  private let pool: NIOThreadPool

  private init(count: Int) {
    pool = NIOThreadPool(numberOfThreads: count)
    pool.start()
  }

  /// Gives `body` a thread, which ends with it.
  ///
  /// - Parameters:
  ///   - format: The lines of the input: where a pause ends them, it is read while answers are written.
  ///   - hasAnswers: Whether there are answers to write.
  static func use<Result>(
    _ format: LineFormat, hasAnswers: Bool, _ body: (InputThread) async throws -> Result
  ) async throws -> Result {
    let thread = InputThread(count: hasAnswers && format.idleTimeout != nil ? 2 : 1)
    do {
      let result = try await body(thread)
      await thread.end()
      return result
    } catch {
      await thread.end()
      throw error
    }
  }

  /// Runs `body` on a thread of the input. Calls that wait for each other run in order.
  func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      pool.submit { _ in continuation.resume(returning: body()) }
    }
  }

  private func end() async { try? await pool.shutdownGracefully() }
}
