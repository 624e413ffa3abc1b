import NIOCore
import NIOPosix

/// A task executor on an event loop's thread, so that a connection's line is answered without a context switch.
///
/// As with all tasks, jobs must not block for long.
final class EventLoopExecutor: TaskExecutor {
  /// The event loops for the connections of inputs, for the lifetime of the process. They are separate, so that a
  /// lookup that waits for a disk does not delay other servers of the process.
  static let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)

  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    // Each job is submitted once and run once: an event loop runs every closure that it accepts. The closure retains
    // the executor.
    let job = UnownedJob(job)
    loop.execute { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
