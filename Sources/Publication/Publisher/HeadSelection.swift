import PublicationFormat
import PublicationSync

/// Chooses the deltas of a head, so that it has at most ``PublicationHead/byteLimit`` bytes.
///
/// A device without rows takes the base of its state and the deltas after it. So these stay, whatever else has no room.
enum HeadSelection {
  /// The most deltas of one length: a device that missed N states then finds a way of about 2 · log₂ N deltas.
  private static let limitOfLength = 2

  /// The most deltas between the base and a state, if rings have so many states that the head must have room for all.
  static func pathLimit(_ rings: [PublicationHead.Ring]) -> Int {
    Set(rings.map(\.sequence)).count >= 3 ? 2 : .max
  }

  /// The deltas that lead from the base to the state; `nil` if they do not.
  static func path(fromBaseTo state: PublicationHead.State) -> [PublicationHead.Delta]? {
    guard case .base(let base, let path) = PublicationPlan.cheapest(from: nil, to: state) else { return nil }
    return path.last?.to ?? base.sequence == state.sequence ? path : nil
  }

  /// Whether a new device needs a new base: the deltas after the last one have a fourth of its bytes, or are too many.
  static func isFar(_ state: PublicationHead.State, pathLimit: Int) -> Bool {
    guard let path = path(fromBaseTo: state) else { return true }
    return path.count > pathLimit
      || path.reduce(0) { $0 + $1.file.byteCount } > max(state.base.file.byteCount / 4, 4096)
  }

  /// Leaves out the deltas that no device would take, and as many more as the head has no room for.
  ///
  /// - Returns: Whether the head has room for all that is needed, and each base leads to its state.
  static func fit(_ head: inout PublicationHead) -> Bool {
    var kept = path(fromBaseTo: head.state) ?? []
    for (_, deltas) in Dictionary(grouping: head.state.deltas, by: { $0.to - $0.from }) {
      for delta in deltas.sorted(by: { $0.to > $1.to }).prefix(limitOfLength) where !kept.contains(delta) {
        kept.append(delta)
      }
    }
    kept.sort { ($0.to, $0.from) < ($1.to, $1.from) }
    head.state.deltas = kept
    head.state.deltas = useful(head.state)
    for index in head.held.indices {
      while head.held[index].deltas.count > 6, dropOldest(&head.held[index]) {}
    }
    while !head.fits {
      // Devices of rings that are behind take their base then.
      let longest = head.held.indices.max { head.held[$0].deltas.count < head.held[$1].deltas.count }
      if let longest, dropOldest(&head.held[longest]) { continue }
      if head.held.indices.contains(where: { dropOldest(&head.held[$0]) }) { continue }
      if !dropOldest(&head.state) { return false }
    }
    return ([head.state] + head.held).allSatisfy { path(fromBaseTo: $0) != nil }
  }

  /// The deltas that a device would take rather than the base, and those that follow the base.
  private static func useful(_ state: PublicationHead.State) -> [PublicationHead.Delta] {
    let needed = path(fromBaseTo: state) ?? []
    let cost: (PublicationHead.Delta) -> Int = { $0.file.byteCount + PublicationPlan.requestCost }
    let ofBase = state.base.file.byteCount + 3 * PublicationPlan.requestCost + needed.reduce(0) { $0 + cost($1) }
    // The cost of the cheapest way that begins with each delta; `nil` if there is none. They are sorted by their ends.
    let deltas = state.deltas
    var costs = [Int?](repeating: nil, count: deltas.count)
    for index in deltas.indices.reversed() {
      var rest = deltas[index].to == state.sequence ? 0 : Int?.none
      for next in index + 1..<max(deltas.count, index + 1)
      where deltas[next].from <= deltas[index].to && deltas[next].to > deltas[index].to {
        if let more = costs[next], more < rest ?? .max { rest = more }
      }
      costs[index] = rest.map { $0 + cost(deltas[index]) }
    }
    return zip(deltas, costs).filter { delta, cost in cost.map { $0 <= ofBase } ?? false || needed.contains(delta) }
      .map(\.0)
  }

  /// Drops the oldest delta that no device without rows needs. Returns whether there was one.
  private static func dropOldest(_ state: inout PublicationHead.State) -> Bool {
    let needed = path(fromBaseTo: state) ?? []
    guard let index = state.deltas.firstIndex(where: { !needed.contains($0) }) else { return false }
    state.deltas.remove(at: index)
    return true
  }
}
