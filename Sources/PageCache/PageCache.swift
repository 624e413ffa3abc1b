import Foundation
import TextFormat

/// A remote list that comes in pages, read through a local copy.
///
///     let inbox = PageCache("inbox", in: store, pageSize: 20, lifetime: .seconds(300)) { page, size in
///       try await server.messages(page: page, size: size)
///     }
///     let first = try await inbox.load(page: 1)
///
/// A list is known by its key and the size of its pages; whose it is, the store says. Any number of these may stand for one
/// list, and as long as they have one store and one type of items they fetch together. A key encodes to the same bytes
/// every time: it holds no `Set`.
///
/// Storing blocks the fetching task for a sync of the disk, and up to ``PageStore/Options/waiting`` while another process
/// writes; reading blocks for a look into the file.
public struct PageCache<Key: Codable & Hashable & Sendable, Item: Codable & Identifiable & Sendable>: Sendable
where Item.ID: Sendable {
  /// Fetches a page, counted from 1, of a list whose pages have so many items. A page with fewer items is the last one.
  public typealias Fetch = @Sendable (_ page: Int, _ pageSize: Int) async throws -> [Item]

  public let key: Key
  public let pageSize: Int
  /// How long a page is good; `nil` for ever.
  public let lifetime: Duration?
  public let order: PageOrder
  let store: PageStore
  let fetch: Fetch
  let id: ListID

  /// - Parameters:
  ///   - key: which list. Lists of different types of items have different keys: what one of them stored counts as not there
  ///     for the other.
  ///   - store: whose list.
  ///   - pageSize: at least 1.
  ///   - lifetime: how long a page is good; `nil` for ever.
  ///   - order: which end of the list page 1 is.
  ///   - fetch: is called for one page at a time from any number of tasks; cancelled when nobody waits for it any more.
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

  /// A page: from the store if it is there and has not expired, else by a fetch, whose result is stored.
  ///
  /// Where the fetch fails, the page that the store has is answered as ``PageAnswer/Source/stale``, whatever its age, with
  /// the error beside it. Loads of one page at one time fetch once.
  ///
  /// - Parameter page: counted from 1.
  /// - Throws: `PageCacheError.unavailable` if the fetch failed and the page is not here; `DocumentStoreError.closed`;
  ///   `CancellationError`, also while others go on to wait for the same fetch.
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

  /// Fetches page 1, and lets it take the place of the whole list: in one commit, and only when the fetch succeeded. Until
  /// then, and when it fails, all pages stay as they are.
  ///
  /// A page that is being fetched meanwhile is of the former list: it is handed out, and not stored.
  ///
  /// - Returns: the new page 1. If the fetch failed, the page 1 that is here, as ``PageAnswer/Source/stale`` with the error
  ///   beside it; in this process the other pages of the list are marked stale, too, until they are fetched again.
  /// - Throws: as ``load(page:)``.
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
        // What is here is of a former list then, and known to be.
        if case PageCacheError.superseded = error {} else { markStale(error) }
        return answer(items, 1, notStored: error)
      }
      return answer(items, 1)
    }
  }

  /// Removes what is stored of the list; what is being fetched is not stored any more.
  ///
  /// - Returns: how much that was.
  /// - Throws: what a commit throws, with nothing removed.
  @discardableResult
  public func clear() throws -> CacheExtent { try store.clear(id) }
}

extension PageCache {
  // MARK: What the store has

  /// The page that the store has, if it has not expired.
  ///
  /// A store that cannot be read has none.
  func fresh(_ page: Int) -> PageAnswer<Item>? {
    let local = try? store.page(PageID(list: id, number: page), of: Item.self)
    guard let local, !isExpired(local.entry) else { return nil }
    let failure = store.state.withLock { $0.stale[id] }
    let isStale = failure.map { local.entry.serial <= $0.serial } ?? false
    return answer(local, page, isStale ? .stale : .local, isStale ? failure?.error : nil)
  }

  func isExpired(_ entry: PageEntry) -> Bool {
    let age = store.options.now().timeIntervalSince(entry.fetched)
    return age < 0 || lifetime.map { age >= $0.seconds } ?? false
  }

  private func answer(
    _ local: LocalPage<Item>, _ page: Int, _ source: PageAnswer<Item>.Source, _ error: (any Error)?
  ) -> PageAnswer<Item> {
    let age = max(0, store.options.now().timeIntervalSince(local.entry.fetched))
    return PageAnswer(
      items: local.items, page: page, source: source, age: .seconds(age), isLast: local.items.count < pageSize,
      fetchError: error)
  }

  /// The page that the store has, after a fetch that failed.
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

  /// From now on the pages that are here are known to be old.
  private func markStale(_ error: any Error) {
    guard let list = try? store.list(id) else { return }
    let newest = list.pages.map(\.serial).max() ?? 0
    store.state.withLock { $0.stale[id] = (newest, error) }
  }

  // MARK: What the network has

  /// A page by a fetch, or by one that is under way.
  ///
  /// - Parameter evenIfFresh: whether a page that another fetch stored meanwhile is fetched again.
  func fetchPage(_ page: Int, evenIfFresh: Bool) async throws -> PageAnswer<Item> {
    // A refresh under way brings page 1.
    try await flight(page == 1 ? [page, nil] : [page]) { token in
      if !evenIfFresh, let answer = fresh(page) { return answer }
      let items: [Item]
      do { items = try await fetched(page) } catch {
        // A refresh may have brought it meanwhile.
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

  /// Runs an operation on the list as it is now, unless one of these pages is being fetched.
  private func flight(
    _ pages: [Int?],
    _ operation: @escaping @Sendable (Result<ListToken, any Error>) async throws -> PageAnswer<Item>
  ) async throws -> PageAnswer<Item> {
    let keys = pages.map { SingleFlight.Key(list: id, page: $0, item: ObjectIdentifier(Item.self)) }
    return try await store.flights.run(keys) { try await operation(Result { try store.token(id) }) }
  }

  private func fetched(_ page: Int) async throws -> [Item] {
    let items = try await fetch(page, pageSize)
    // Nobody waits: a fetch that began later may be done already.
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
