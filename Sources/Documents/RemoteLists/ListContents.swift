import Documents
import Essentials

/// The stored pages of a list, merged into one.
///
/// The pages are concatenated in order, and each ID occurs once: with the position and content from the most recently
/// stored page that contains it. So an item that a new one pushed from page 1 to page 2 does not occur twice when page
/// 2 is loaded afterwards, and is not lost until then: items that are pushed off a refetched page are kept after it
/// until the next page is fetched, too. With the newest first, a page of newer items is placed before the others; with
/// the oldest first, after them. Older items are placed at the other end.
///
/// The stored pages after a refetched page are removed if they no longer follow it: if the page has no item in common
/// with its former contents, has become the last one, or had more than four pages' worth of items pushed off it. Two
/// gaps are possible. If other items left the list between two fetches, items between the pages may be missing until
/// the pages are fetched again. Pages that were never loaded, or were evicted, leave holes, which ``pages`` shows.
/// ``PageCache/refresh()`` starts over.
public struct ListContents<Item: Identifiable & Sendable>: Sendable {
  /// The items of all stored pages, in the order of the list. Each ID occurs once.
  public let items: [Item]
  /// The numbers of the stored pages, in order.
  public let pages: [Int]
  /// Whether the list is complete: from page 1 without a gap to the last page.
  public let isComplete: Bool
  /// The age of the oldest page; `nil` if no pages are stored.
  public let age: Duration?
  /// Whether a page has expired, or the list could not be refreshed.
  public let isStale: Bool
  /// Identifies this state of the list.
  let stamp: Stamp

  struct Stamp: Equatable, Sendable {
    var generation: Int64?
    var serials: [Int64] = []
  }
}

extension PageCache {
  /// Returns the stored contents of the list, without fetching anything. This counts as a use of its pages.
  ///
  /// - Throws: The error that prevents the store from being read.
  /// - Complexity: Decodes all pages.
  public func contents() throws -> ListContents<Item> {
    let found = try store.pages(of: id, as: Item.self)
    let numbers = found?.pages.map(\.number) ?? []
    let present = Set(numbers)
    let entries = found?.list.pages.filter { present.contains($0.number) } ?? []
    let isContiguous = numbers == Array(1..<(numbers.count + 1))
    let oldest = entries.map(\.fetched).min()
    let failure = store.state.withLock { $0.stale[id] }
    return ListContents(
      items: MergedList.items(found?.pages ?? [], id: \.id), pages: numbers,
      isComplete: isContiguous && (found?.pages.last.map { $0.items.count < pageSize } ?? false),
      age: oldest.map { .seconds(max(0, store.options.now().timeIntervalSince($0))) },
      isStale: entries.contains { isExpired($0) || $0.serial <= failure?.serial ?? .min },
      stamp: ListContents.Stamp(generation: found?.list.generation, serials: entries.map(\.serial)))
  }

  // MARK: Loading at both ends

  /// Fetches the page at the newest end and merges it into the list: page 1 if the newest items come first; otherwise
  /// the last stored page, or the one after it if that is full.
  ///
  /// - Throws: The same errors as ``load(page:)``.
  public func loadNewer() async throws -> PageAnswer<Item> {
    try store.checkOpen()
    let last = try? store.list(id)?.pages.last
    switch (order, last) {
    case (.newestFirst, _), (.oldestFirst, nil): return try await fetchPage(1, evenIfFresh: true)
    case (.oldestFirst, let last?):
      return try await fetchPage(last.itemCount < pageSize ? last.number : last.number + 1, evenIfFresh: true)
    }
  }

  /// Loads the page after the oldest stored one; returns `nil` if there are no older items.
  ///
  /// If the page at the old end is stored without items and has expired, that page is fetched again.
  ///
  /// - Throws: The same errors as ``load(page:)``; `PageCacheError.unavailable` also if the fetch of an expired page
  ///   without items failed.
  public func loadOlder() async throws -> PageAnswer<Item>? {
    try store.checkOpen()
    guard let pages = try? store.list(id)?.pages, let first = pages.first, let last = pages.last else {
      return try await load(page: 1)
    }
    switch order {
    case .newestFirst: return try await last.itemCount < pageSize ? reloadIfEmpty(last) : load(page: last.number + 1)
    case .oldestFirst: return try await first.number == 1 ? reloadIfEmpty(first) : load(page: first.number - 1)
    }
  }

  /// Fetches the page at the old end again if it has no items and has expired; returns `nil` if there are still none.
  private func reloadIfEmpty(_ end: PageEntry) async throws -> PageAnswer<Item>? {
    guard end.itemCount == 0, isExpired(end) else { return nil }
    let answer = try await load(page: end.number)
    if !answer.items.isEmpty { return answer }
    // An empty page that could not be fetched does not say that there are no older items.
    if let error = answer.fetchError {
      throw PageCacheError.unavailable(list: id.name, page: end.number, fetch: error, local: nil)
    }
    return nil
  }
}

/// An asynchronous sequence of the stored contents of a list: the current contents, then new ones after each commit, of
/// any process, that changes them. States between two calls of `next()` are skipped.
///
/// It does not throw: a file that cannot be read yields nothing, and after a damaged file is renamed the sequence
/// continues with its replacement.
public struct ListValues<Key: Codable & Hashable & Sendable, Item: Codable & Identifiable & Sendable>:
  AsyncSequence, Sendable
where Item.ID: Sendable {
  /// The merged list at one commit.
  public typealias Element = ListContents<Item>

  let cache: PageCache<Key, Item>

  /// Begins an iteration whose first element is the current contents.
  public func makeAsyncIterator() -> Iterator { Iterator(cache) }

  /// An iterator that waits for the next commit that changes the list.
  public struct Iterator: AsyncIteratorProtocol {
    private let cache: PageCache<Key, Item>
    private var changes: CollectionChanges<ListDocument>.Iterator?
    private var shown: ListContents<Item>.Stamp?

    init(_ cache: PageCache<Key, Item>) { self.cache = cache }

    /// The next contents.
    ///
    /// - Returns: `nil` when the task is cancelled, or the store was closed.
    public mutating func next() async -> Element? {
      while !Task.isCancelled {
        do {
          // Subscribe before reading, so that a commit in between is not missed.
          if changes == nil { changes = try cache.store.file().lists.changes.makeAsyncIterator() }
          let contents = try cache.contents()
          if contents.stamp != shown {
            shown = contents.stamp
            return contents
          }
          if try await changes?.next() == nil { return nil }
        } catch DocumentStoreError.closed {
          return nil
        } catch {
          changes = nil
          // Retry, but with a delay if the same file fails again.
          let isOther = (try? cache.store.recover(from: error)) ?? false
          if !isOther { try? await Task.sleep(for: cache.store.options.pollInterval) }
        }
      }
      return nil
    }
  }
}

extension PageCache {
  /// The contents now and after each change; see ``ListValues``.
  public var values: ListValues<Key, Item> { ListValues(cache: self) }
}
