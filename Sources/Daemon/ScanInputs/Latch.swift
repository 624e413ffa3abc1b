import Platform
import Synchronization

/// A one-time event that can be polled like a file descriptor: the read end of a pipe that becomes readable.
final class Latch: Sendable {
  let descriptor: CInt
  private let writingEnd: CInt
  /// Relaxed: the pipe synchronises readers that need earlier writes.
  private let tripped = Atomic(false)

  init() throws(InputError) {
    var ends: [CInt] = [-1, -1]
    // The array has room for the two descriptors.
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
    // Writes one byte from a variable of one byte. An empty pipe has room for it.
    _ = unsafe write(writingEnd, &byte, 1)
  }
}

/// The events that end an input.
struct Ending: Sendable {
  /// Stops reading; the lines that were read are answered.
  let stop: Latch
  /// Ends everything at once. It implies `stop`.
  let cancel: Latch

  init() throws(InputError) {
    stop = try Latch()
    cancel = try Latch()
  }
}
