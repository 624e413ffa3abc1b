internal import CZlib

/// A decompressor of successive gzip members with zlib, which reads the gzip header and trailer itself.
///
/// Unsafe: the stream is allocated separately, because zlib keeps its address; its pointers to input and output are set
/// and used within one call, while the span and the array that they point into are borrowed.
@safe
package struct Inflater: ~Copyable, @unchecked Sendable {
  // Sendable: the stream has one owner, which cannot be copied.
  private let stream: UnsafeMutablePointer<z_stream>

  /// - Throws: ``GzipError/outOfMemory``.
  package init() throws(GzipError) {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // The stream is initialised and does not move until `deinit`.
    guard unsafe shelfmark_inflate_gzip_init(stream) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    // No other reference exists; zlib ignores a stream that it could not set up.
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Decompresses `packed` into the beginning of `output`, until the input, the room or the member ends. Input after
  /// the end of a member is the next member.
  package mutating func run(_ packed: Span<UInt8>, into output: inout [UInt8]) -> InflateStep {
    let stream = unsafe self.stream
    return unsafe packed.withUnsafeBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        let inputCount = UInt32(clamping: input.count)
        // zlib reads input and never writes to it, whatever its declaration says.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        unsafe stream.pointee.avail_in = inputCount
        unsafe stream.pointee.next_out = output.baseAddress
        unsafe stream.pointee.avail_out = UInt32(clamping: output.count)
        let status = unsafe inflate(stream, Z_NO_FLUSH)
        let consumed = Int(inputCount - (unsafe stream.pointee.avail_in))
        let produced = output.count - Int(unsafe stream.pointee.avail_out)
        return unsafe InflateStep(consumed: consumed, produced: produced, status: Self.status(status, of: stream))
      }
    }
  }

  private static func status(_ status: Int32, of stream: UnsafeMutablePointer<z_stream>) -> InflateStep.Status {
    switch status {
    case Z_OK, Z_BUF_ERROR: return .unfinished
    case Z_STREAM_END:
      // The stream is in its initial state, ready for another member.
      _ = unsafe inflateReset(stream)
      return .endOfMember
    case Z_MEM_ERROR: return .outOfMemory
    default:
      // zlib's messages are constants.
      return .damaged(reason: unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "zlib error \(status)")
    }
  }
}

/// The result of one call of an inflater.
package struct InflateStep {
  package enum Status {
    /// More input or more room is needed.
    case unfinished
    /// The member is complete, and its checksums are correct.
    case endOfMember
    case outOfMemory
    case damaged(reason: String)
  }

  /// The number of compressed bytes consumed.
  package var consumed: Int
  /// The number of decompressed bytes written.
  package var produced: Int
  package var status: Status
}
