internal import CZstd

/// Why bytes cannot be compressed or decompressed.
package enum ZstdError: Error, Sendable, Equatable {
  /// There is no memory for a compressor, a decompressor or a dictionary.
  case outOfMemory
  /// zstd can use the bytes neither as a dictionary that was trained nor as one without structure.
  case invalidDictionary
  /// The bytes do not begin with the magic number of a zstd frame (28 B5 2F FD).
  case notZstd
  /// The bytes end inside the frame.
  case endsEarly(byteCount: Int)
  /// Other bytes follow the frame, from this offset.
  case trailingBytes(offset: Int)
  /// The header of the frame does not say how many bytes it decompresses to.
  case unknownSize
  /// The frame decompresses to more bytes than the limit.
  case tooLarge(byteCount: UInt64, limit: Int)
  /// The frame is damaged, or it was compressed with another dictionary; `reason` is the message of zstd.
  case damaged(reason: String)

  /// The error in the result of a function of zstd; `nil` for a result that is not an error.
  init?(_ result: Int) {
    if ZSTD_isError(result) == 0 { return nil }
    if ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation {
      self = .outOfMemory
    } else {
      // The library's messages are constants.
      self = .damaged(reason: unsafe String(cString: ZSTD_getErrorName(result)))
    }
  }
}

extension ZstdError: CustomStringConvertible {
  /// The error, without the name of the file, for people.
  package var description: String {
    switch self {
    case .outOfMemory: "there is no memory for zstd; end other programs and try again"
    case .invalidDictionary: "the zstd dictionary is damaged"
    case .notZstd: "these bytes are not a zstd frame"
    case .endsEarly(let byteCount): "the zstd frame is cut: it ends after \(byteCount) bytes"
    case .trailingBytes(let offset): "other bytes follow the zstd frame, from offset \(offset)"
    case .unknownSize: "the zstd frame does not say how many bytes it decompresses to"
    case .tooLarge(let byteCount, let limit):
      "the zstd frame decompresses to \(byteCount) bytes, and \(limit) are allowed"
    case .damaged(let reason): "the zstd frame is damaged, or needs another dictionary (\(reason))"
    }
  }
}
