internal import CZlib

/// A compressor that produces one gzip member.
///
/// The stream is owned by this object alone and is used only between `init` and `deinit`.
@safe
package final class GzipDeflater {
  private let stream: UnsafeMutablePointer<z_stream>
  private var output = Array(repeating: UInt8(0), count: 64 << 10)

  /// `level` is zlib's compression level: 0 stores, 1 is fast, 9 is small, -1 is the default.
  package init(level: Int32) {
    precondition((-1...9).contains(level), "level must be between -1 and 9")
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // The stream is initialised and does not move until `deinit`.
    let status = unsafe shelfmark_deflate_gzip_init(stream, level)
    precondition(status == Z_OK, "zlib must be able to allocate its tables")
  }

  deinit {
    // No other reference exists.
    unsafe deflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Compresses `bytes` and passes output that is ready to `body`; `isLast` completes the member.
  package func consume(_ bytes: Span<UInt8>, isLast: Bool, _ body: (Span<UInt8>) -> Void) {
    precondition(bytes.count <= Int(UInt32.max), "a chunk must be smaller than 4 GiB")
    unsafe bytes.withUnsafeBufferPointer { input in
      // zlib reads input and never writes to it, whatever its declaration says.
      unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      unsafe stream.pointee.avail_in = UInt32(input.count)
      while true {
        let (produced, status) = unsafe output.withUnsafeMutableBufferPointer { output in
          unsafe stream.pointee.next_out = output.baseAddress
          unsafe stream.pointee.avail_out = UInt32(output.count)
          let status = unsafe deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
          return (output.count - Int(unsafe stream.pointee.avail_out), status)
        }
        if produced > 0 { body(output.span.extracting(0..<produced)) }
        if isLast ? status == Z_STREAM_END : produced < output.count { break }
      }
    }
  }
}
