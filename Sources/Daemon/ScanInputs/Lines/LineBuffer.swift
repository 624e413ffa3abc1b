import Synchronization

/// A bounded buffer of lines between a task that reads a source and a task that answers them, in order.
///
/// A source is read again when its lines are answered. If a pause ends a line, it is also read meanwhile, because an
/// undetected pause would join two codes. Then up to ``readAheadCount`` lines are buffered.
final class LineBuffer: Sendable {
  static let readAheadCount = 256

  private struct State {
    var lines: [LineFramer.Line] = []
    /// The number of lines that were taken and are not answered yet.
    var takenCount = 0
    /// Whether no more lines will be added.
    var isFinished = false
    /// Whether no more lines will be taken, so the reader must not wait.
    var isAbandoned = false
    var reader: CheckedContinuation<Void, Never>?
    var taker: CheckedContinuation<Void, Never>?
  }

  private let capacity: Int
  /// Guards the lines and the two waiting tasks: one reads, one answers.
  private let state = Mutex(State())

  private init(_ format: LineFormat) { capacity = format.idleTimeout == nil ? 0 : Self.readAheadCount }

  /// Reads lines until `read` returns an end, and answers each, one after another.
  ///
  /// - Parameters:
  ///   - read: Waits for the next lines.
  ///   - answer: Answers a line.
  /// - Returns: The end, once all lines are answered.
  /// - Throws: `CancellationError`.
  static func run<End: Sendable>(
    _ format: LineFormat, read: () async -> (lines: [LineFramer.Line], end: End?),
    answer: @escaping @Sendable (LineFramer.Line) async -> Void
  ) async throws -> End {
    let buffer = LineBuffer(format)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { buffer.abandon() }
        while let line = await buffer.take() {
          try Task.checkCancellation()
          await answer(line)
          buffer.answered()
        }
      }
      while true {
        let (lines, end) = await read()
        await buffer.put(lines)
        guard let end else { continue }
        buffer.finish()
        try await group.waitForAll()
        return end
      }
    }
  }

  /// Adds lines, and waits for room.
  private func put(_ lines: [LineFramer.Line]) async {
    if lines.isEmpty { return }
    await withCheckedContinuation { continuation in
      let (hasRoom, taker) = state.withLock { state in
        state.lines += lines
        let hasRoom = state.isAbandoned || state.lines.count + state.takenCount <= capacity
        if !hasRoom { state.reader = continuation }
        defer { state.taker = nil }
        return (hasRoom, state.taker)
      }
      taker?.resume()
      if hasRoom { continuation.resume() }
    }
  }

  private func finish() {
    let taker = state.withLock { state in
      state.isFinished = true
      defer { state.taker = nil }
      return state.taker
    }
    taker?.resume()
  }

  /// The next line; `nil` at the end.
  private func take() async -> LineFramer.Line? {
    while true {
      let (line, isFinished) = state.withLock { state -> (LineFramer.Line?, Bool) in
        guard !state.lines.isEmpty else { return (nil, state.isFinished) }
        state.takenCount += 1
        return (state.lines.removeFirst(), false)
      }
      if line != nil || isFinished { return line }
      await withCheckedContinuation { continuation in
        let shouldResume = state.withLock { state in
          if !state.lines.isEmpty || state.isFinished { return true }
          state.taker = continuation
          return false
        }
        if shouldResume { continuation.resume() }
      }
    }
  }

  private func answered() {
    let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.takenCount -= 1
      guard state.lines.count + state.takenCount <= capacity else { return nil }
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume()
  }

  private func abandon() {
    let reader = state.withLock { state in
      state.isAbandoned = true
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume()
  }
}
