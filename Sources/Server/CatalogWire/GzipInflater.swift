import GzipStream

/// A decompressor of gzip (RFC 1952) with one or several members, as it arrives.
///
/// It checks everything that the format allows to check: method, reserved flags, header CRC, CRC and length of each
/// member. Memory: the inflater's window and one chunk of output, whatever the input.
package struct GzipInflater: ~Copyable, Sendable {
  private var inflater: Inflater
  private var output: [UInt8]
  /// The number of bytes seen of the two that begin a member; 2 inside a member.
  private var magicCount = 0
  private var memberCount = 0
  /// The number of bytes consumed and produced so far.
  private(set) var compressedByteCount = 0
  private(set) var unpackedByteCount = 0

  private static let magic: [UInt8] = [0x1F, 0x8B]

  /// The step size in which compressed bytes are counted: all output of one step has the step's end as its compressed
  /// size, however the input is divided. It must be exactly so, because the limits depend on it.
  static let stepByteCount = 16 << 10

  /// The number of compressed bytes so far, up to the end of the step.
  private var packedStepEnd: Int {
    (compressedByteCount + Self.stepByteCount - 1) / Self.stepByteCount * Self.stepByteCount
  }

  package init(outputByteCount: Int = 128 << 10) throws(WireError) {
    output = Array(repeating: 0, count: outputByteCount)
    do { inflater = try Inflater() } catch { throw .outOfMemory }
  }

  /// Decompresses the first `count` bytes of `packed`, and passes the result to `body` chunk by chunk.
  package mutating func consume(
    _ packed: [UInt8], count: Int, limits: WireLimits,
    _ body: (Span<UInt8>) throws(WireError) -> Void
  ) throws(WireError) {
    try unpack(packed, count: count, limits: limits) { (chunk, _) throws(WireError) in try body(chunk) }
  }

  /// Like ``consume(_:count:limits:_:)``, with the compressed byte count up to the end of the step that each chunk came
  /// from.
  mutating func unpack(
    _ packed: [UInt8], count: Int, limits: WireLimits,
    _ body: (Span<UInt8>, _ compressedByteCount: Int) throws(WireError) -> Void
  ) throws(WireError) {
    var offset = 0
    var isOutputFull = false
    while offset < count || isOutputFull {
      if magicCount < 2 { try checkMagic(packed.span.extracting(offset..<count)) }
      // While the output is full, this step has more; the next step begins after all of it is out.
      let used = compressedByteCount % Self.stepByteCount
      let room = isOutputFull && used == 0 ? 0 : Self.stepByteCount - used
      let step = inflater.run(packed.span.extracting(offset..<min(count, offset + room)), into: &output)
      offset += step.consumed
      compressedByteCount += step.consumed
      isOutputFull = step.produced == output.count
      if step.produced > 0 {
        unpackedByteCount += step.produced
        try check(limits)
        try body(output.span.extracting(0..<step.produced), packedStepEnd)
      }
      switch step.status {
      case .unfinished:
        continue
      case .endOfMember:
        memberCount += 1
        magicCount = 0
        isOutputFull = false
      case .outOfMemory:
        throw .outOfMemory
      case .damaged(let reason):
        throw .gzipDamaged(reason: reason, offset: compressedByteCount)
      }
    }
  }

  /// Checks that the last member is complete.
  package func finish() throws(WireError) {
    guard magicCount == 0 else { throw .gzipEndsEarly(offset: compressedByteCount) }
    guard memberCount > 0 else { throw .notGzip(firstBytes: []) }
  }

  private mutating func checkMagic(_ packed: Span<UInt8>) throws(WireError) {
    let first = magicCount
    while magicCount < 2, magicCount - first < packed.count {
      let byte = packed[magicCount - first]
      guard byte == Self.magic[magicCount] else {
        guard memberCount == 0 else { throw .gzipTrailingData(offset: compressedByteCount - first) }
        throw .notGzip(firstBytes: Self.magic[..<magicCount] + [byte])
      }
      magicCount += 1
    }
  }

  private func check(_ limits: WireLimits) throws(WireError) {
    if unpackedByteCount > limits.absoluteByteCount {
      throw .unpacksTooLarge(
        unpacked: unpackedByteCount, packed: compressedByteCount, limit: limits.absoluteByteCount)
    }
    if unpackedByteCount > limits.unpackedByteCount,
      unpackedByteCount > packedStepEnd.multipliedClamping(by: limits.unpackedRatio)
    {
      throw .unpacksTooLarge(
        unpacked: unpackedByteCount, packed: compressedByteCount, limit: limits.unpackedByteCount)
    }
  }
}

extension Int {
  /// The product, or the largest integer on overflow.
  fileprivate func multipliedClamping(by factor: Int) -> Int {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }
}
