internal import CZstd

/// A decompressor of single zstd frames (RFC 8878) from others, with an optional dictionary.
///
/// Memory: the context (96 KB with zstd 1.5), the dictionary, and the output. A frame is decompressed as a whole,
/// straight into the output, so the window that its header asks for is never allocated.
///
/// Unsafe: the context and the dictionary belong to this object alone and are freed with it; pointers to input and
/// output are used within one call. The object is not `Sendable`, so no two threads use it at once.
@safe
package final class ZstdDecompressor {
  private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
  /// The results of `ZSTD_getFrameContentSize` that are no sizes. The macros of the library are not visible in Swift.
  private static let unknownSize = UInt64.max, invalidHeader = UInt64.max - 1

  private let context: OpaquePointer
  private var dictionary: OpaquePointer?

  /// Creates a decompressor.
  ///
  /// - Parameter dictionary: The dictionary of the compressor; empty for none. It is digested here, once.
  /// - Throws: ``ZstdError/outOfMemory``, ``ZstdError/invalidDictionary``.
  package init(dictionary: [UInt8] = []) throws(ZstdError) {
    guard let context = unsafe ZSTD_createDCtx() else { throw .outOfMemory }
    unsafe self.context = context
    if dictionary.isEmpty { return }
    // The dictionary is copied.
    let digested = unsafe dictionary.withUnsafeBufferPointer { unsafe ZSTD_createDDict($0.baseAddress, $0.count) }
    guard let digested = unsafe digested else { throw .invalidDictionary }
    unsafe self.dictionary = digested
  }

  deinit {
    // No other reference exists; zstd ignores a null pointer.
    _ = unsafe ZSTD_freeDCtx(context)
    _ = unsafe ZSTD_freeDDict(dictionary)
  }

  /// Decompresses exactly one frame whose header says how many bytes it decompresses to.
  ///
  /// The checksum is verified if the frame has one. Memory for the output is allocated only if the size in the header
  /// is within the limit, and then for that size.
  ///
  /// - Parameter limit: The maximum number of bytes to decompress to.
  /// - Throws: ``ZstdError``.
  package func decompress(_ bytes: [UInt8], limit: Int) throws(ZstdError) -> [UInt8] {
    let byteCount = try Self.unpackedByteCount(ofFrame: bytes, limit: limit)
    var result = 0
    let output = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { output, count in
      result = unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe ZSTD_decompress_usingDDict(
          // An empty output may have no memory.
          context, output.baseAddress, byteCount, bytes.baseAddress, bytes.count, dictionary)
      }
      // zstd has written as many bytes as it says, which is at most `byteCount`.
      count = ZSTD_isError(result) == 0 ? result : 0
    }
    if let error = ZstdError(result) { throw error }
    return output
  }

  /// The number of bytes that the only frame in `bytes` decompresses to, according to its header.
  private static func unpackedByteCount(ofFrame bytes: [UInt8], limit: Int) throws(ZstdError) -> Int {
    guard bytes.starts(with: magic) else {
      if magic.starts(with: bytes) { throw .endsEarly(byteCount: bytes.count) }
      throw .notZstd
    }
    let (size, frame) = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe (
        ZSTD_getFrameContentSize(bytes.baseAddress, bytes.count),
        ZSTD_findFrameCompressedSize(bytes.baseAddress, bytes.count)
      )
    }
    // Of a frame that is cut, the headers of its blocks lead past the end.
    if ZSTD_isError(frame) != 0, ZSTD_getErrorCode(frame) == ZSTD_error_srcSize_wrong {
      throw .endsEarly(byteCount: bytes.count)
    }
    if let error = ZstdError(frame) { throw error }
    if frame < bytes.count { throw .trailingBytes(offset: frame) }
    if size == unknownSize { throw .unknownSize }
    guard size != invalidHeader else { throw .damaged(reason: "invalid header") }
    guard let byteCount = Int(exactly: size), byteCount <= limit else { throw .tooLarge(byteCount: size, limit: limit) }
    return byteCount
  }
}
