/// What is wrong with gzip data. Offsets count compressed bytes from 0.
public enum GzipError: Error, Equatable {
  /// The data does not begin with the two magic bytes (1F 8B).
  case notGzip(firstBytes: [UInt8])
  /// The data ends inside a member.
  case endsEarly(offset: Int)
  /// A checksum, a length, a header or the compressed data is invalid; `reason` is zlib's message.
  case damaged(reason: String, offset: Int)
  /// Data that is not gzip follows the last member.
  case trailingData(offset: Int)
  /// The data decompresses to more bytes than the limits allow.
  case tooLarge(unpacked: Int, packed: Int, limit: Int)
  /// zlib could not allocate its tables.
  case outOfMemory
}
