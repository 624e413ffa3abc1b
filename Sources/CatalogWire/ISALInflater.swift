#if ISAL
internal import CISAL

/// Inflates with ISA-L, which reads the deflated data alone; header and trailer are read here.
///
/// Unsafe: the state is allocated by the library's own means; its pointers to input and output are set and used within
/// one call, while the span and the array behind them are borrowed.
@safe
struct ISALInflater: MemberInflater, ~Copyable, @unchecked Sendable {
  private enum Place { case header, data, trailer }

  // Sendable: the state has one owner, which is not copied.
  private let state: UnsafeMutablePointer<shelfmark_isal>
  private var place = Place.header
  private var header = GzipHeader()
  private var trailer = GzipTrailer()
  /// CRC-32 and length of what this member unpacked to.
  private var checksum: UInt32 = 0
  private var byteCount: UInt32 = 0

  init() throws(WireError) {
    guard let state = unsafe shelfmark_isal_make() else { throw .outOfMemory }
    unsafe self.state = unsafe state
  }

  deinit {
    // No other reference exists.
    unsafe shelfmark_isal_free(state)
  }

  mutating func run(_ packed: Span<UInt8>, into output: inout [UInt8]) -> InflateStep {
    var step = InflateStep(consumed: 0, produced: 0, status: .unfinished)
    if place == .header {
      while step.consumed < packed.count, !header.isWhole {
        step.consumed += 1
        if let fault = header.take(packed[step.consumed - 1], checksum: Self.checksum) {
          step.status = .damaged(reason: fault)
          return step
        }
      }
      if !header.isWhole { return step }
      place = .data
    }
    if place == .data {
      let rest = packed.extracting(step.consumed...)
      if let fault = inflate(rest, into: &output, &step) {
        step.status = .damaged(reason: fault)
        return step
      }
      // The state is initialised, here and below.
      if unsafe shelfmark_isal_is_done(state) == 0 { return step }
      place = .trailer
      takeBack(&step)
    }
    while step.consumed < packed.count, !trailer.isWhole {
      step.consumed += 1
      trailer.take(packed[step.consumed - 1])
    }
    check(&step)
    return step
  }

  /// Takes the bytes of the trailer that came out of the input with the data: the state keeps eight bytes at most, and
  /// the trailer has eight.
  private mutating func takeBack(_ step: inout InflateStep) {
    var bytes = unsafe shelfmark_isal_kept(state)
    for _ in 0..<Int(unsafe shelfmark_isal_kept_count(state)) {
      trailer.take(UInt8(truncatingIfNeeded: bytes))
      bytes >>= 8
    }
  }

  /// Compares CRC and length as far as the trailer was read, the CRC first.
  private mutating func check(_ step: inout InflateStep) {
    if trailer.byteCount >= 4, trailer.checksum != checksum {
      step.consumed -= trailer.byteCount - 4
      step.status = .damaged(reason: "incorrect data check")
    } else if trailer.isWhole {
      step.status = trailer.length == byteCount ? .endOfMember : .damaged(reason: "incorrect length check")
      unsafe isal_inflate_reset(state)
      place = .header
      header = GzipHeader()
      trailer = GzipTrailer()
      checksum = 0
      byteCount = 0
    }
  }

  /// - Returns: what is wrong with the data.
  private mutating func inflate(
    _ packed: Span<UInt8>, into output: inout [UInt8], _ step: inout InflateStep
  ) -> String? {
    let state = unsafe self.state
    let (consumed, produced, status) = unsafe packed.withUnsafeBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        let inputCount = UInt32(clamping: input.count)
        // ISA-L reads input and never writes to it, whatever its declaration says.
        unsafe state.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        unsafe state.pointee.avail_in = inputCount
        unsafe state.pointee.next_out = output.baseAddress
        unsafe state.pointee.avail_out = UInt32(clamping: output.count)
        let status = unsafe isal_inflate(state)
        // Where it finds damage ISA-L leaves its counts as they were inside, of buffers of its own: nothing came out of this
        // call then, and nobody knows how far it read.
        if status < 0 { return (0, 0, status) }
        return (
          Int(inputCount - (unsafe state.pointee.avail_in)), output.count - Int(unsafe state.pointee.avail_out), status
        )
      }
    }
    step.consumed += consumed
    step.produced = produced
    checksum = Self.checksum(output.span.extracting(0..<produced), following: checksum)
    byteCount &+= UInt32(truncatingIfNeeded: produced)
    switch status {
    case ISAL_DECOMP_OK, ISAL_END_INPUT, ISAL_OUT_OVERFLOW: return nil
    case ISAL_INVALID_BLOCK: return "invalid block"
    case ISAL_INVALID_SYMBOL: return "invalid symbol"
    case ISAL_INVALID_LOOKBACK: return "invalid distance too far back"
    default: return "ISA-L error \(status)"
    }
  }

  /// The CRC-32 of gzip, of `bytes` behind those that have the CRC `checksum`.
  private static func checksum(_ bytes: Span<UInt8>, following checksum: UInt32) -> UInt32 {
    unsafe bytes.withUnsafeBufferPointer { buffer in
      // No bytes may have no address.
      guard let start = buffer.baseAddress else { return checksum }
      // ISA-L reads so many bytes of the buffer, and no more.
      return unsafe crc32_gzip_refl(checksum, start, UInt64(buffer.count))
    }
  }
}
#endif
