import Foundation

/// SplitMix64 (Steele, Lea, Flood: *Fast Splittable Pseudorandom Number Generators*, 2014): small, and the
/// same on every machine.
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// A generator for the test `name`, which prints its seed. `SHELFMARK_SEED` gives another one: the seed is the same
  /// every time unless asked otherwise, so that a change is judged by what it changes.
  package init(for name: String) {
    let given = ProcessInfo.processInfo.environment["SHELFMARK_SEED"].flatMap(UInt64.init)
    let seed = given ?? 20_260_711
    print("\(name): SHELFMARK_SEED=\(seed)")
    self.init(seed: seed)
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}

/// How much the tests that can go on for ever should do: `SHELFMARK_DEEP` times the usual.
package let depth = ProcessInfo.processInfo.environment["SHELFMARK_DEEP"].flatMap(Int.init) ?? 1
