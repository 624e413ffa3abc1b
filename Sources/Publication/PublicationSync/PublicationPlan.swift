package import PublicationFormat

/// The files that lead a device to a state.
package enum PublicationPlan: Sendable, Equatable {
  /// Deltas, one after the other. They may begin before the device's own state, because their rows are final.
  case deltas([PublicationHead.Delta])
  /// All rows, and the deltas after them.
  case base(PublicationHead.Base, [PublicationHead.Delta])

  /// What a request costs beside its bytes, in bytes: with it, few large files are better than many small ones.
  package static let requestCost = 1024

  /// Whether the base and deltas lead to a state.
  package static func reaches(_ state: PublicationHead.State) -> Bool {
    path(from: state.base.sequence, to: state) != nil
  }

  /// The number of bytes to fetch.
  package var byteCount: Int {
    switch self {
    case .deltas(let deltas): deltas.reduce(0) { $0 + $1.file.byteCount }
    case .base(let base, let deltas): base.file.byteCount + deltas.reduce(0) { $0 + $1.file.byteCount }
    }
  }

  /// The cheapest way to a state.
  ///
  /// - Parameter sequence: The state that the device has; `nil` if it has none of this publication, or must take all rows.
  package static func cheapest(from sequence: UInt64?, to state: PublicationHead.State) -> PublicationPlan {
    let fromBase = path(from: state.base.sequence, to: state) ?? []
    let base = PublicationPlan.base(state.base, fromBase)
    guard let sequence, let deltas = path(from: sequence, to: state) else { return base }
    return cost(deltas) <= cost(fromBase) + state.base.file.byteCount + 3 * requestCost ? .deltas(deltas) : base
  }

  private static func cost(_ deltas: [PublicationHead.Delta]) -> Int {
    deltas.reduce(0) { $0 + $1.file.byteCount + requestCost }
  }

  /// The cheapest deltas from a state to another one; `nil` if there is a gap.
  private static func path(from sequence: UInt64, to state: PublicationHead.State) -> [PublicationHead.Delta]? {
    if sequence >= state.sequence { return [] }
    // For each state that is reached: the cost, and the last delta.
    var reached: [UInt64: (cost: Int, delta: PublicationHead.Delta?)] = [sequence: (0, nil)]
    for delta in state.deltas.sorted(by: { ($0.to, $0.from) < ($1.to, $1.from) }) where delta.to > sequence {
      // A delta leads on from every state from its own first one on.
      guard let best = reached.filter({ $0.key >= delta.from && $0.key < delta.to }).values.map(\.cost).min() else {
        continue
      }
      let cost = best + delta.file.byteCount + requestCost
      if cost < reached[delta.to]?.cost ?? .max { reached[delta.to] = (cost, delta) }
    }
    var deltas: [PublicationHead.Delta] = []
    var last = state.sequence
    while last != sequence {
      guard let step = reached[last], let delta = step.delta else { return nil }
      deltas.append(delta)
      let cost = step.cost - delta.file.byteCount - requestCost
      guard let before = reached.first(where: { $0.key >= delta.from && $0.key < delta.to && $0.value.cost == cost })
      else { return nil }
      last = before.key
    }
    return deltas.reversed()
  }
}
