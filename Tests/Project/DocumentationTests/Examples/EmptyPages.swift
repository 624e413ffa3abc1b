// The example of Sources/Documents/RemoteLists/RemoteLists.docc/RemoteLists.md
import LogStore
import RemoteLists

/// Opens a cache that asks the server again five seconds after an answer without items.
func openCache(in directory: String) throws -> PageStore {
  var options = PageStore.Options()
  options.emptyPageLifetime = .seconds(5)
  return PageStore(try StoreLocation.creating(directory, name: "cache"), options: options)
}
