internal import CZstd

/// A compressor that makes one zstd frame (RFC 8878) of each text, and keeps its tables in between.
///
/// The same bytes, level and dictionary give the same frame, as long as the version of zstd is the same.
///
/// Unsafe: the context and the dictionary belong to this object alone and are freed with it; pointers to input and
/// output are used within one call. The object is not `Sendable`, so no two threads use it at once.
@safe
package final class ZstdCompressor {
  private let context: OpaquePointer
  private var dictionary: OpaquePointer?

  /// Creates a compressor.
  ///
  /// - Parameters:
  ///   - level: The effort, from 1 (fast) to 22 (small, slow).
  ///   - dictionary: The dictionary, which a decompressor needs too: a trained one, or text that resembles what is to
  ///     be compressed. Empty for none. It is digested here, once.
  /// - Throws: ``ZstdError/outOfMemory``, ``ZstdError/invalidDictionary``.
  package init(level: Int, dictionary: [UInt8] = []) throws(ZstdError) {
    precondition((1...22).contains(level), "a level of zstd is 1…22")
    guard let context = unsafe ZSTD_createCCtx() else { throw .outOfMemory }
    unsafe self.context = context
    _ = unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Int32(level))
    _ = unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1)
    _ = unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    if dictionary.isEmpty { return }
    // The dictionary is copied.
    let digested = unsafe dictionary.withUnsafeBufferPointer {
      unsafe ZSTD_createCDict($0.baseAddress, $0.count, Int32(level))
    }
    guard let digested = unsafe digested else { throw .invalidDictionary }
    unsafe self.dictionary = digested
    _ = unsafe ZSTD_CCtx_refCDict(context, digested)
  }

  deinit {
    // No other reference exists; zstd ignores a null pointer.
    _ = unsafe ZSTD_freeCCtx(context)
    _ = unsafe ZSTD_freeCDict(dictionary)
  }

  /// Returns the bytes as one frame, whose header has their number and whose end has their checksum.
  ///
  /// - Throws: ``ZstdError/outOfMemory``.
  package func compress(_ bytes: [UInt8]) throws(ZstdError) -> [UInt8] {
    var result = 0
    let frame = unsafe [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { frame, count in
      result = unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe ZSTD_compress2(context, frame.baseAddress, frame.count, bytes.baseAddress, bytes.count)
      }
      // zstd has written as many bytes as it says.
      count = ZSTD_isError(result) == 0 ? result : 0
    }
    if let error = ZstdError(result) { throw error }
    return frame
  }

  /// Returns what `body` writes, piece by piece, as one frame, whose end has the checksum. The text is not kept.
  ///
  /// - Throws: ``ZstdError/outOfMemory``; the errors of `body`.
  package func compress(_ body: (_ write: ([UInt8]) throws -> Void) throws -> Void) throws -> [UInt8] {
    _ = unsafe ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
    var frame: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 128 << 10)
    func add(_ bytes: [UInt8], isEnd: Bool) throws {
      var offset = 0
      while true {
        let (consumed, produced, result) = unsafe bytes.withUnsafeBufferPointer { bytes in
          unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            var input = unsafe ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: offset)
            var room = unsafe ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
            let result = unsafe ZSTD_compressStream2(context, &room, &input, isEnd ? ZSTD_e_end : ZSTD_e_continue)
            return unsafe (input.pos, room.pos, result)
          }
        }
        if let error = ZstdError(result) { throw error }
        frame.append(contentsOf: buffer[..<produced])
        offset = consumed
        if isEnd ? result == 0 : offset == bytes.count { return }
      }
    }
    try body { try add($0, isEnd: false) }
    try add([], isEnd: true)
    return frame
  }
}
