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
/// ask meanwhile. If the head does not name it, a neighbour may have a newer head: then the publication is asked for its
/// head first, at most once in ``headPause``. So a file passes the line that they share once, whoever asks first.
/// Neighbours check all that they get, so a mirror needs no trust.
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

  /// How long a head counts as the newest for neighbours who ask for files that it does not name. Anybody may ask for any
  /// name, and the publication must not feel it.
  static let headPause: Duration = .seconds(5)

  private let published: PublishedCatalogue
  private let turn: AsyncLock
  private let context: DaemonContext
  /// The files that are being fetched.
  private let fetches = Mutex<[String: Task<Void, Never>]>([:])
  /// The last time that the publication was asked for its head for neighbours, on the clock that only goes forward.
  private let news = Mutex<(task: Task<PublicationHead?, Never>, began: Int64)?>(nil)

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
    let sleep = context.time.sleep
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    Task { [self] in
      await fetch(name, stores)?.value
      end.yield()
    }
    let isOver = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await _ in ends { return true }
        return false
      }
      group.addTask {
        try? await sleep(Self.patience)
        return false
      }
      let isOver = await group.next() ?? false
      group.cancelAll()
      return isOver
    }
    if let kept = try Self.kept(name, cache) { return kept }
    return isOver ? .missing : .busy
  }

  private static func kept(_ name: String, _ cache: PublicationCache) throws -> Contents? {
    guard let file = try cache.openObject(name) else { return nil }
    return .file(file, byteCount: try file.size(), etag: "\"\(name.dropFirst("objects/".count).prefix(64))\"")
  }

  /// The task that fetches a file; `nil` if the name is none of an object, or no head names it.
  private func fetch(_ name: String, _ stores: UserStores) async -> Task<Void, Never>? {
    guard PublicationCache.fileName(ofObject: name) != nil else { return nil }
    func names(_ head: PublicationHead?) -> PublicationHead? {
      head.flatMap { head in head.objects.contains { $0.name == name } ? head : nil }
    }
    var known = names(published.head(stores))
    if known == nil { known = names(await newHead(stores).value) }
    guard let head = known else { return nil }
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

  /// The task that asks the publication for its head, or did so a moment ago.
  private func newHead(_ stores: UserStores) -> Task<PublicationHead?, Never> {
    let now = context.time.uptime()
    return news.withLock { news in
      if let news, now - news.began < Self.headPause.nanoseconds / 1000 { return news.task }
      let task = Task { [self] () -> PublicationHead? in
        do { return try await turn.take { try await published.newHead(stores) } } catch {
          context.logger.info("there is no newer head for a neighbour", metadata: ["reason": "\(error)"])
          return nil
        }
      }
      news = (task, now)
      return task
    }
  }
}
