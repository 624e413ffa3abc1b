import Bytes
import Dispatch
import Storage
import Synchronization

/// A write-behind queue: writes the chunks of a file on a second thread, in order.
///
/// Copying the written bytes into the kernel takes a tenth of a full update's processor time and is independent of the
/// thread that produces the rows. Writeback of each chunk to the device is also started, so that the final sync has
/// little to wait for.
///
/// Use it only for a file that nothing else knows yet: a write may still be in progress when its transaction is gone.
final class WriteBehind: Sendable {
  /// The number of chunks that may be queued or being written while the next one is filled.
  private static let pieceLimit = 2

  private struct State {
    var failure: StorageError?
    /// Buffers of written chunks, for reuse.
    var free: [SegmentBuffer] = []
  }

  private let file: any StorageFile
  // Guards the state. The lock is held only to insert or remove something.
  private let state = Mutex(State())
  /// A serial queue, so that chunks are written in order.
  private let queue = DispatchQueue(label: "shelfmark.writing")
  /// The number of chunks that may still be queued.
  private let room = DispatchSemaphore(value: 0)

  init(_ file: any StorageFile) {
    self.file = file
    // A semaphore must not be destroyed with a lower value than its initial one, so that is zero.
    for _ in 0..<Self.pieceLimit { room.signal() }
  }

  /// Writes the bytes of `buffer` from `first` on at `offset` in the background. Waits while too many chunks are
  /// queued.
  ///
  /// - Returns: An empty buffer to continue with.
  /// - Throws: The error of an earlier failed write. Nothing more is written after it.
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
    // The first buffer is larger than what later ones grow to.
    if piece.capacity > 2 * SegmentBuilder.partLimit { return }
    var empty = piece
    empty.removeAll()
    state.withLock { $0.free.append(empty) }
  }

  /// Waits until all queued chunks are written.
  ///
  /// - Throws: The error of a failed write.
  func finish() throws(StorageError) {
    queue.sync {}
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }
}
