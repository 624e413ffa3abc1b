import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Something that happens once, and that who waits for descriptors can wait for as well: the reading end of a pipe that has
/// something to read from then on.
final class Latch: Sendable {
  let descriptor: CInt
  private let writingEnd: CInt
  /// Relaxed: who needs to see what came before is told by the pipe.
  private let tripped = Atomic(false)

  init() throws(InputError) {
    var ends: [CInt] = [-1, -1]
    // The array has room for the two numbers that are written.
    guard unsafe pipe(&ends) == 0 else { throw InputError("cannot make a pipe", code: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    descriptor = ends[0]
    writingEnd = ends[1]
  }

  deinit {
    close(descriptor)
    close(writingEnd)
  }

  var isTripped: Bool { tripped.load(ordering: .relaxed) }

  func trip() {
    guard !tripped.exchange(true, ordering: .relaxed) else { return }
    var byte: UInt8 = 1
    // One byte of one byte; an empty pipe has room for it.
    _ = unsafe write(writingEnd, &byte, 1)
  }
}

/// How an input ends.
struct Ending: Sendable {
  /// Nothing more is read; what was read is answered.
  let stop: Latch
  /// Everything ends at once. It stops as well.
  let cancel: Latch

  init() throws(InputError) {
    stop = try Latch()
    cancel = try Latch()
  }
}
