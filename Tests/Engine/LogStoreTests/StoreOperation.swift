import RandomTestSupport

/// One operation of a model test. Each carries its own seed, so that it does the same whatever is left out before it.
struct StoreOperation: CustomStringConvertible, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case commit, replace, compact, rollback, reopen
    case hold, look, refresh, openAt
    case crash, fault, fill, damage
  }

  let kind: Kind
  let seed: UInt64

  init(_ random: inout SeededGenerator) {
    kind =
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<38: .commit
      case 38..<42: .replace
      case 42..<47: .compact
      case 47..<54: .rollback
      case 54..<57: .reopen
      case 57..<63: .hold
      case 63..<68: .look
      case 68..<76: .refresh
      case 76..<80: .openAt
      case 80..<86: .crash
      case 86..<95: .fault
      case 95..<98: .fill
      default: .damage
      }
    seed = random.next() % 1_000_000
  }

  /// An operation as ``description`` tells it.
  init?(_ text: Substring) {
    let words = text.split(whereSeparator: " ,[]".contains)
    guard words.count == 2, let kind = Kind(rawValue: String(words[0])), let seed = UInt64(words[1]) else { return nil }
    self.kind = kind
    self.seed = seed
  }

  var description: String { "\(kind.rawValue) \(seed)" }
}
