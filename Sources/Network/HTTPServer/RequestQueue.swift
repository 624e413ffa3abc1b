import HTTPTypes
import NIOCore
import Synchronization

/// The queue of one connection's requests, from the event loop that reads them to the task that answers them.
///
/// Invariants:
///
/// - Parts are taken in the order in which they arrived, by one reader at a time.
/// - A request is taken only after the response to the previous one has been written, and only while the channel
///   accepts more bytes. So a peer that sends many requests and reads no response does not make memory grow.
/// - The event loop reads no more from the peer while ``highWatermark`` parts wait.
final class RequestQueue: Sendable {
  /// A part of a request.
  enum Part: Sendable {
    case head(HTTPRequest, expectsContinue: Bool)
    case body(ByteBuffer)
    case end
  }

  /// What a reader waits for.
  enum Wanted: Sendable {
    /// The head of the next request.
    case request
    /// The next part of the body of the request with this number, or its end.
    case body(Int)
  }

  /// How much of a response has been handed to the event loop.
  private enum Progress {
    case none, begun, ended
  }

  /// The number of waiting parts at which the connection is not read any more: the parts of four small requests, or
  /// eight reads of a body.
  private static let highWatermark = 8
  /// The number of waiting parts at which the connection is read again.
  private static let lowWatermark = 2

  private struct State {
    var parts = CircularBuffer<Part>(initialCapacity: 8)
    var reader: (wanted: Wanted, continuation: CheckedContinuation<Part?, any Error>)?
    var closeObserver: CheckedContinuation<Void, Never>?
    /// Why the parser refused the bytes after `parts`.
    var failure: (any Error)?
    /// Whether no request comes after those in `parts`.
    var isComplete = false
    /// Whether the peer sends nothing any more.
    var isClosed = false
    /// Whether nothing is taken any more.
    var isStopped = false
    /// Whether the event loop waits until it may read again.
    var isHeld = false
    /// The number of requests that were taken.
    var number = 0
    /// Whether the body of the last request was taken completely.
    var isBodyTaken = true
    /// Whether the peer waits for `100 Continue` before it sends the body.
    var isContinueDue = false
    var response = Progress.ended
    /// Whether the last response is the last one of the connection.
    var isLast = false
    /// Whether a response has begun that the event loop has not written completely.
    var isWriting = false
    /// Whether the channel accepts no more bytes.
    var isFull = false

    /// Takes what a reader waits for; `nil` if it has to wait.
    mutating func take(_ wanted: Wanted) -> Result<Part?, any Error>? {
      switch wanted {
      case .request:
        if isStopped || isLast { return .success(nil) }
        if isWriting || isFull { return nil }
        guard let part = parts.popFirst() else {
          if let failure { return .failure(failure) }
          return isComplete || isClosed ? .success(nil) : nil
        }
        guard case .head(_, let expectsContinue) = part else { preconditionFailure("a request begins with its head") }
        number += 1
        isBodyTaken = false
        isContinueDue = expectsContinue && parts.isEmpty
        response = .none
        return .success(part)
      case .body(let number):
        guard number == self.number, !isBodyTaken else { return .success(nil) }
        if isStopped { return .failure(RequestBodyError.interrupted) }
        if let part = parts.popFirst() {
          if case .end = part { isBodyTaken = true }
          return .success(part)
        }
        return isClosed || failure != nil ? .failure(RequestBodyError.interrupted) : nil
      }
    }

    /// Whether the event loop has to be told that it may read again.
    mutating func releasesHold() -> Bool {
      guard isHeld, parts.count <= RequestQueue.lowWatermark || isStopped else { return false }
      isHeld = false
      return true
    }
  }

  private let state = Mutex(State())
  private let channel: any Channel
  /// The number of writes that were begun. Relaxed, because no other memory depends on it.
  private let writes = Atomic(0)

  /// - Parameter channel: The channel of the connection.
  init(_ channel: any Channel) { self.channel = channel }

  // MARK: The task

