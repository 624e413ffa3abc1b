import Synchronization

/// A request under way: its head, and then the pieces of its body, each asked for after the one before.
///
/// A caller that does not read to the end calls ``cancel()``. Memory: the request's body piece by piece, and of the
/// answer two pieces of at most 256 KiB; a server that sends faster than the caller reads has to wait.
package final class HTTPExchange: Sendable {
  private struct State {
    var head: ResponseHead?
    /// The pieces that were not read yet.
    var pieces: [[UInt8]] = []
    /// Whether more bytes have arrived than `pieces` has.
    var hasMore = false
    /// The end of the exchange; `nil` as long as it goes on.
    var end: Result<Void, any Error>?
    var certificateDates: (first: String, last: String)?
    /// Counts the changes, so that a caller that is about to wait notices the last one.
    var version = 0
    /// The caller that waits.
    var waiter: CheckedContinuation<Void, Never>?
    /// The time at which the current wait began.
    var waitingSince = ContinuousClock.now
    /// What to wake when the caller has read a piece or gives up; `nil` before and after the request.
    var transfer: CurlTransfer?
  }

  private let request: ClientRequest
  private let state = Mutex(State())
  /// The longest that a wait for the network is not interrupted, so that a limit of a wait that begins meanwhile is
  /// kept.
  private let pollInterval: Duration

  init(_ request: ClientRequest) {
    self.request = request
    pollInterval = min(request.silenceTimeout ?? .seconds(1), .seconds(1))
  }

  // MARK: For the caller

  /// The head of the answer. Informational answers are skipped, and redirects are answers.
  ///
  /// - Throws: ``ClientError``; `CancellationError`; the error of the request's body.
  package func head() async throws -> ResponseHead {
    try await next { state in
      if let head = state.head { return head }
      try state.end?.get()
      return nil
    }
  }

  /// The next piece of the body, of at least one byte; `nil` at the end of a complete body.
  ///
  /// - Throws: ``ClientError``; `CancellationError`; the error of the request's body.
  package func nextPiece() async throws -> [UInt8]? {
    try await next { state -> [UInt8]?? in
      if !state.pieces.isEmpty {
        if state.hasMore { state.transfer?.wake() }
        return .some(state.pieces.removeFirst())
      }
      try state.end?.get()
      return state.end == nil ? nil : .some(nil)
    }
  }

  /// The first and the last date of the server's certificate, in libcurl's words, after a request that only connects.
  func certificateDates() async throws -> (first: String, last: String)? {
    try await next { state in
      try state.end?.get()
      return state.end == nil ? nil : .some(state.certificateDates)
    }
  }

  /// Ends the exchange, whatever its state.
  package func cancel() { finish(.failure(CancellationError())) }

  /// Waits until `take` returns a value.
  private func next<Value: Sendable>(_ take: @Sendable (inout State) throws -> Value?) async throws -> Value {
    try await withTaskCancellationHandler {
      while true {
        if let deadline = request.deadline, deadline <= .now { finish(.failure(ClientError.timedOut(.deadline))) }
        let (value, version) = try state.withLock { (try take(&$0), $0.version) }
        if let value { return value }
        await withCheckedContinuation { continuation in
          state.withLock { state in
            if state.version != version { return continuation.resume() }
            state.waitingSince = .now
            state.waiter = continuation
          }
        }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Ends the exchange, unless it has ended.
  private func finish(_ end: Result<Void, any Error>) {
    let waiter = state.withLock { state in
      if state.end == nil {
        state.end = end
        state.version += 1
        state.transfer?.wake()
      }
      return state.waiter.take()
    }
    waiter?.resume()
  }

  // MARK: On the thread of the request

  /// Does the request, and returns when it has ended.
  ///
  /// - Parameter whenFree: Called once `transfer` can take the next request after this call.
  func perform(with transfer: CurlTransfer, closesConnection: Bool, whenFree: () -> Void) {
    let mayBegin = state.withLock { state in
      if state.end == nil { state.transfer = transfer }
      return state.end == nil
    }
    var outcome: Result<Void, any Error>?
    if mayBegin {
      do {
        guard transfer.begin(request, closesConnection: closesConnection) else {
          throw ClientError.other("libcurl does not take the request")
        }
        outcome = try run(transfer)
      } catch {
        outcome = .failure(error)
      }
    }
    // After this lock nobody wakes the transfer any more.
    state.withLock { $0.transfer = nil }
    if case .success? = outcome {
      // The caller's next request shall find this connection.
      transfer.end()
      whenFree()
      finish(.success(()))
    } else {
      // Ending may wait for the resolver of names, so the caller is told first.
      if let outcome { finish(outcome) }
      transfer.end()
      whenFree()
    }
  }

  /// Moves bytes until the answer is complete.
  ///
  /// - Returns: How it ended; `nil` if the caller has ended it.
  private func run(_ transfer: CurlTransfer) throws -> Result<Void, any Error>? {
    let start = ContinuousClock.now
    var connected: ContinuousClock.Instant?
    var body = try request.body.map { try BodyAhead($0.makeReader()) }
    if body != nil { try give(&body, to: transfer) }
    while true {
      let isRunning = transfer.perform()
      if transfer.needsBodyAgain() { body = try request.body.map { try BodyAhead($0.makeReader()) } }
      if transfer.needsBody { try give(&body, to: transfer) }
      if connected == nil, transfer.isConnected { connected = .now }
      if !isRunning { return end(transfer) }
      guard let pause = try publish(transfer, start: start, connected: connected) else { return nil }
      transfer.wait(atMost: pause)
    }
  }

  /// Gives the next piece of the request's body.
  private func give(_ body: inout BodyAhead?, to transfer: CurlTransfer) throws {
    guard let (piece, isLast) = try body?.next() else { return }
    guard transfer.give(piece, isLast: isLast) else { throw ClientError.other("there is no memory for a request") }
  }

  /// Gives the caller what has arrived.
  ///
  /// - Returns: How long to wait for the network; `nil` if the caller has ended the exchange.
  /// - Throws: `ClientError.timedOut`.
  private func publish(
    _ transfer: CurlTransfer, start: ContinuousClock.Instant, connected: ContinuousClock.Instant?
  ) throws -> Duration? {
    let now = ContinuousClock.now
    let (waiter, pause) = try state.withLock { state -> (CheckedContinuation<Void, Never>?, Duration?) in
      if state.end != nil { return (nil, nil) }
      let hadHead = state.head != nil
      if !hadHead { state.head = transfer.head }
      if state.head != nil, state.pieces.isEmpty, transfer.hasBody { state.pieces.append(transfer.takeBody()) }
      state.hasMore = transfer.hasBody
      let isNew = hadHead != (state.head != nil) || !state.pieces.isEmpty
      if isNew {
        state.version += 1
        return (state.waiter.take(), pollInterval)
      }
      guard state.waiter != nil else { return (nil, pollInterval) }
      var limit = ClientError.TimeLimit.connect
      var end = start + request.connectTimeout
      if let connected {
        limit = .silence
        let since = state.head == nil ? connected : max(state.waitingSince, connected)
        end = request.silenceTimeout.map { since + $0 } ?? now + pollInterval
      }
      let headEnd = state.head == nil ? request.headTimeout.map { start + $0 } : nil
      for deadline in [request.deadline, headEnd] {
        if let deadline, deadline < end { (limit, end) = (.deadline, deadline) }
      }
      if end <= now { throw ClientError.timedOut(limit) }
      return (nil, min(end - now, pollInterval))
    }
    waiter?.resume()
    return pause
  }

  /// Takes what is left after the last byte.
  private func end(_ transfer: CurlTransfer) -> Result<Void, any Error> {
    let failure = transfer.failure()
    state.withLock { state in
      if state.head == nil { state.head = transfer.head }
      while transfer.hasBody { state.pieces.append(transfer.takeBody()) }
      state.hasMore = false
      state.version += 1
      if request.onlyConnects, let first = transfer.certificateField("Start date"),
        let last = transfer.certificateField("Expire date")
      {
        state.certificateDates = (first, last)
      }
    }
    if let failure { return .failure(failure) }
    // An answer that ends inside its head is a success for libcurl.
    let hasAnswer = request.onlyConnects || state.withLock { $0.head != nil }
    return hasAnswer ? .success(()) : .failure(ClientError.notHTTP)
  }
}

extension HTTPExchange {
  /// The first bytes of the body, at most `count`, and then ends the exchange.
  ///
  /// - Parameter limit: The longest time to wait for them.
  /// - Returns: `nil` if they did not arrive within `limit`.
  /// - Throws: ``ClientError``; `CancellationError`.
  package func prefix(_ count: Int, within limit: Duration) async throws -> [UInt8]? {
    try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
      group.addTask {
        var bytes: [UInt8] = []
        while bytes.count < count, let piece = try await self.nextPiece() { bytes += piece }
        return Array(bytes.prefix(count))
      }
      group.addTask {
        try? await Task.sleep(for: limit)
        return nil
      }
      defer {
        group.cancelAll()
        cancel()
      }
      return try await group.next() ?? nil
    }
  }
}

/// A body that is read one piece ahead: its last piece is given only after the reader has reached its end without an
/// error. So a reader that checks what it has read, as one of a file does, prevents that the receiver gets a complete
/// body.
private struct BodyAhead {
  private let reader: ClientBody.Reader
  private var ahead: [UInt8]?

  init(_ reader: @escaping ClientBody.Reader) throws {
    self.reader = reader
    ahead = try reader()
  }

  /// The next piece; empty after the last one.
  mutating func next() throws -> (piece: [UInt8], isLast: Bool) {
    guard let piece = ahead else { return ([], true) }
    ahead = try reader()
    return (piece, ahead == nil)
  }
}
