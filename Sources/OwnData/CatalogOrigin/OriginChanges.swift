import Catalog
import LogStore

/// The products in which two commits of an origin's catalogue differ.
struct OriginChanges {
  var counts = OriginStore.Changes()
  var stamped = OriginStamps.Changes()
}

extension CatalogSnapshot {
  /// Returns the products that are new, changed or gone since an earlier commit. A change of its relations or
  /// of its codes changes a product.
  ///
  /// - Throws: `StoreError.damaged`.
  func originChanges(since earlier: CatalogSnapshot) throws(StoreError) -> OriginChanges {
    let differences = try differences(since: earlier)
    var changes = OriginChanges()
    changes.stamped.before = earlier.sequence
    changes.counts.inserted = differences.productCounts.added
    changes.counts.deleted = differences.productCounts.removed
    changes.counts.updated = differences.productCounts.changed
    var ids: Set<ByteText> = []
    for index in 0..<differences.productCount {
      let change = try differences.product(index)
      if let product = change.after {
        ids.insert(ByteText(product.id))
        changes.stamped.written.append((ByteText(product.id), Stamp(product.updateTime)))
      } else if let product = change.before {
        ids.insert(ByteText(product.id))
        changes.stamped.removed.append(ByteText(product.id))
      }
    }
    var owners = differences.relations.compactMap { ($0.after ?? $0.before)?.productId }
    owners += differences.codes.compactMap { ($0.after ?? $0.before)?.productId }
    for owner in owners {
      guard ids.insert(ByteText(owner)).inserted, let product = try product(id: owner) else { continue }
      changes.counts.updated += 1
      changes.stamped.written.append((ByteText(owner), Stamp(product.updateTime)))
    }
    return changes
  }

  /// Returns the latest `updateTime` of all products in byte order; empty if none has one.
  ///
  /// - Complexity: Reads every product.
  func latestUpdateTime() throws(StoreError) -> Stamp {
    var latest = Stamp("")
    try forEachProduct { (view) throws(StoreError) in latest = max(latest, Stamp(view.updateTime)) }
    return latest
  }
}
