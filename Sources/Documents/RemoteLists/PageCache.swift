import Essentials
import TextFormat

/// A read-through cache of a remote paginated list.
///
///     let inbox = PageCache("inbox", in: store, pageSize: 20, lifetime: .seconds(300)) { page, size in
///       try await server.messages(page: page, size: size)
///     }
///     let first = try await inbox.load(page: 1)
///
/// A list is identified by its key and its page size; the store identifies its user. Any number of instances may
/// represent one list. Those with the same store and item type share their fetches. A key must always encode to the
/// same bytes, so it must not contain a `Set`.
///
/// Storing a page blocks the fetching task for a disk sync, and for up to ``PageStore/Options/lockTimeout`` while
/// another process writes. Reading blocks for a lookup in the file.
public struct PageCache<Key: Codable & Hashable & Sendable, Item: Codable & Identifiable & Sendable>: Sendable
where Item.ID: Sendable {
  /// A closure that fetches a page, counted from 1, of a list with this page size. A page with fewer items is the last
  /// one.
  public typealias Fetch = @Sendable (_ page: Int, _ pageSize: Int) async throws -> [Item]

  /// The key that identifies the list, together with the page size.
  public let key: Key
  /// The number of items on a full page. Pages of another size belong to another list.
  public let pageSize: Int
  /// The time until a page expires; `nil` for never. A page without items also expires after
  /// ``PageStore/Options/emptyPageLifetime``.
  public let lifetime: Duration?
  /// Which items page 1 has: the newest or the oldest.
  public let order: PageOrder
  let store: PageStore
  let fetch: Fetch
  let id: ListID

  /// Creates a cache of a list.
  ///
  /// - Parameters:
  ///   - key: The list's key. Lists with different item types must have different keys: each treats the other's pages
  ///     as missing.
  ///   - store: The store of the list's user.
  ///   - pageSize: The number of items on a full page; at least 1.
  ///   - lifetime: The time until a page expires; `nil` for never. A page without items also expires after
  ///     ``PageStore/Options/emptyPageLifetime``.
  ///   - order: The order of the list.
  ///   - fetch: A closure that fetches one page. It may be called from any number of tasks, and is cancelled when no
  ///     caller waits for it.
  public init(
    _ key: Key, in store: PageStore, pageSize: Int, lifetime: Duration? = nil, order: PageOrder = .newestFirst,
    fetch: @escaping Fetch
  ) {
    precondition(pageSize >= 1, "a page has room for an item")
    self.key = key
    self.pageSize = pageSize
    self.lifetime = lifetime
    self.order = order
    self.store = store
    self.fetch = fetch
    do { id = try ListID(key, pageSize: pageSize) } catch {
      preconditionFailure("a list's key can be encoded as a document: \(error)")
    }
  }

  /// Returns a page: from the store if it has not expired, otherwise by fetching and storing it.
  ///
  /// If the fetch fails, the stored page is returned as ``PageAnswer/Source/stale``, whatever its age, together with
  /// the error. Concurrent loads of one page share one fetch.
  ///
  /// - Parameter page: The page number, counted from 1.
  /// - Throws: `PageCacheError.unavailable` if the fetch failed and the page is not stored;
  ///   `DocumentStoreError.closed`; `CancellationError`, even if other callers still wait for the same fetch.
  public func load(page: Int = 1) async throws -> PageAnswer<Item> {
    precondition(page >= 1, "pages are counted from 1")
    try store.checkOpen()
    if let answer = fresh(page) {
      store.state.withLock { $0.hits += 1 }
      return answer
    }
    store.state.withLock { $0.misses += 1 }
    return try await fetchPage(page, evenIfFresh: false)
  }

  /// Fetches page 1 and replaces the entire list with it, in one commit, and only if the fetch succeeds. Until then,
  /// and if it fails, all pages stay unchanged.
  ///
  /// A page that is being fetched meanwhile belongs to the former list. It is returned, but not stored.
  ///
  /// - Returns: The new page 1. If the fetch failed, the stored page 1 as ``PageAnswer/Source/stale``, together with
  ///   the error; in this process the other pages of the list are also marked stale until they are fetched again.
  /// - Throws: The same errors as ``load(page:)``.
  public func refresh() async throws -> PageAnswer<Item> {
    try store.checkOpen()
    return try await flight([nil]) { token in
      let items: [Item]
      do { items = try await fetched(1) } catch {
        if !Task.isCancelled { markStale(error) }
        return try stale(1, error)
      }
      let now = store.options.now()
      do { try store.replace(id, with: items, terms, token: token.get(), fetched: now) } catch {
        // The stored pages belong to a former list, and are marked so.
        if case PageCacheError.superseded = error {} else { markStale(error) }
        return answer(items, 1, notStored: error)
      }
      return answer(items, 1)
    }
  }

  /// Removes the stored pages of the list. Pages that are being fetched are not stored.
  ///
  /// - Returns: The extent that was removed.
  /// - Throws: Any error of a commit; nothing is removed then.
  @discardableResult
  public func clear() throws -> CacheSize { try store.clear(id) }
}

