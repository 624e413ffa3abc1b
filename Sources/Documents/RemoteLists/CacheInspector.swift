public import DocumentFormat
public import Documents
public import Essentials
public import LogStore
import TextFormat

/// A stored list, for tools that do not know its types.
public struct CachedList: Sendable {
  let id: ListID
  /// The list's key: a text unchanged, any other key as JSON.
  public var name: String { id.name }
  /// The number of items on a full page.
  public var pageSize: Int { id.pageSize }
  /// Which items page 1 has: the newest or the oldest.
  public let order: PageOrder
  /// The number of seconds after which a page expires; `nil` for never.
  public let lifetime: Double?
  /// The numbers of the stored pages, in order.
  public let pages: [Int]
  /// The number of items on the pages. An item on two pages counts twice.
  public let itemCount: Int
  /// The total size of the pages, in bytes.
  public let byteCount: Int
  /// When the oldest page was fetched.
  public let fetched: Date
  private let entries: [PageEntry]

  init?(_ list: ListDocument) {
    guard let fetched = list.pages.map(\.fetched).min() else { return nil }
    id = list.id
    order = list.order
    lifetime = list.lifetime
    pages = list.pages.map(\.number)
    itemCount = list.pages.reduce(0) { $0 + $1.itemCount }
    byteCount = list.pages.reduce(0) { $0 + $1.byteCount }
    self.fetched = fetched
    entries = list.pages
  }

  /// Whether any page has expired by this time.
  ///
  /// - Parameters:
  ///   - time: The time to compare with, usually now.
  ///   - emptyPageLifetime: The option of the store that caches the list; see
  ///     ``PageStore/Options/emptyPageLifetime``. The file does not contain it.
  public func isStale(
    at time: Date, emptyPageLifetime: Duration? = PageStore.Options().emptyPageLifetime
  ) -> Bool {
    entries.contains {
      $0.isExpired(at: time, lifetime: lifetime, emptyPageLifetime: emptyPageLifetime?.seconds)
    }
  }

  /// The lists that have pages, sorted by name and page size.
  static func sorted(_ documents: [ListDocument]) -> [CachedList] {
    documents.compactMap(CachedList.init).sorted { a, b in
      a.name == b.name ? a.pageSize < b.pageSize : a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
    }
  }
}

/// A read-only view of a cache, without the types of its lists. It creates and changes nothing, and never renames a
/// damaged file.
public struct CacheInspector: Sendable {
  private let file: CacheFile
  private let snapshot: DocumentSnapshot
  private let path: String

  /// Opens the current contents of a cache. A missing file is an empty cache.
  ///
  /// - Parameters:
  ///   - location: The location of the cache.
  ///   - trace: A callback for each operation on the documents of the file; `nil` for none.
  /// - Throws: `StoreError`, also if the file is not a cache.
  public init(_ location: StoreLocation, trace: Tracer? = nil) throws {
    path = location.path
    var options = DocumentStore.Options()
    options.trace = trace
    do {
      file = try CacheFile(location, options: options)
      snapshot = try file.store.snapshot()
    } catch let error as DocumentStoreError { throw Self.unusable(location.path, error) }
  }

  /// All lists, sorted by name and page size.
  public func lists() throws -> [CachedList] {
    do {
      return CachedList.sorted(try file.lists(snapshot))
    } catch let error as DocumentStoreError { throw Self.unusable(path, error) }
  }

  /// The items of a list, merged by their field `id` like ``PageCache/contents()``. Items without an `id` are all
  /// included.
  public func items(of list: CachedList) throws -> [DocumentValue] {
    do {
      guard let document = try file.list(list.id, snapshot) else { return [] }
      let pages = try file.pages(of: document, as: DocumentValue.self, snapshot)
      var nameless = 0
      return MergedList.items(pages) { item in
        if let id = item["id"] { return id.documentBytes }
        nameless += 1
        return Array("nameless \(nameless)".utf8)
      }
    } catch let error as DocumentStoreError { throw Self.unusable(path, error) }
  }

  private static func unusable(_ path: String, _ error: DocumentStoreError) -> StoreError {
    if case .store(let error) = error { return error }
    return .unusable(path: path, reason: "\(error)")
  }
}
