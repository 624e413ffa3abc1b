/// Unpacks one gzip member after another, header and trailer included: the one thing that a library does for this module.
protocol MemberInflater: ~Copyable, Sendable {
  /// - Throws: ``WireError/outOfMemory``.
  init() throws(WireError)

  /// Unpacks `packed` into `output`, from its beginning, until either ends or the member does. What comes then is
  /// another member.
  mutating func run(_ packed: Span<UInt8>, into output: inout [UInt8]) -> InflateStep
}

/// What one call of an inflater did.
struct InflateStep {
  enum Status {
    /// More input or more room is needed.
    case unfinished
    /// The member was whole, and its checks passed.
    case endOfMember
    case outOfMemory
    case damaged(reason: String)
  }

  /// Packed bytes that were used. Less than nothing where bytes that an earlier call took turned out to lie behind damage.
  var consumed: Int
  var produced: Int
  var status: Status
}

#if ISAL
/// With the trait `ISAL`.
typealias Inflater = ISALInflater
#else
typealias Inflater = ZlibInflater
#endif
