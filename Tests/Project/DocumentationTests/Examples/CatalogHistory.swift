// The example of Sources/Catalogue/Catalog/Catalog.docc/Catalog.md
import Catalog
import LogStore

/// Undoes the last full update and returns how many products differ from it.
func undoFullUpdate(at location: StoreLocation) throws -> Int {
  let writer = try CatalogWriter(location)
  defer { writer.close() }
  let history = try writer.history()
  // Commits from before the last full update are marked.
  guard let last = try history.commits().first(where: \.isPrevious)?.commit.sequence,
    try writer.rollback(to: last) != nil
  else { return 0 }
  return try writer.snapshot().changes(since: history.current).products.count
}
