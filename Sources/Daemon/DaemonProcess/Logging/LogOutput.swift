package import Dispatch
import Platform
import Synchronization

/// An asynchronous writer of lines to a file descriptor. It has a thread of its own, so that logging never waits for a
/// slow reader.
///
/// Pending lines take at most ``capacity`` bytes. Further lines are dropped, and their number is reported as soon as
/// lines can be written again.
package final class LogOutput: Sendable {
  /// The maximum number of pending bytes.
  package let capacity: Int

  private struct State {
    var waiting: [UInt8] = []
    var isWriting = false
    var droppedCount = 0
  }

  private let descriptor: Int32
  private let droppedLine: @Sendable (Int) -> [UInt8]
  private let queue = DispatchQueue(label: "shelfmark.log")
  /// Guards the pending lines. Never held while bytes are written.
  private let state = Mutex(State())

  /// Creates an output to a file descriptor.
  ///
  /// - Parameters:
  ///   - descriptor: The file descriptor to write to. It must stay open, and is not closed here.
  ///   - capacity: The maximum number of pending bytes.
  ///   - droppedLine: Returns the line that reports the number of dropped lines.
  package init(
    descriptor: Int32, capacity: Int = 1 << 20, droppedLine: @escaping @Sendable (_ count: Int) -> [UInt8]
  ) {
    self.descriptor = descriptor
    self.capacity = capacity
    self.droppedLine = droppedLine
  }

  /// Creates an output that reports dropped lines in the format of the log.
  package convenience init(descriptor: Int32, settings: LogSettings) {
    self.init(descriptor: descriptor) { count in
      LogLine(
        time: .now, level: .warning, label: "log", message: "lines were dropped: nobody read them in time", error: nil,
        metadata: ["count": .stringConvertible(count)]
      ).bytes(settings.style)
    }
  }

  /// Writes a line, which includes its line feed. Never blocks.
  @Sendable package func write(_ line: [UInt8]) {
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

  /// Waits until all lines accepted so far are written, but no longer than the timeout.
  package func flush(timeout: DispatchTimeInterval = .seconds(2)) {
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

  /// Writes all bytes, or as many as possible. A failure cannot be reported anywhere.
  private func send(_ bytes: [UInt8]) {
    var start = 0
    while start < bytes.count {
      // The array lives during the call, which reads no further than its end.
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Self.writeOnce(descriptor, UnsafeRawBufferPointer(rebasing: $0[start...]))
      }
      if count >= 0 {
        start += count
      } else if errno == EAGAIN || errno == EWOULDBLOCK {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // One structure, which lives during the call.
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
