internal import CZstd

/// Dictionaries for small texts that resemble each other.
package enum ZstdDictionary {
  /// Trains a dictionary. The same samples give the same dictionary, as long as the version of zstd is the same.
  ///
  /// - Parameters:
  ///   - samples: Texts such as those to be compressed; together best a hundred times the size of the dictionary.
  ///   - byteCount: The maximum size of the dictionary.
  /// - Returns: The dictionary; empty if the samples are too few or too short to gain anything from one.
  /// - Throws: ``ZstdError/outOfMemory``.
  package static func train(on samples: [[UInt8]], byteCount: Int) throws(ZstdError) -> [UInt8] {
    if samples.isEmpty || byteCount <= 0 { return [] }
    let sizes = samples.map(\.count)
    let text = Array(samples.joined())
    var result = 0
    let dictionary = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { dictionary, count in
      // The sizes add up to the size of the text.
      result = unsafe text.withUnsafeBufferPointer { text in
        unsafe sizes.withUnsafeBufferPointer { sizes in
          unsafe ZDICT_trainFromBuffer(
            dictionary.baseAddress, byteCount, text.baseAddress, sizes.baseAddress, UInt32(clamping: sizes.count))
        }
      }
      count = ZDICT_isError(result) == 0 ? result : 0
    }
    if ZDICT_isError(result) != 0, ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation { throw .outOfMemory }
    return dictionary
  }
}
