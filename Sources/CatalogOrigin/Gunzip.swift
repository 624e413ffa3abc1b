import CZlib

// The unsafe fence of this module: the calls of zlib. The stream is allocated, for zlib keeps its address;
// its pointers to input and output are set and used within one call, while the bytes behind them are
// borrowed.

/// Unpacks a gzip file of one or several members as it is read.
@safe
struct Gunzip: ~Copyable {
  /// What is wrong with the data.
  struct Fault: Error { var reason: String }

  private let stream: UnsafeMutablePointer<z_stream>
  private var output = [UInt8](repeating: 0, count: 128 << 10)
  /// Whether a member has begun and not ended.
  private var isInsideMember = false

  init() {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // The stream is initialised and stays where it is until `deinit`.
    let status = unsafe shelfmark_inflate_gzip_init(stream)
    precondition(status == Z_OK, "zlib must be able to allocate its tables")
  }

  deinit {
    // No other reference exists.
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Unpacks `packed` and hands the result to `body` piece by piece.
  mutating func consume(_ packed: Span<UInt8>, _ body: (Span<UInt8>) throws -> Void) throws {
    var offset = 0
    var isOutputFull = false
    while offset < packed.count || isOutputFull {
      isInsideMember = true
      let (consumed, produced, status) = step(packed.extracting(offset..<packed.count))
      offset += consumed
      isOutputFull = produced == output.count
      if produced > 0 { try body(output.span.extracting(0..<produced)) }
      switch status {
      case Z_OK, Z_BUF_ERROR:
        continue
      case Z_STREAM_END:
        // The stream is as it was set up, and ready for another member.
        _ = unsafe inflateReset(stream)
        isInsideMember = false
        isOutputFull = false
      default:
        // zlib's messages are constants.
        throw Fault(
          reason: unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "zlib error \(status)")
      }
    }
  }

  func finish() throws {
    if isInsideMember { throw Fault(reason: "it ends early") }
  }

  private mutating func step(_ packed: Span<UInt8>) -> (consumed: Int, produced: Int, status: Int32) {
    let stream = unsafe self.stream
    return unsafe packed.withUnsafeBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        let inputCount = UInt32(clamping: input.count)
        // zlib reads input and never writes to it, whatever its declaration says.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        unsafe stream.pointee.avail_in = inputCount
        unsafe stream.pointee.next_out = output.baseAddress
        unsafe stream.pointee.avail_out = UInt32(output.count)
        let status = unsafe inflate(stream, Z_NO_FLUSH)
        let consumed = Int(inputCount - (unsafe stream.pointee.avail_in))
        return (consumed, output.count - Int(unsafe stream.pointee.avail_out), status)
      }
    }
  }
}
