import Cryptography
import PublicationFormat
import PublicationSync
package import Storage
import Synchronization
import TextFormat
import Workspace

/// The files of a publication that this device has and has checked, for its neighbours.
///
/// A file that the head names and that is not here yet is fetched when the first neighbour asks for it, once for all who
/// ask meanwhile. Neighbours check all that they get, so a mirror needs no trust.
package final class PublicationMirror: Sendable {
  /// A file of a publication.
  package enum Contents: Sendable {
    /// A file that changes, and its bytes.
    case bytes([UInt8], etag: String)
    /// A file that never changes.
    case file(any StorageFile, byteCount: Int, etag: String)
    /// It is not here.
    case missing
    /// It is being fetched.
    case busy
  }

  /// How long a neighbour waits for a file that is being fetched. It is shorter than the silence that clients bear.
  package static let patience: Duration = .seconds(15)

  private let published: PublishedCatalogue
  private let turn: AsyncLock
  private let context: DaemonContext
  /// The files that are being fetched.
  private let fetches = Mutex<[String: Task<Void, Never>]>([:])

  /// - Parameter turn: The lock that is held while the catalogue is synchronised.
  init(_ published: PublishedCatalogue, turn: AsyncLock, _ context: DaemonContext) {
    self.published = published
    self.turn = turn
    self.context = context
  }

  /// The names of the files that change, and those that the cache has them by.
  private static let changing = [
    PublicationHead.name: PublicationCache.head, PublicationHead.signatureName: PublicationCache.headSignature,
    KeyList.name: PublicationCache.keys, KeyList.signatureName: PublicationCache.keysSignature,
  ]

  /// Finds a file by its path in the publication.
  package func contents(of name: String) async throws -> Contents {
    guard let stores = try? context.access.stores(), stores.user != nil else { return .missing }
    let cache = PublicationCache(of: try stores.catalogueLocation(), keepsObjects: true)
    if let file = Self.changing[name] {
      guard let bytes = try cache.read(file) else { return .missing }
      return .bytes(bytes, etag: "\"\(Hexadecimal.text(try Hash.sha256(of: bytes), .lowercase))\"")
    }
    if let kept = try Self.kept(name, cache) { return kept }
    guard let task = fetch(name, stores) else { return .missing }
    let sleep = context.time.sleep
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    Task {
      await task.value
      end.finish()
    }
    await withTaskGroup { group in
      group.addTask { for await _ in ends {} }
      group.addTask { try? await sleep(Self.patience) }
      await group.next()
      group.cancelAll()
    }
    if let kept = try Self.kept(name, cache) { return kept }
    return fetches.withLock { $0[name] != nil } ? .busy : .missing
  }

  private static func kept(_ name: String, _ cache: PublicationCache) throws -> Contents? {
    guard let file = try cache.openObject(name) else { return nil }
    return .file(file, byteCount: try file.size(), etag: "\"\(name.dropFirst("objects/".count).prefix(64))\"")
  }

  /// The task that fetches a file; `nil` if the head does not name it.
  private func fetch(_ name: String, _ stores: UserStores) -> Task<Void, Never>? {
    guard let head = published.head(stores), head.objects.contains(where: { $0.name == name }) else { return nil }
    return fetches.withLock { running in
      if let task = running[name] { return task }
      let task = Task { [self] in
        do {
          let client = try published.client(stores)
          // A base is written where a synchronisation writes it too.
          try await turn.take { try await client.fetchObject(name, head) }
        } catch {
          context.logger.info(
            "a file for a neighbour could not be fetched", metadata: ["file": "\(name)", "reason": "\(error)"])
        }
        fetches.withLock { $0[name] = nil }
      }
      running[name] = task
      return task
    }
  }
}
