import NIOPosix

/// A dedicated thread for the blocking calls of one input, so that they do not block the cooperative pool or an event
/// loop.
///
/// An input that is read while its answers are written has two threads.
struct InputThread: Sendable {
  private let pool: NIOThreadPool

  private init(count: Int) {
    pool = NIOThreadPool(numberOfThreads: count)
    pool.start()
  }

  /// Runs `body` with a thread, which ends with it.
  ///
  /// - Parameters:
  ///   - format: The line format. If a pause ends lines, the input is read while answers are written.
  ///   - hasAnswers: Whether answers are written.
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
