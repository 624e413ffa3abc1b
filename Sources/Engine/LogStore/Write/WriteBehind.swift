import Bytes
import Platform
import Storage

/// A write-behind queue: writes the chunks of a file on a second thread, in order.
///
/// Copying the written bytes into the kernel takes a tenth of a full update's processor time and is independent of the
/// thread that produces the rows. Writeback of each chunk to the device is also started, so that the final sync has
/// little to wait for.
///
/// Invariants: chunks are written in the order in which they came; after a write that failed, none follows.
///
/// Use it only for a file that nothing else knows yet: a write may still be in progress when its transaction is gone.
final class WriteBehind: Sendable {
  /// The number of chunks that may be queued or being written while the next one is filled.
  private static let pieceLimit = 2

  /// The bytes of a buffer from `first` on, to be written at `offset`.
  private struct Piece: Sendable {
    var buffer: SegmentBuffer
    let first: Int
    let offset: Int
  }

  private let stage: PipelineStage<Piece, StorageError>

  init(_ file: any StorageFile) {
    stage = PipelineStage(label: "shelfmark.writing", ahead: Self.pieceLimit) { (piece) throws(StorageError) in
      let bytes = piece.buffer.bytes(piece.first, piece.buffer.count - piece.first)
      try file.write(bytes, at: piece.offset)
      file.startSync(piece.offset, bytes.byteCount)
      // The first buffer is larger than what later ones grow to.
      return piece.buffer.capacity > 2 * SegmentBuilder.partLimit ? nil : piece
    }
  }

  /// Writes the bytes of `buffer` from `first` on at `offset` in the background. Waits while too many chunks are
  /// queued.
  ///
  /// - Returns: An empty buffer to continue with.
  /// - Throws: The error of an earlier failed write. Nothing more is written after it.
  func write(_ buffer: consuming SegmentBuffer, from first: Int, at offset: Int) throws(StorageError) -> SegmentBuffer {
    guard let done = try stage.send(Piece(buffer: buffer, first: first, offset: offset)) else {
      return SegmentBuffer(zeros: 0)
    }
    var empty = done.buffer
    empty.removeAll()
    return empty
  }

  /// Waits until all queued chunks are written.
  ///
  /// - Throws: The error of a failed write.
  func finish() throws(StorageError) { try stage.finish() }
}
