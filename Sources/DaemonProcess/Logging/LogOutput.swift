public import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Writes lines to a descriptor on a thread of its own, so that nobody who logs waits for whoever reads.
///
/// Lines that wait take at most ``capacity`` bytes. What comes while they do is dropped, and how much is told as soon as
/// lines are written again.
public final class LogOutput: Sendable {
  /// The most bytes that wait.
  public let capacity: Int

  private struct State {
    var waiting: [UInt8] = []
    var isWriting = false
    var droppedCount = 0
  }

  private let descriptor: Int32
  private let droppedLine: @Sendable (Int) -> [UInt8]
  private let queue = DispatchQueue(label: "shelfmark.log")
  /// Guards what waits. Never held while bytes are written.
  private let state = Mutex(State())

  /// Creates an output to a file descriptor.
  ///
  /// - Parameters:
  ///   - descriptor: stays open, and is not closed here.
  ///   - capacity: the most bytes that wait.
  ///   - droppedLine: the line that tells how many were dropped.
  public init(
    descriptor: Int32, capacity: Int = 1 << 20, droppedLine: @escaping @Sendable (_ count: Int) -> [UInt8]
  ) {
    self.descriptor = descriptor
    self.capacity = capacity
    self.droppedLine = droppedLine
  }

  /// An output that tells of dropped lines as a log looks.
  public convenience init(descriptor: Int32, settings: LogSettings) {
    self.init(descriptor: descriptor) { count in
      LogLine(
        time: .now, level: .warning, label: "log", message: "lines were dropped: nobody read them in time", error: nil,
        metadata: ["count": .stringConvertible(count)]
      ).bytes(settings.style)
    }
  }

  /// Takes a line with its line feed. Never waits.
  @Sendable public func write(_ line: [UInt8]) {
    let begins = state.withLock { state in
      guard state.waiting.count + line.count <= capacity else {
        state.droppedCount += 1
        return false
      }
      state.waiting += line
      if state.isWriting { return false }
      state.isWriting = true
      return true
    }
    if begins { queue.async { self.writeWaiting() } }
  }

  /// Waits until what was taken so far is written, but no longer than the time given.
  public func flush(timeout: DispatchTimeInterval = .seconds(2)) {
    let done = DispatchSemaphore(value: 0)
    queue.async { done.signal() }
    _ = done.wait(timeout: .now() + timeout)
  }

  private func writeWaiting() {
    while true {
      let (lines, droppedCount) = state.withLock { state in
        let taken = (state.waiting, state.droppedCount)
        state.waiting = []
        state.droppedCount = 0
        if taken.0.isEmpty, taken.1 == 0 { state.isWriting = false }
        return taken
      }
      if lines.isEmpty, droppedCount == 0 { return }
      send(lines)
      if droppedCount > 0 { send(droppedLine(droppedCount)) }
    }
  }

  /// Writes all bytes, or as many as can be: where nobody reads, there is nobody to tell.
  private func send(_ bytes: [UInt8]) {
    var start = 0
    while start < bytes.count {
      // The array lives for the call, which reads no further than its end.
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Self.writeOnce(descriptor, UnsafeRawBufferPointer(rebasing: $0[start...]))
      }
      if count >= 0 {
        start += count
      } else if errno == EAGAIN || errno == EWOULDBLOCK {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // One structure, which lives for the call.
        unsafe poll(&waiting, 1, 1000)
      } else if errno != EINTR {
        return
      }
    }
  }

  private static func writeOnce(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
    unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #elseif canImport(Musl)
    unsafe Musl.write(descriptor, bytes.baseAddress, bytes.count)
    #else
    unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
  }
}
