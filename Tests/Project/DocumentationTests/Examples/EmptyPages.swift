// The example of Sources/Documents/PageCache/PageCache.docc/PageCache.md
import LogStore
import PageCache

/// Opens a cache that asks the server again five seconds after an answer without items.
func openCache(in directory: String) throws -> PageStore {
  var options = PageStore.Options()
  options.emptyPageLifetime = .seconds(5)
  return PageStore(try StoreLocation.creating(directory, name: "cache"), options: options)
}
