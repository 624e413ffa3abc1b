/// SplitMix64 (Steele, Lea and Flood 2014): one word of state, so that each row has a generator of its own.
struct RowRandom {
  private var state: UInt64

  init(_ state: UInt64) { self.state = state }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.mix(state)
  }

  /// A number from 0 to `bound` - 1. The bias is below `bound` / 2^32.
  mutating func below(_ bound: Int) -> Int { Int(((next() >> 32) * UInt64(bound)) >> 32) }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// A number from 0 to `bound` - 1, small ones far more often: a few brands make most products.
  mutating func skewed(_ bound: Int) -> Int {
    let unit = Double(next() >> 11) * 0x1p-53
    return min(bound - 1, Int(Double(bound) * unit * unit * unit))
  }

  /// The finaliser alone: a hash of one word.
  static func mix(_ word: UInt64) -> UInt64 {
    var z = word
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
