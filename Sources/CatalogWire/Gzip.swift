internal import CZlib

// The unsafe fence of this module: every call of zlib. A stream is allocated, for zlib keeps its address; its
// pointers to input and output are set and used within one call, while the spans and arrays behind them are
// borrowed.

/// Unpacks gzip (RFC 1952) of one or several members as it arrives.
///
/// zlib checks what the format allows to be checked: method, reserved flags, header CRC, CRC and length of
/// each member. Memory: zlib's window of 32 KiB and one chunk of output, whatever the input says.
@safe
package struct GzipInflater: ~Copyable, @unchecked Sendable {
  // Sendable: the stream has one owner, which is not copied.
  private let stream: UnsafeMutablePointer<z_stream>
  private var output: [UInt8]
  /// Bytes of the two that begin a member that have been seen; 2 inside of a member.
  private var magicCount = 0
  private var memberCount = 0
  /// Bytes consumed and produced so far.
  private(set) var packedByteCount = 0
  private(set) var unpackedByteCount = 0

  private static let magic: [UInt8] = [0x1F, 0x8B]

  /// The packed bytes are counted in steps of so many: what comes out of one step has the step's end as its packed size,
  /// however the input is cut. It has to be exactly so, as what may be refused depends on it.
  static let stepByteCount = 16 << 10

  /// The packed bytes so far, up to the end of the step.
  private var packedStepEnd: Int {
    (packedByteCount + Self.stepByteCount - 1) / Self.stepByteCount * Self.stepByteCount
  }

  package init(outputByteCount: Int = 128 << 10) throws(WireError) {
    output = Array(repeating: 0, count: outputByteCount)
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // The stream is initialised and stays where it is until `deinit`.
    guard unsafe shelfmark_inflate_gzip_init(stream) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    // No other reference exists; zlib ignores a stream that it could not set up.
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Unpacks the first `count` bytes of `packed` and hands the result to `body` chunk by chunk.
  package mutating func consume(
    _ packed: [UInt8], count: Int, limits: WireLimits,
    _ body: (Span<UInt8>) throws(WireError) -> Void
  ) throws(WireError) {
    try unpack(packed, count: count, limits: limits) { (chunk, _) throws(WireError) in try body(chunk) }
  }

  /// As ``consume(_:count:limits:_:)``, with the packed bytes up to the end of the step that each chunk came from.
  mutating func unpack(
    _ packed: [UInt8], count: Int, limits: WireLimits,
    _ body: (Span<UInt8>, _ packedByteCount: Int) throws(WireError) -> Void
  ) throws(WireError) {
    var offset = 0
    var isOutputFull = false
    while offset < count || isOutputFull {
      if magicCount < 2 { try checkMagic(packed.span.extracting(offset..<count)) }
      // While the output is full there is more of this step's; the next step begins when it is out.
      let used = packedByteCount % Self.stepByteCount
      let room = isOutputFull && used == 0 ? 0 : Self.stepByteCount - used
      let step = run(packed.span.extracting(offset..<min(count, offset + room)))
      offset += step.consumed
      packedByteCount += step.consumed
      isOutputFull = step.produced == output.count
      if step.produced > 0 {
        unpackedByteCount += step.produced
        try check(limits)
        try body(output.span.extracting(0..<step.produced), packedStepEnd)
      }
      switch step.status {
      case Z_OK, Z_BUF_ERROR:
        continue
      case Z_STREAM_END:
        // The stream is as it was set up, and ready for another member.
        _ = unsafe inflateReset(stream)
        memberCount += 1
        magicCount = 0
        isOutputFull = false
      case Z_MEM_ERROR:
        throw .outOfMemory
      default:
        throw .gzipDamaged(reason: step.message, offset: packedByteCount)
      }
    }
  }

  /// Checks that the last member is complete.
  package func finish() throws(WireError) {
    guard magicCount == 0 else { throw .gzipEndsEarly(offset: packedByteCount) }
    guard memberCount > 0 else { throw .notGzip(firstBytes: []) }
  }

  private mutating func checkMagic(_ packed: Span<UInt8>) throws(WireError) {
    let first = magicCount
    while magicCount < 2, magicCount - first < packed.count {
      let byte = packed[magicCount - first]
      guard byte == Self.magic[magicCount] else {
        guard memberCount == 0 else { throw .gzipTrailingData(offset: packedByteCount - first) }
        throw .notGzip(firstBytes: Self.magic[..<magicCount] + [byte])
      }
      magicCount += 1
    }
  }

  private func check(_ limits: WireLimits) throws(WireError) {
    if unpackedByteCount > limits.absoluteByteCount {
      throw .unpacksTooLarge(
        unpacked: unpackedByteCount, packed: packedByteCount, limit: limits.absoluteByteCount)
    }
    if unpackedByteCount > limits.unpackedByteCount,
      unpackedByteCount > packedStepEnd.multipliedClamping(by: limits.unpackedRatio)
    {
      throw .unpacksTooLarge(
        unpacked: unpackedByteCount, packed: packedByteCount, limit: limits.unpackedByteCount)
    }
  }

  private mutating func run(
    _ packed: Span<UInt8>
  ) -> (consumed: Int, produced: Int, status: Int32, message: String) {
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
        // zlib's messages are constants.
        let message = unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "zlib error \(status)"
        return (consumed, produced, status, message)
      }
    }
  }
}

/// Packs bytes into one gzip member.
///
/// The stream belongs to the object alone and is used only between `init` and `deinit`.
@safe
final class GzipDeflater {
  private let stream: UnsafeMutablePointer<z_stream>
  private var output = Array(repeating: UInt8(0), count: 64 << 10)

  /// `level` is zlib's: 0 stores, 1 is fast, 9 is small, -1 is its default.
  init(level: Int32) {
    precondition((-1...9).contains(level), "level must be between -1 and 9")
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // The stream is initialised and stays where it is until `deinit`.
    let status = unsafe shelfmark_deflate_gzip_init(stream, level)
    precondition(status == Z_OK, "zlib must be able to allocate its tables")
  }

  deinit {
    // No other reference exists.
    unsafe deflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Packs `bytes` and hands what is ready to `body`; `isLast` completes the member.
  func consume(_ bytes: Span<UInt8>, isLast: Bool, _ body: (Span<UInt8>) -> Void) {
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

extension Int {
  /// The product, or the largest integer where that overflows.
  fileprivate func multipliedClamping(by factor: Int) -> Int {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }
}
