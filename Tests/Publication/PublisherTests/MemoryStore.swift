import CatalogHTTP
import ObjectStores
import Platform
import PublicationSync
import Synchronization

/// Objects in memory, whose writer can be made to die at any operation.
final class MemoryStore: ObjectStore {
  /// Where the process of the writer dies.
  enum Death: Equatable {
    /// Before the operation of this number, from 1, has changed anything.
    case before(Int)
    /// After it has, but before the writer knows.
    case after(Int)
  }

  private struct State {
    var objects: [String: (bytes: [UInt8], version: Int)] = [:]
    var writes = 0
    var operations = 0
    var death: Death?
    var isDead = false
    /// Objects that cannot be deleted.
    var undeletable: Set<String> = []
  }

  private let state = Mutex(State())
  /// Called after each write.
  private let onWrite = Mutex<(@Sendable (String) async throws -> Void)?>(nil)

  var description: String { "memory" }
  var names: [String] { state.withLock { $0.objects.keys.sorted() } }
  /// The operations of the writer since ``live()``.
  var operations: Int { state.withLock { $0.operations } }

  /// All objects, as they are now.
  var files: [String: [UInt8]] { state.withLock { $0.objects.mapValues(\.bytes) } }

  func bytes(_ name: String) -> [UInt8]? { state.withLock { $0.objects[name]?.bytes } }
  func set(_ name: String, _ bytes: [UInt8]?) {
    state.withLock { state in
      state.writes += 1
      state.objects[name] = bytes.map { ($0, state.writes) }
    }
  }

  /// The writer will die.
  func die(_ death: Death?) {
    state.withLock {
      $0.operations = 0
      $0.isDead = false
      $0.death = death
    }
  }

  /// Another writer begins, which does not die.
  func live() { die(nil) }
  func refuseToDelete(_ names: Set<String>) { state.withLock { $0.undeletable = names } }
  func afterWrites(_ body: (@Sendable (String) async throws -> Void)?) { onWrite.withLock { $0 = body } }

  /// What the dead writer's calls throw.
  static let death = ObjectStoreError.cancelled

  private func operation<Value>(_ body: (inout State) -> Value) throws(ObjectStoreError) -> Value {
    let result = state.withLock { state -> Value? in
      if state.isDead { return nil }
      state.operations += 1
      if state.death == .before(state.operations) {
        state.isDead = true
        return nil
      }
      let value = body(&state)
      if state.death == .after(state.operations) {
        state.isDead = true
        return nil
      }
      return value
    }
    guard let result else { throw Self.death }
    return result
  }

  func get(_ name: String, limit: Int) async throws(ObjectStoreError) -> StoredObject? {
    let object = try operation { $0.objects[name] }
    if let object, object.bytes.count > limit { throw .tooLarge(store: description, name: name, limit: limit) }
    return object.map { StoredObject(bytes: $0.bytes, version: "\($0.version)") }
  }

  func put(
    _ name: String, _ bytes: [UInt8], _ condition: PutCondition, _ type: ObjectType
  ) async throws(ObjectStoreError) -> PutResult {
    let result = try operation { state -> PutResult in
      let known = state.objects[name]
      switch condition {
      case .none: break
      case .ifAbsent: if known != nil { return .preconditionFailed }
      case .ifVersion(let version): if known.map({ "\($0.version)" }) != version { return .preconditionFailed }
      }
      state.writes += 1
      state.objects[name] = (bytes, state.writes)
      return .written(version: "\(state.writes)")
    }
    do { try await onWrite.withLock { $0 }?(name) } catch { throw .cancelled }
    return result
  }

  func delete(_ name: String) async throws(ObjectStoreError) {
    try operation { state in
      if !state.undeletable.contains(name) { state.objects[name] = nil }
    }
  }

  func exists(_ name: String) async throws(ObjectStoreError) -> Bool {
    try operation { $0.objects[name] != nil }
  }
}

/// The objects as a device reads them: the death of the writer does not matter.
final class MemoryOrigin: PublicationOrigin {
  private let store: MemoryStore
  private let log = Mutex<(names: [String], bytesIn: Int)>(([], 0))

  init(_ store: MemoryStore) { self.store = store }

  var name: String { "memory" }
  var traffic: (requests: Int, bytesIn: Int) { log.withLock { ($0.names.count, $0.bytesIn) } }
  /// The names that were asked for, since the last time.
  func takeNames() -> [String] {
    log.withLock { log in
      defer { log.names = [] }
      return log.names
    }
  }

  private func read(_ name: String) -> [UInt8]? {
    let bytes = store.bytes(name)
    log.withLock {
      $0.names.append(name)
      $0.bytesIn += bytes?.count ?? 0
    }
    return bytes
  }

  func contents(
    of name: String, limit: Int, validators: FileValidators?, isFresh: Bool
  ) async throws -> OriginContents {
    guard let bytes = read(name) else { return .missing(status: 404) }
    guard bytes.count <= limit else { throw PublicationFailure.unavailable("\(name) is too large") }
    return .bytes(bytes, nil)
  }

  nonisolated(nonsending) func read(
    _ name: String, _ range: Range<Int>, isFresh: Bool, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> Bool {
    guard let bytes = read(name), bytes.count >= range.upperBound else { return false }
    let part = Array(bytes[range])
    try onPiece(part.span)
    return true
  }
}
