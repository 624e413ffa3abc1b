#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Elapsed time and the processor time of this thread, in nanoseconds.
///
/// On a shared machine the processor time is the truer one for work in memory: it stands still while another process
/// has the core. Caches that the other one emptied still count.
package struct Elapsed {
  package var wall: Double
  package var processor: Double

  package init(wall: Double, processor: Double) {
    self.wall = wall
    self.processor = processor
  }

  /// Runs `body` and tells what it took.
  package static func of<Result>(_ body: () throws -> Result) rethrows -> (Result, Elapsed) {
    let start = now()
    let result = try body()
    let end = now()
    return (result, Elapsed(wall: end.wall - start.wall, processor: end.processor - start.processor))
  }

  package static func now() -> Elapsed {
    Elapsed(wall: read(CLOCK_MONOTONIC), processor: read(CLOCK_THREAD_CPUTIME_ID))
  }

  /// The clock on the wall alone, which costs no system call.
  package static func wallNow() -> Double { read(CLOCK_MONOTONIC) }

  private static func read(_ clock: clockid_t) -> Double {
    var time = timespec()
    // The call fills the local structure.
    unsafe clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
