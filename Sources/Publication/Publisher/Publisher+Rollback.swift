package import Catalog

extension Publisher {
  /// Returns the rows of an earlier state, which can be published again as a new one.
  ///
  /// - Throws: ``PublisherError/invalid(_:)`` if they are not kept any more, with those that are.
  package func snapshot(ofState sequence: UInt64) throws -> CatalogSnapshot {
    guard let history = try CatalogReader.open(place.published)?.history() else {
      throw PublisherError.invalid("nothing was published to \(target) yet")
    }
    var kept: Set<UInt64> = []
    for commit in try history.commits() {
      guard let snapshot = try history.at(commit.commit.sequence), let mark = snapshot.publication else { continue }
      if mark.sequence == sequence { return snapshot }
      kept.insert(mark.sequence)
    }
    if kept.isEmpty { throw PublisherError.invalid("nothing was published to \(target) yet") }
    let list = kept.sorted().map { "\($0)" }.joined(separator: ", ")
    throw PublisherError.invalid("the rows of the state \(sequence) are not kept; these states are: \(list)")
  }
}
