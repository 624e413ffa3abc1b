import NIOCore
import NIOPosix

/// Runs a task on the thread of an event loop: between what a connection receives and what it is answered with no other thread is
/// woken.
///
/// What runs there must not block for long, as with all tasks.
final class EventLoopExecutor: TaskExecutor {
  /// The event loops of connections of inputs, for as long as the process runs. They are their own, so that a lookup that waits for
  /// a disk holds up no other server of the process.
  static let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)

  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    // Each job is handed over once, and run once: an event loop runs everything that it takes. The closure keeps the executor.
    let job = UnownedJob(job)
    loop.execute { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
