import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A descriptor, and what is to be done before it is closed. Its calls block: they are made on a ``InputThread``.
final class Descriptor: Sendable {
  /// The most bytes that one call reads.
  static let readByteCount = 4096
  /// The most bytes that one call writes. What can be written to has room for so many, so that a descriptor that blocks, such as
  /// a standard output that is shared with others, does not.
  static let writeByteCount = 512
  /// How long whoever does not take answers may hold up the end of an input.
  static let patienceAtEnd = Duration.seconds(2)

  /// What a wait or a read came to.
  enum Piece: Sendable, Equatable {
    case bytes([UInt8])
    /// Nothing came for as long as was asked for.
    case idle
    /// There will be no more.
    case end
    /// The input is to end.
    case stopped
  }

  let number: CInt
  private let isOwned: Bool
  private let prepareClose: (@Sendable () -> Void)?
  private let isClosed = Atomic(false)

  /// - Parameters:
  ///   - isOwned: Whether it is closed by ``close()`` or with the object.
  ///   - prepareClose: Called before that.
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
      // The buffer has room for as many bytes as are asked for, and as many as are said to be read are initialised.
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

  /// Writes all bytes, as fast as they are taken.
  ///
  /// - Parameter limit: How long to wait where nothing is taken; `nil` for as long as the input runs.
  func write(_ bytes: [UInt8], within limit: Duration?, ending: Ending) throws(InputError) {
    Self.ignoreBrokenPipes
    let clock = ContinuousClock()
    var written = 0
    var lastProgress = clock.now
    while written < bytes.count {
      let isEnding = ending.stop.isTripped
      let latches = isEnding ? [ending.cancel] : [ending.cancel, ending.stop]
      let patience = isEnding ? min(limit ?? Self.patienceAtEnd, Self.patienceAtEnd) : limit
      let ready = try wait(for: POLLOUT, or: latches, within: patience.map { $0 - (clock.now - lastProgress) })
      if ending.cancel.isTripped { throw InputError("the input was ended") }
      if isEnding != ending.stop.isTripped { continue }
      guard ready else { throw InputError("nobody takes it") }
      // The bytes from `written` on, at most as many as there are.
      let count = unsafe bytes.withUnsafeBytes { buffer in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
        return unsafe systemWrite(number, rest.baseAddress, min(rest.count, Self.writeByteCount))
      }
      if count >= 0 {
        written += count
        lastProgress = clock.now
      } else if errno == EAGAIN {
        // There is room, but not as much as it takes: nothing tells when there is.
        if let patience, clock.now - lastProgress >= patience { throw InputError("nobody takes it") }
        usleep(1000)
      } else if errno != EINTR {
        throw InputError("cannot write", code: errno)
      }
    }
  }

  /// Makes a write to a pipe that nobody reads an error, and not the end of the process; once, for the whole process.
  private static let ignoreBrokenPipes: Void = {
    _ = signal(SIGPIPE, SIG_IGN)
  }()

  /// Waits until the descriptor or one of the latches has something.
  ///
  /// - Returns: Whether the descriptor has: bytes, room, an end or an error.
  private func wait(for events: Int32, or latches: [Latch], within limit: Duration?) throws(InputError) -> Bool {
    let clock = ContinuousClock()
    let deadline = limit.map { clock.now + $0 }
    while true {
      var entries = [pollfd(fd: number, events: Int16(events), revents: 0)]
      for latch in latches { entries.append(pollfd(fd: latch.descriptor, events: Int16(POLLIN), revents: 0)) }
      let left = deadline.map { $0 - clock.now }
      // The array has as many entries as the system is told.
      let count = unsafe poll(&entries, nfds_t(entries.count), left.map(Self.milliseconds) ?? -1)
      if count > 0 { return entries[0].revents != 0 }
      if count < 0, errno != EINTR { throw InputError("cannot wait", code: errno) }
      if let deadline, clock.now >= deadline { return false }
    }
  }

  /// Rounded up, so that a wait is never for nothing; at most a day.
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
