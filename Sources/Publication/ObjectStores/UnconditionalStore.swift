/// A store that does not keep the conditions of writes, for the only one who writes to it.
///
/// A condition is checked before the write, which then has none. So it does not hold against another writer at the same
/// moment, but against one that was there before.
package struct UnconditionalStore: ObjectStore {
  private let store: any ObjectStore
  /// The most bytes of an object that is replaced.
  private static let limit = 1 << 20

  package init(_ store: any ObjectStore) { self.store = store }

  package var description: String { store.description }

  package func get(_ name: String, limit: Int) async throws(ObjectStoreError) -> StoredObject? {
    try await store.get(name, limit: limit)
  }

  package func put(
    _ name: String, _ bytes: [UInt8], _ condition: PutCondition, _ type: ObjectType
  ) async throws(ObjectStoreError) -> PutResult {
    switch condition {
    case .none: break
    case .ifAbsent: if try await store.exists(name) { return .preconditionFailed }
    case .ifVersion(let version):
      guard try await store.get(name, limit: Self.limit)?.version == version else { return .preconditionFailed }
    }
    return try await store.put(name, bytes, .none, type)
  }

  package func delete(_ name: String) async throws(ObjectStoreError) { try await store.delete(name) }

  package func exists(_ name: String) async throws(ObjectStoreError) -> Bool { try await store.exists(name) }
}