  /// Takes the next part.
  ///
  /// - Returns: `nil` after the last request, or after the last part of a body.
  /// - Throws: `HTTPParserError` if there is no request, but something else; ``RequestBodyError/interrupted`` if the
  ///   rest of a body does not come; `CancellationError`.
  func next(_ wanted: Wanted) async throws -> Part? {
    let (result, reads) = state.withLock { state in (state.take(wanted), state.releasesHold()) }
    if reads { channel.read() }
    if let result { return try result.get() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<Part?, any Error>? = state.withLock { state in
          if let result = state.take(wanted) { return result }
          // Cancellation that comes later finds the reader.
          if Task.isCancelled { return .failure(CancellationError()) }
          precondition(state.reader == nil, "a body is read by one task at a time")
          state.reader = (wanted, continuation)
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let reader = state.withLock { $0.reader.take() }
      reader?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Whether the peer has to be told now to send the body of a request.
  func claimContinue(_ number: Int) -> Bool {
    state.withLock { state in
      guard state.isContinueDue, state.number == number, state.response == .none else { return false }
      state.isContinueDue = false
      return true
    }
  }

  /// Begins the response to a request. Each request has one.
  ///
  /// - Parameters:
  ///   - closes: Whether the connection ends after the response.
  ///   - isWhole: Whether the response is written at once.
  /// - Returns: Whether the connection ends after the response: also if the peer still waits for `100 Continue`, as it
  ///   is not known whether it sends the body.
  func beginResponse(_ number: Int, closes: Bool, isWhole: Bool) -> Bool {
    state.withLock { state in
      precondition(state.number == number && state.response == .none, "a request has one response")
      state.response = isWhole ? .ended : .begun
      state.isWriting = true
      state.isLast = closes || state.isContinueDue
      return state.isLast
    }
  }

  /// Ends the response to a request.
  ///
  /// - Returns: Whether it had not ended before.
  func endResponse(_ number: Int) -> Bool {
    state.withLock { state in
      guard state.number == number, state.response == .begun else { return false }
      state.response = .ended
      return true
    }
  }

  /// Whether the response to the last request has ended.
  var hasEndedResponse: Bool { state.withLock { $0.response == .ended } }

  /// Whether there may be another request after the last one.
  var goesOn: Bool { state.withLock { !$0.isLast && !$0.isStopped } }

  /// A number that no other write of the connection has.
  func makeWriteNumber() -> Int { writes.add(1, ordering: .relaxed).newValue }

  /// Waits until the peer sends nothing any more, because it has closed its side or the connection is gone. One task at
  /// a time may wait.
  ///
  /// - Throws: `CancellationError`.
  func waitUntilClosed() async throws {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isClosed || state.isStopped || Task.isCancelled { return true }
          precondition(state.closeObserver == nil, "one task waits for the end of a connection")
          state.closeObserver = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.closeObserver.take() }?.resume()
    }
    try Task.checkCancellation()
  }

  // MARK: The event loop

  /// Appends a part.
  func push(_ part: Part) {
    update { state in
      // The peer has not waited.
      if state.isContinueDue { state.isContinueDue = false }
      state.parts.append(part)
    }
  }

  /// Reports that the parser does not understand what the peer sends.
  func fail(_ error: any Error) { update { $0.failure = error } }

  /// Reports that the last request has arrived.
  func complete() { update { $0.isComplete = true } }

  /// Reports that the peer sends nothing any more.
  func close() {
    update { $0.isClosed = true }
    state.withLock { $0.closeObserver.take() }?.resume()
  }

  /// Drops all parts, because the connection ends.
  func stop() {
    update { state in
      state.isStopped = true
      state.parts.removeAll()
    }
    state.withLock { $0.closeObserver.take() }?.resume()
  }

  /// Reports that a response was written completely.
  func responseWritten() { update { $0.isWriting = false } }

  /// Reports whether the channel accepts more bytes.
  func setFull(_ isFull: Bool) { update { $0.isFull = isFull } }

  /// Whether the event loop must not read now. It is asked to read again.
  func holds() -> Bool {
    state.withLock { state in
      state.isHeld = state.parts.count >= Self.highWatermark && !state.isStopped
      return state.isHeld
    }
  }

  private func update(_ change: (inout sending State) -> Void) {
    let (reader, result, reads) = state.withLock { state in
      change(&state)
      guard let reader = state.reader, let result = state.take(reader.wanted) else {
        return (
          nil as CheckedContinuation<Part?, any Error>?, Result<Part?, any Error>.success(nil), state.releasesHold()
        )
      }
      state.reader = nil
      return (reader.continuation, result, state.releasesHold())
    }
    reader?.resume(with: result)
    if reads { channel.read() }
  }
}