extension PageCache {
  // MARK: Stored pages

  /// The stored page if it has not expired; otherwise `nil`.
  ///
  /// If the store cannot be read, the page counts as missing.
  func fresh(_ page: Int) -> PageAnswer<Item>? {
    let local = try? store.page(PageID(list: id, number: page), of: Item.self)
    guard let local, !isExpired(local.entry) else { return nil }
    let failure = store.state.withLock { $0.stale[id] }
    let isStale = failure.map { local.entry.serial <= $0.serial } ?? false
    return answer(local, page, isStale ? .stale : .local, isStale ? failure?.error : nil)
  }

  func isExpired(_ entry: PageEntry) -> Bool {
    entry.isExpired(
      at: store.options.now(), lifetime: lifetime?.seconds, emptyPageLifetime: store.options.emptyPageLifetime?.seconds)
  }

  private func answer(
    _ local: LocalPage<Item>, _ page: Int, _ source: PageAnswer<Item>.Source, _ error: (any Error)?
  ) -> PageAnswer<Item> {
    let age = max(0, store.options.now().timeIntervalSince(local.entry.fetched))
    return PageAnswer(
      items: local.items, page: page, source: source, age: .seconds(age), isLast: local.items.count < pageSize,
      fetchError: error)
  }

  /// The stored page after a failed fetch.
  func stale(_ page: Int, _ error: any Error) throws -> PageAnswer<Item> {
    try Task.checkCancellation()
    var failure: (any Error)?
    do {
      if let local = try store.page(PageID(list: id, number: page), of: Item.self) {
        return answer(local, page, .stale, error)
      }
    } catch { failure = error }
    throw PageCacheError.unavailable(list: id.name, page: page, fetch: error, local: failure)
  }

  /// Marks the stored pages as stale.
  private func markStale(_ error: any Error) {
    guard let list = try? store.list(id) else { return }
    let newest = list.pages.map(\.serial).max() ?? 0
    store.state.withLock { $0.stale[id] = (newest, error) }
  }

  // MARK: Fetched pages

  /// Fetches a page, or joins a fetch that is already running.
  ///
  /// - Parameter evenIfFresh: Whether to fetch the page even if another fetch has stored it meanwhile.
  func fetchPage(_ page: Int, evenIfFresh: Bool) async throws -> PageAnswer<Item> {
    // A running refresh also fetches page 1.
    try await flight(page == 1 ? [page, nil] : [page]) { token in
      if !evenIfFresh, let answer = fresh(page) { return answer }
      let items: [Item]
      do { items = try await fetched(page) } catch {
        // A refresh may have stored the page meanwhile.
        if !evenIfFresh, !Task.isCancelled, let answer = fresh(page) { return answer }
        return try stale(page, error)
      }
      let now = store.options.now()
      do {
        try store.put(items, PageID(list: id, number: page), terms, token: token.get(), fetched: now)
      } catch { return answer(items, page, notStored: error) }
      return answer(items, page)
    }
  }

  /// Runs an operation with a token of the list's current state, or joins a running fetch of one of these pages.
  private func flight(
    _ pages: [Int?],
    _ operation: @escaping @Sendable (Result<ListToken, any Error>) async throws -> PageAnswer<Item>
  ) async throws -> PageAnswer<Item> {
    let keys = pages.map { SingleFlight.Key(list: id, page: $0, item: ObjectIdentifier(Item.self)) }
    return try await store.flights.run(keys) { try await operation(Result { try store.token(id) }) }
  }

  private func fetched(_ page: Int) async throws -> [Item] {
    let items = try await fetch(page, pageSize)
    // If no caller waits any more, do not store the page: a later fetch may already have stored a newer one.
    try Task.checkCancellation()
    return items
  }

  var terms: ListTerms {
    ListTerms(order: order, lifetime: lifetime?.seconds, byteLimit: store.options.byteLimit)
  }

  private func answer(_ items: [Item], _ page: Int, notStored: (any Error)? = nil) -> PageAnswer<Item> {
    PageAnswer(
      items: items, page: page, source: .network, age: .zero, isLast: items.count < pageSize, notStored: notStored)
  }
}
