/// A decompressor of gzip (RFC 1952) with one or several members, as it arrives.
///
/// It checks everything that the format allows to check: method, reserved flags, header CRC, CRC and length of each
/// member. Memory: the inflater's window and one chunk of output, whatever the input.
package struct GzipInflater: ~Copyable, Sendable {
  /// The limits of what is decompressed.
  package struct Limits: Sendable, Equatable {
    /// The number of bytes that may be decompressed, whatever their compressed size.
    package var byteCount: Int
    /// The compression ratio that is allowed above ``byteCount``.
    package var ratio: Int
    /// The number of bytes that may be decompressed in any case.
    package var absoluteByteCount: Int

    package init(byteCount: Int, ratio: Int, absoluteByteCount: Int) {
      self.byteCount = byteCount
      self.ratio = ratio
      self.absoluteByteCount = absoluteByteCount
    }
  }

  private var inflater: Inflater
  private var output: [UInt8]
  /// The number of bytes seen of the two that begin a member; 2 inside a member.
  private var magicCount = 0
  private var memberCount = 0
  /// The number of bytes consumed and produced so far.
  package private(set) var compressedByteCount = 0
  package private(set) var unpackedByteCount = 0

  private static let magic: [UInt8] = [0x1F, 0x8B]

  /// The step size in which compressed bytes are counted: all output of one step has the step's end as its compressed
  /// size, however the input is divided. It must be exactly so, because the limits depend on it.
  package static let stepByteCount = 16 << 10

  /// The number of compressed bytes so far, up to the end of the step.
  private var packedStepEnd: Int {
    (compressedByteCount + Self.stepByteCount - 1) / Self.stepByteCount * Self.stepByteCount
  }

  /// - Throws: ``GzipError/outOfMemory``.
  package init(outputByteCount: Int = 128 << 10) throws(GzipError) {
    output = Array(repeating: 0, count: outputByteCount)
    inflater = try Inflater()
  }

  /// Decompresses the first `count` bytes of `packed`, and passes the result to `body` chunk by chunk, each with the
  /// compressed byte count up to the end of the step that it came from.
  ///
  /// - Parameter failure: Makes the error of the caller from that of the gzip data.
  package mutating func consume<Failure: Error>(
    _ packed: [UInt8], count: Int, limits: Limits, failure: (GzipError) -> Failure,
    _ body: (Span<UInt8>, _ compressedByteCount: Int) throws(Failure) -> Void
  ) throws(Failure) {
    var offset = 0
    var isOutputFull = false
    while offset < count || isOutputFull {
      if magicCount < 2, let error = magicFault(packed.span.extracting(offset..<count)) { throw failure(error) }
      // While the output is full, this step has more; the next step begins after all of it is out.
      let used = compressedByteCount % Self.stepByteCount
      let room = isOutputFull && used == 0 ? 0 : Self.stepByteCount - used
      let step = inflater.run(packed.span.extracting(offset..<min(count, offset + room)), into: &output)
      offset += step.consumed
      compressedByteCount += step.consumed
      isOutputFull = step.produced == output.count
      if step.produced > 0 {
        unpackedByteCount += step.produced
        if let error = excess(over: limits) { throw failure(error) }
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
        throw failure(.outOfMemory)
      case .damaged(let reason):
        throw failure(.damaged(reason: reason, offset: compressedByteCount))
      }
    }
  }

  /// Checks that the last member is complete.
  package func finish() throws(GzipError) {
    guard magicCount == 0 else { throw .endsEarly(offset: compressedByteCount) }
    guard memberCount > 0 else { throw .notGzip(firstBytes: []) }
  }

  /// Reads the magic number of a member, and returns what is wrong with it.
  private mutating func magicFault(_ packed: Span<UInt8>) -> GzipError? {
    let first = magicCount
    while magicCount < 2, magicCount - first < packed.count {
      let byte = packed[magicCount - first]
      guard byte == Self.magic[magicCount] else {
        if memberCount > 0 { return .trailingData(offset: compressedByteCount - first) }
        return .notGzip(firstBytes: Self.magic[..<magicCount] + [byte])
      }
      magicCount += 1
    }
    return nil
  }

  /// The error of output that exceeds the limits; `nil` if it does not.
  private func excess(over limits: Limits) -> GzipError? {
    if unpackedByteCount > limits.absoluteByteCount {
      return .tooLarge(unpacked: unpackedByteCount, packed: compressedByteCount, limit: limits.absoluteByteCount)
    }
    if unpackedByteCount > limits.byteCount, unpackedByteCount > packedStepEnd.multipliedClamping(by: limits.ratio) {
      return .tooLarge(unpacked: unpackedByteCount, packed: compressedByteCount, limit: limits.byteCount)
    }
    return nil
  }
}

extension Int {
  /// The product, or the largest integer on overflow.
  fileprivate func multipliedClamping(by factor: Int) -> Int {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }
}
