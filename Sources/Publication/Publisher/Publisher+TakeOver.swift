import Catalog
import CatalogHTTP
import CatalogSync
import ObjectStores
package import PublicationFormat
import PublicationSync
import Synchronization

extension Publisher {
  /// Goes on from what another publisher has published, for example if its directory is lost, or is an older copy.
  ///
  /// The rows, the head and the deltas that it names are read and checked as a device does it, and then are what this
  /// publisher has published last. What its directory had before is replaced. The files that only earlier heads named are not
  /// known to it: they stay where they are. If the other publisher still runs, it is stopped by its next publication,
  /// because the head is not the one that it wrote.
  ///
  /// - Returns: The head that was taken over; `nil` if it is that of this publisher already.
  /// - Throws: ``PublisherError``; `PublicationFailure`; `ObjectStoreError`; `StoreError`, `CatalogError`. This publisher
  ///   is then as it was before, or has taken over some of the rows and is asked to do it again.
  package func takeOver() async throws -> PublicationHead? {
    let lock = try place.lock()
    defer { lock.release() }
    guard let seen = try await target.get(PublicationHead.name, limit: PublicationHead.byteLimit)?.bytes else {
      throw PublisherError.invalid("nothing was published to \(target) yet, so there is nothing to take over")
    }
    let old = try? place.state()
    let text = String(decoding: seen, as: UTF8.self)
    if let old, [old.head, old.formerHead].contains(text) { return nil }
    if let keys = try await target.get(KeyList.name, limit: KeyList.byteLimit)?.bytes {
      try checkKey(KeyList(json: keys))
    }
    // The state is replaced last: until then its head is not the one that is published, so an interrupted take-over has to
    // be done again before anything is published.
    let cache = PublicationCache(of: place.published)
    defer { forget() }
    var sync = PublicationSync(
      PublicationClient(origin: StoredFiles(target), cache: cache, rootKey: nil, deviceNumber: 0))
    (sync.isFull, sync.takesNewest, sync.lossLimit) = (true, true, .open)
    let head = try await sync.run(SyncDestination(place.published)).head
    var state = PublisherState(catalogue: head.catalogue)
    state.head = try cache.read(PublicationCache.head).map { String(decoding: $0, as: UTF8.self) }
    state.heads = state.head.map { [$0] }
    state.conditions = old?.conditions
    let now = options.now().timeIntervalSince1970
    for name in Self.objects(of: head) { state.objects[name] = now }
    for delta in head.state.deltas {
      try place.write(PublisherDirectory.copy(delta.name), await sync.client.object(delta.name, delta.file))
      state.sizes[delta.name] = delta.file.byteCount
    }
    state.sizes[head.state.base.name] = head.state.base.file.byteCount
    try place.write(state)
    return head
  }

  /// Removes what a device would keep for its next synchronisation.
  private func forget() {
    for name in (try? place.directory.names()) ?? [] where name.hasPrefix("publication") {
      _ = try? place.directory.remove(name)
    }
  }

  /// Checks that a list of keys has that of this publisher.
  func checkKey(_ list: KeyList) throws(PublisherError) {
    if list.keys.contains(where: { $0.key == PublicationTrust.line(options.key.publicKey) }) { return }
    throw .key(
      "the key \(options.key.number) is not among the keys of \(target)/\(KeyList.name): sign with one that is, or add it"
        + " with 'catalogctl publish keys rotate'")
  }
}

/// The files of an object store, as a device reads them.
private final class StoredFiles: PublicationOrigin {
  private let store: any ObjectStore
  /// The file of which a part was read last.
  private let last = Mutex<(name: String, bytes: [UInt8])?>(nil)

  init(_ store: any ObjectStore) { self.store = store }

  var name: String { "\(store)" }
  /// Nobody asks how much a publisher reads.
  var traffic: (requests: Int, bytesIn: Int) { (0, 0) }

  func contents(
    of name: String, limit: Int, validators: FileValidators?, isFresh: Bool
  ) async throws -> OriginContents {
    guard let object = try await store.get(name, limit: limit) else { return .missing(status: 404) }
    return .bytes(object.bytes, nil)
  }

  nonisolated(nonsending) func read(
    _ name: String, _ range: Range<Int>, isFresh: Bool, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> Bool {
    var known = last.withLock { $0?.name == name ? $0?.bytes : nil }
    if known == nil || isFresh {
      known = try await store.get(name, limit: 1 << 40)?.bytes
      last.withLock { $0 = known.map { (name, $0) } }
    }
    guard let known, range.upperBound <= known.count else { return false }
    try onPiece(known.span.extracting(range))
    return true
  }
}
