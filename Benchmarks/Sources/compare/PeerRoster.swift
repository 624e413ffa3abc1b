import BenchmarkSupport

/// Every store that this program knows, whether it was built in or not.
enum PeerRoster {
  /// Store, name and Debian package of what depends on a library.
  private static let optional = [
    ("sqlite", "SQLite", "libsqlite3-dev"), ("grdb", "GRDB", "libsqlite3-dev"), ("lmdb", "LMDB", "liblmdb-dev"),
    ("rocksdb", "RocksDB", "librocksdb-dev"), ("leveldb", "LevelDB", "libleveldb-dev"),
    ("tkrzw", "tkrzw", "libtkrzw-dev"), ("cdb", "tinycdb", "libcdb-dev"),
  ]

  /// Those that need no library.
  private static let own = ["shelfmark", "sealed", "bound", "dictionary"]

  static var storeNames: String { (own + optional.map(\.0)).joined(separator: ", ") }

  /// Ours first, then the bound, then the others.
  private static var all: [any Peer] {
    var peers: [any Peer] = [ShelfmarkPeer(isSealed: false), ShelfmarkPeer(isSealed: true)]
    let inC = CPeer.all
    peers += inC.filter { $0.store == "bound" || $0.store == "sqlite" }
    #if PEER_GRDB
    peers += [GRDBPeer(.records), GRDBPeer(.rows), GRDBPeer(.oneRead)] as [any Peer]
    #endif
    peers += inC.filter { $0.store != "bound" && $0.store != "sqlite" }
    return peers + [DictionaryPeer()]
  }

  /// The peer that fills `store`.
  static func filler(of store: String) throws -> any Peer {
    guard let peer = all.first(where: { $0.store == store }) else { throw UsageError("no store \(store)") }
    return peer
  }

  /// Those to measure, and for each one that is not, why.
  static func select(_ wanted: [String], productCount: Int) throws(UsageError) -> (peers: [any Peer], skipped: [String])
  {
    let known = own + optional.map(\.0)
    if let unknown = wanted.first(where: { !known.contains($0) }) {
      throw UsageError("--peers: \(unknown) is none of \(storeNames)")
    }
    let all = all
    var skipped: [String] = []
    for (store, name, package) in optional where !all.contains(where: { $0.store == store }) {
      skipped.append(
        "\(name): not built in, for its headers were not found (Debian: \(package)) or SHELFMARK_PEERS does not name it"
      )
    }
    // All of them would not fit the page cache any more.
    let large = ["shelfmark", "sealed", "bound", "sqlite", "lmdb"]
    let chosen = wanted.isEmpty ? (productCount > 2_000_000 ? large : known) : wanted + ["shelfmark"]
    var peers: [any Peer] = []
    for peer in all {
      if !chosen.contains(peer.store) {
        if wanted.isEmpty { skipped.append("\(peer.name): not by default at this size; --peers names it") }
      } else if productCount > peer.limit {
        skipped.append("\(peer.name): too many products for it")
      } else {
        peers.append(peer)
      }
    }
    return (peers, skipped)
  }
}
