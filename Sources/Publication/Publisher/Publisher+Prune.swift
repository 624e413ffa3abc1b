package import Essentials
package import LogStore
package import ObjectStores
import PublicationFormat

/// What a pruning removed, or would remove.
package struct PruneReport: Sendable, Equatable {
  /// The newest state.
  package var sequence: UInt64
  /// The names of the objects, sorted.
  package var names: [String]
  /// The number of their bytes; `nil` if it is not known.
  package var byteCount: Int?
  package var isDryRun: Bool
}

extension Publisher {
  /// Removes the objects that no head has named for a time. What the newest head names stays, however old it is.
  ///
  /// The store is not listed: the publisher knows what it has written. Each deletion is verified.
  ///
  /// - Throws: ``PublisherError``; `ObjectStoreError`. What was removed until then is removed.
  package func prune(after age: TimeInterval, isDryRun: Bool) async throws -> PruneReport {
    let lock = try place.lock()
    defer { lock.release() }
    guard var state = try place.state(), let head = state.head else {
      throw PublisherError.invalid("nothing was published to \(target) yet")
    }
    let limit = options.now().timeIntervalSince1970 - age
    let needed = try Self.needed(state)
    let names = state.objects.filter { $0.value < limit && !needed.contains($0.key) }.keys.sorted()
    let sizes = names.compactMap { state.sizes[$0] }
    let report = PruneReport(
      sequence: try PublicationHead(json: Array(head.utf8)).sequence, names: names,
      byteCount: sizes.count == names.count ? sizes.reduce(0, +) : nil, isDryRun: isDryRun)
    if isDryRun || names.isEmpty { return report }
    do {
      for name in names {
        try await target.delete(name)
        guard try await !target.exists(name) else {
          throw PublisherError.notPublished(
            "\(target)/\(name) is still there after it was deleted: the store keeps it, or the key may not delete")
        }
        state.objects[name] = nil
        state.sizes[name] = nil
      }
    } catch {
      try place.write(state)
      throw error
    }
    try place.write(state)
    return report
  }

  /// The objects that the newest head names, and those of a publication that is pending.
  private static func needed(_ state: PublisherState) throws -> Set<String> {
    var names = Set(state.outbox)
    for text in [state.head, state.formerHead] {
      guard let text else { continue }
      let head = try PublicationHead(json: Array(text.utf8))
      names.formUnion(objects(of: head))
      names.insert(textName(head.sequence))
    }
    return names
  }

  /// Returns the store through which a publisher writes. The first time, it finds out whether the store keeps the
  /// conditions of writes.
  ///
  /// - Parameter isSinglePublisher: Whether somebody vouches that nobody else writes there.
  /// - Throws: ``PublisherError/unconditional(_:)`` if the store does not keep them, and nobody vouches.
  package static func checkedStore(
    _ store: any ObjectStore, from location: StoreLocation, isSinglePublisher: Bool
  ) async throws -> any ObjectStore {
    let place = PublisherDirectory(location)
    let lock = try place.lock()
    defer { lock.release() }
    var state = try place.state() ?? PublisherState(catalogue: UUID().uuidString.lowercased())
    var conditions = state.conditions
    // A server that was replaced by a better one is asked again.
    if conditions == nil || conditions != .honoured && !isSinglePublisher {
      conditions = try await store.probeConditions()
      if conditions != state.conditions {
        state.conditions = conditions
        try place.write(state)
      }
    }
    if conditions == .honoured { return store }
    guard isSinglePublisher else {
      let what = conditions == .refused ? "refuses writes with a condition" : "ignores the conditions of writes"
      throw PublisherError.unconditional(
        "\(store): the server \(what), so two publishers could overwrite each other's work; if nobody else publishes"
          + " there, give --single-publisher")
    }
    return UnconditionalStore(store)
  }
}
