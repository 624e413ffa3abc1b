import Catalog
import LogStore
import Synchronization

/// The ids of the sets of a catalogue, sorted. The list of the commit asked for last is kept.
final class SetLists: Sendable {
  private struct Entry {
    let generation: UInt64
    let sequence: UInt64
    let ids: [String]
  }

  private let entry = Mutex<Entry?>(nil)

  /// Returns the ids of the products that have relations, in byte order.
  ///
  /// - Complexity: The first time for a commit, every relation is read.
  func ids(_ snapshot: CatalogSnapshot) throws -> [String] {
    try entry.withLock { entry in
      if let entry, entry.generation == snapshot.generation, entry.sequence == snapshot.sequence { return entry.ids }
      var found: Set<ProductID> = []
      try snapshot.forEachRelation { found.insert(ProductID($0.productId)) }
      let ids = found.sorted().map(\.text)
      entry = Entry(generation: snapshot.generation, sequence: snapshot.sequence, ids: ids)
      return ids
    }
  }
}
