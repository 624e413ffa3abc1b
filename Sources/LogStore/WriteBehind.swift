import Bytes
import Dispatch
import Storage
import Synchronization

/// Writes the pieces of a file on a second thread, one after the other in the order in which they come.
///
/// The kernel's copy of what is written takes a tenth of a full update's processor time, and needs nothing from the thread
/// that makes the rows. Each piece is sent on its way to the device as well, so that the sync at the end has little to wait
/// for.
///
/// For a file that nobody else knows yet: a piece may still be on its way when its transaction is gone.
final class WriteBehind: Sendable {
  /// Pieces that may wait or be written while the next one is filled.
  private static let pieceLimit = 2

  private struct State {
    var failure: StorageError?
    /// Buffers of pieces that were written.
    var free: [SegmentBuffer] = []
  }

  private let file: any StorageFile
  // Guards the state, for as long as something is put in or taken out.
  private let state = Mutex(State())
  /// One thread, in order.
  private let queue = DispatchQueue(label: "shelfmark.writing")
  /// Counts the pieces that may still be handed over.
  private let room = DispatchSemaphore(value: 0)

  init(_ file: any StorageFile) {
    self.file = file
    // A semaphore may not go with less than it was made with: it is made with nothing.
    for _ in 0..<Self.pieceLimit { room.signal() }
  }

  /// Writes what stands in `buffer` from `first` on at `offset`, soon; waits while too many pieces wait.
  ///
  /// - Returns: an empty buffer to go on with.
  /// - Throws: what writing an earlier piece threw. Nothing more is written then.
  func write(_ buffer: consuming SegmentBuffer, from first: Int, at offset: Int) throws(StorageError) -> SegmentBuffer {
    room.wait()
    let (failure, next) = state.withLock { ($0.failure, $0.free.popLast()) }
    if let failure {
      room.signal()
      throw failure
    }
    let piece = buffer
    queue.async { [self] in
      write(piece, first, offset)
      room.signal()
    }
    return next ?? SegmentBuffer(zeros: 0)
  }

  private func write(_ piece: SegmentBuffer, _ first: Int, _ offset: Int) {
    if state.withLock({ $0.failure != nil }) { return }
    do throws(StorageError) {
      let bytes = piece.bytes(first, piece.count - first)
      try file.write(bytes, at: offset)
      file.startSync(offset, bytes.byteCount)
    } catch {
      state.withLock { $0.failure = error }
    }
    var empty = piece
    empty.removeAll()
    state.withLock { $0.free.append(empty) }
  }

  /// Returns when everything that was handed over is written.
  ///
  /// - Throws: what writing threw.
  func finish() throws(StorageError) {
    queue.sync {}
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }
}
