import Dispatch
import Synchronization

/// Work on pieces that a second thread does in their order, while the first one prepares the next: the faster one
/// waits.
///
/// The work returns what is to be used again of a piece, such as its buffers. After a failure, or when the work is
/// given up, the pieces that wait are dropped.
package final class PipelineStage<Piece: Sendable, Failure: Error>: Sendable {
  private struct State {
    var failure: Failure?
    var isGivenUp = false
    /// Pieces that are done, for reuse.
    var free: [Piece] = []
  }

  private let work: @Sendable (Piece) throws(Failure) -> Piece?
  // Guards the state. The lock is held only to read or change it.
  private let state = Mutex(State())
  /// A serial queue, so that the pieces keep their order.
  private let queue: DispatchQueue
  /// The number of pieces that may still be queued.
  private let room = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - label: What debuggers call the thread.
  ///   - ahead: The number of pieces that may be queued or worked on before ``send(_:)`` waits.
  ///   - work: What is done with a piece, by one thread at a time. Returns the piece if it is to be used again.
  package init(
    label: String, ahead: Int, _ work: @escaping @Sendable (Piece) throws(Failure) -> Piece?
  ) {
    self.work = work
    queue = DispatchQueue(label: label)
    // A semaphore must not be destroyed with a lower value than its initial one, so that is zero.
    for _ in 0..<ahead { room.signal() }
  }

  /// Queues a piece. Waits while too many are queued.
  ///
  /// - Returns: An earlier piece whose work is done, for reuse; `nil` if none is free.
  /// - Throws: The error of an earlier piece. Nothing is done with later ones.
  package func send(_ piece: consuming Piece) throws(Failure) -> Piece? {
    room.wait()
    let (failure, next) = state.withLock { ($0.failure, $0.free.popLast()) }
    if let failure {
      room.signal()
      throw failure
    }
    let queued = piece
    queue.async { [self] in
      pass(queued)
      room.signal()
    }
    return next
  }

  private func pass(_ piece: Piece) {
    if state.withLock({ $0.failure != nil || $0.isGivenUp }) { return }
    do throws(Failure) {
      if let done = try work(piece) { state.withLock { $0.free.append(done) } }
    } catch {
      state.withLock { $0.failure = error }
    }
  }

  /// Waits until all queued pieces are done.
  ///
  /// - Throws: The error of a piece.
  package func finish() throws(Failure) {
    queue.sync {}
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Drops the pieces that wait, and waits until the one that is worked on is done.
  package func giveUp() {
    state.withLock { $0.isGivenUp = true }
    queue.sync {}
  }
}
