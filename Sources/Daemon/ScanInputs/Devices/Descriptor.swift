import Platform
import Synchronization

/// A file descriptor, and an action before it is closed. Its calls block, so make them on an ``InputThread``.
final class Descriptor: Sendable {
  /// The maximum number of bytes in one read.
  static let readByteCount = 4096
  /// The maximum number of bytes in one write. A descriptor that is ready for writing has room for this many, so a
  /// write does not block even on a blocking descriptor, for example a shared standard output.
  static let writeByteCount = 512
  /// The longest time that an output that accepts no data may delay the end of an input.
  static let timeoutAtEnd = Duration.seconds(2)

  /// The result of a wait or a read.
  enum Piece: Sendable, Equatable {
    case bytes([UInt8])
    /// No bytes arrived within the time limit.
    case idle
    /// End of file.
    case end
    /// The input must end.
    case stopped
  }

  let number: CInt
  private let isOwned: Bool
  private let prepareClose: (@Sendable () -> Void)?
  private let isClosed = Atomic(false)

  /// Wraps a descriptor.
  ///
  /// - Parameters:
  ///   - isOwned: Whether ``close()``, or releasing the object, closes the descriptor.
  ///   - prepareClose: An action before the descriptor is closed.
  init(_ number: CInt, isOwned: Bool = true, prepareClose: (@Sendable () -> Void)? = nil) {
    self.number = number
    self.isOwned = isOwned
    self.prepareClose = prepareClose
  }

  deinit { close() }

  func close() {
    guard isOwned, !isClosed.exchange(true, ordering: .relaxed) else { return }
    prepareClose?()
    #if canImport(Glibc)
    Glibc.close(number)
    #elseif canImport(Musl)
    Musl.close(number)
    #else
    Darwin.close(number)
    #endif
  }

  /// Waits for bytes and reads some of them.
  func read(within limit: Duration? = nil, ending: Ending) throws(InputError) -> Piece {
    while true {
      let ready = try wait(for: POLLIN, or: [ending.cancel, ending.stop], within: limit)
      if ending.stop.isTripped || ending.cancel.isTripped { return .stopped }
      if !ready { return .idle }
      var count = 0
      var code: CInt = 0
      // The buffer has room for the requested number of bytes, and the number of bytes read is initialised.
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.readByteCount) { buffer, filled in
        count = unsafe systemRead(number, buffer.baseAddress, Self.readByteCount)
        code = errno
        filled = max(0, count)
      }
      if count > 0 { return .bytes(bytes) }
      if count == 0 { return .end }
      guard code == EAGAIN || code == EINTR else { throw InputError("cannot read", code: code) }
    }
  }

  /// Writes all bytes, waiting until they are accepted.
  ///
  /// - Parameter limit: The longest time without progress; `nil` to wait as long as the input runs.
  func write(_ bytes: [UInt8], within limit: Duration?, ending: Ending) throws(InputError) {
    Self.ignoreBrokenPipes
    let clock = ContinuousClock()
    var written = 0
    var lastProgress = clock.now
    while written < bytes.count {
      let isEnding = ending.stop.isTripped
      let latches = isEnding ? [ending.cancel] : [ending.cancel, ending.stop]
      let timeout = isEnding ? min(limit ?? Self.timeoutAtEnd, Self.timeoutAtEnd) : limit
      let ready = try wait(for: POLLOUT, or: latches, within: timeout.map { $0 - (clock.now - lastProgress) })
      if ending.cancel.isTripped { throw InputError("the input was ended") }
      if isEnding != ending.stop.isTripped { continue }
      guard ready else { throw InputError("nobody takes it") }
      // The bytes after `written`, at most as many as there are.
      let count = unsafe bytes.withUnsafeBytes { buffer in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
        return unsafe systemWrite(number, rest.baseAddress, min(rest.count, Self.writeByteCount))
      }
      if count >= 0 {
        written += count
        lastProgress = clock.now
      } else if errno == EAGAIN {
        // There is room, but not enough, and `poll` cannot wait for more.
        if let timeout, clock.now - lastProgress >= timeout { throw InputError("nobody takes it") }
        usleep(1000)
      } else if errno != EINTR {
        throw InputError("cannot write", code: errno)
      }
    }
  }

  /// Makes a write to a broken pipe return an error instead of ending the process; once, for the entire process.
  private static let ignoreBrokenPipes: Void = {
    _ = signal(SIGPIPE, SIG_IGN)
  }()

  /// Waits until the descriptor is ready or one of the latches is tripped.
  ///
  /// - Returns: Whether the descriptor is ready: it has bytes, room, an end or an error.
  private func wait(for events: Int32, or latches: [Latch], within limit: Duration?) throws(InputError) -> Bool {
    let clock = ContinuousClock()
    let deadline = limit.map { clock.now + $0 }
    while true {
      var entries = [pollfd(fd: number, events: Int16(events), revents: 0)]
      for latch in latches { entries.append(pollfd(fd: latch.descriptor, events: Int16(POLLIN), revents: 0)) }
      let left = deadline.map { $0 - clock.now }
      // The array has as many entries as the call is given.
      let count = unsafe poll(&entries, nfds_t(entries.count), left.map(Self.milliseconds) ?? -1)
      if count > 0 { return entries[0].revents != 0 }
      if count < 0, errno != EINTR { throw InputError("cannot wait", code: errno) }
      if let deadline, clock.now >= deadline { return false }
    }
  }

  /// Milliseconds, rounded up so that a wait is never too short; at most a day.
  private static func milliseconds(_ duration: Duration) -> CInt {
    let parts = min(max(duration, .zero), .seconds(86_400)).components
    return CInt(parts.seconds * 1000 + (parts.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

// The type has methods of these names.

private func systemRead(_ number: CInt, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int {
  unsafe read(number, buffer, count)
}

private func systemWrite(_ number: CInt, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(number, buffer, count)
}
