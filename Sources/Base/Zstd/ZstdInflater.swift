internal import CZstd

/// A decompressor of successive zstd frames, as they arrive.
///
/// Unsafe: the stream belongs to this value alone; pointers to input and output are used within one call.
@safe
package struct ZstdInflater: ~Copyable {
  private let stream: OpaquePointer
  private var output = [UInt8](repeating: 0, count: 128 << 10)
  /// The bytes that are not decompressed yet begin at `offset`.
  private var packed: [UInt8] = []
  private var offset = 0
  /// Whether the stream may hold more than the last output.
  private var isOutputFull = false
  /// The number of decompressed bytes so far.
  package private(set) var unpackedByteCount = 0
  /// Whether the last frame is complete.
  package private(set) var isAtEndOfFrame = false

  /// - Throws: ``ZstdError/outOfMemory``.
  package init() throws(ZstdError) {
    guard let stream = unsafe ZSTD_createDStream() else { throw .outOfMemory }
    unsafe self.stream = stream
  }

  deinit {
    // No other reference exists.
    _ = unsafe ZSTD_freeDStream(stream)
  }

  /// Adds the next compressed bytes, decompresses at most 128 KiB of what was added so far, and appends them to `text`.
  ///
  /// - Returns: Whether there is more to decompress before more bytes are added.
  /// - Throws: ``ZstdError/damaged(reason:)``, ``ZstdError/outOfMemory``.
  package mutating func unpack(_ bytes: [UInt8], into text: inout [UInt8]) throws(ZstdError) -> Bool {
    packed.removeFirst(offset)
    packed += bytes
    offset = 0
    if packed.isEmpty, !isOutputFull { return false }
    let stream = unsafe self.stream
    let (consumed, produced, result) = unsafe packed.withUnsafeBufferPointer { packed in
      unsafe output.withUnsafeMutableBufferPointer { output in
        var input = unsafe ZSTD_inBuffer(src: packed.baseAddress, size: packed.count, pos: offset)
        var room = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = unsafe ZSTD_decompressStream(stream, &room, &input)
        return unsafe (input.pos, room.pos, result)
      }
    }
    if let error = ZstdError(result) { throw error }
    isAtEndOfFrame = result == 0
    isOutputFull = produced == output.count && !isAtEndOfFrame
    offset = consumed
    unpackedByteCount += produced
    text.append(contentsOf: output[..<produced])
    return offset < packed.count || isOutputFull
  }
}
