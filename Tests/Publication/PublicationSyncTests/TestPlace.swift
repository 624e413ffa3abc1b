import CatalogHTTP
import ObjectStores
import PublicationSync
import Synchronization

/// Files in memory, to which a publisher writes and from which devices read, also changed ones.
final class TestPlace: ObjectStore, PublicationOrigin {
  /// What a device gets for the bytes of a file; `nil` if there are none.
  typealias Tampering = @Sendable (_ name: String, _ bytes: [UInt8]) throws -> [UInt8]?

  private struct State {
    var files: [String: (bytes: [UInt8], version: Int)] = [:]
    var version = 0
    var requests: [String] = []
    var allRequests = 0
    var bytesIn = 0
    var tampering: Tampering?
  }

  private let state = Mutex(State())
  let name: String
  var description: String { name }

  init(_ name: String = "http://place.test") { self.name = name }

  var traffic: (requests: Int, bytesIn: Int) { state.withLock { ($0.allRequests, $0.bytesIn) } }
  var files: [String: [UInt8]] { state.withLock { $0.files.mapValues(\.bytes) } }

  /// The names that devices asked for since the last call.
  func takeRequests() -> [String] {
    state.withLock { state in
      defer { state.requests = [] }
      return state.requests
    }
  }

  /// Changes what devices get from now on.
  func tamper(_ tampering: Tampering?) { state.withLock { $0.tampering = tampering } }

  /// Replaces all files.
  func set(_ files: [String: [UInt8]]) {
    state.withLock { state in
      state.version += 1
      let version = state.version
      state.files = files.mapValues { ($0, version) }
    }
  }

  // MARK: For the publisher

  func get(_ name: String, limit: Int) async throws(ObjectStoreError) -> StoredObject? {
    state.withLock { $0.files[name].map { StoredObject(bytes: $0.bytes, version: "\($0.version)") } }
  }

  func put(
    _ name: String, _ bytes: [UInt8], _ condition: PutCondition, _ type: ObjectType
  ) async throws(ObjectStoreError) -> PutResult {
    state.withLock { state in
      let known = state.files[name]
      switch condition {
      case .ifAbsent where known != nil: return .preconditionFailed
      case .ifVersion(let version) where known.map({ "\($0.version)" }) != version: return .preconditionFailed
      default: break
      }
      state.version += 1
      state.files[name] = (bytes, state.version)
      return .written(version: "\(state.version)")
    }
  }

  func delete(_ name: String) async throws(ObjectStoreError) { state.withLock { $0.files[name] = nil } }
  func exists(_ name: String) async throws(ObjectStoreError) -> Bool { state.withLock { $0.files[name] != nil } }

  // MARK: For devices

  private func answer(_ name: String) throws -> (bytes: [UInt8], etag: String)? {
    let (file, tampering) = state.withLock { state in
      state.requests.append(name)
      state.allRequests += 1
      return (state.files[name], state.tampering)
    }
    guard let file else { return nil }
    let bytes = try tampering.map { try $0(name, file.bytes) } ?? file.bytes
    return bytes.map { ($0, "\"\(file.version)\"") }
  }

  func contents(
    of name: String, limit: Int, validators: FileValidators?, isFresh: Bool
  ) async throws -> OriginContents {
    guard let (bytes, etag) = try answer(name) else { return .missing(status: 404) }
    if let validators, validators.etag == etag { return .unchanged }
    state.withLock { $0.bytesIn += bytes.count }
    if bytes.count > limit { throw PublicationFailure.unavailable("\(name) is too long") }
    return .bytes(bytes, FileValidators(etag: etag, lastModified: nil))
  }

  nonisolated(nonsending) func read(
    _ name: String, _ range: Range<Int>, isFresh: Bool, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> Bool {
    guard let (bytes, _) = try answer(name) else { return false }
    let part = Array(bytes[range.clamped(to: 0..<bytes.count)])
    // In pieces, as from a network.
    for start in stride(from: 0, to: part.count, by: 1000) {
      let piece = Array(part[start..<min(start + 1000, part.count)])
      state.withLock { $0.bytesIn += piece.count }
      try onPiece(piece.span)
    }
    return part.count == range.count
  }
}
