import NIOPosix

/// A thread of its own for one input, where calls may block: neither the tasks of the process nor its sockets wait for them.
struct InputThread: Sendable {
  private let pool = NIOThreadPool(numberOfThreads: 1)

  private init() { pool.start() }

  /// Gives `body` a thread, which ends with it.
  static func use<Result>(_ body: (InputThread) async throws -> Result) async throws -> Result {
    let thread = InputThread()
    do {
      let result = try await body(thread)
      await thread.end()
      return result
    } catch {
      await thread.end()
      throw error
    }
  }

  /// Runs `body` on the thread, behind what it was given before.
  func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      pool.submit { _ in continuation.resume(returning: body()) }
    }
  }

  private func end() async { try? await pool.shutdownGracefully() }
}
