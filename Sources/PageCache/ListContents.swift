import Documents
import Foundation

/// All that is stored of a list, as one.
///
/// The pages follow each other in their order, and each id stands here once: where it is on the page that was stored last of
/// those that have it, with the content that it has there. So an item that a new one pushed from page 1 to page 2 does not
/// come twice when page 2 is loaded behind it, and is not lost while it is not: what is pushed off a page that is fetched
/// again stays behind it until the next page is fetched, too. Loading a page of newer items puts them before the others of a
/// list with the newest first, and behind them where the oldest are first; older ones go to the other end.
///
/// Where a page that is fetched again has nothing in common with what it was, or has become the last one, or more than four
/// pages' worth were pushed off it, the stored pages behind it do not follow any more and go. What is not promised: an item
/// that others left the list for between two fetches may be missing between their pages until those are fetched again, and
/// pages that nobody loaded or that were evicted are holes, which ``pages`` tells. ``PageCache/refresh()`` begins anew.
public struct ListContents<Item: Identifiable & Sendable>: Sendable {
  public let items: [Item]
  /// The pages that are here, in their order.
  public let pages: [Int]
  /// Whether that is the whole list: from page 1 on without a gap, up to the last one.
  public let isComplete: Bool
  /// The age of the oldest page; `nil` where there is none.
  public let age: Duration?
  /// Whether a page has expired, or the list could not be refreshed.
  public let isStale: Bool
  /// Tells states of the list apart.
  let stamp: Stamp

  struct Stamp: Equatable, Sendable {
    var generation: Int64?
    var serials: [Int64] = []
  }
}

extension PageCache {
  /// What is stored of the list; it counts as a use of its pages. Nothing is fetched.
  ///
  /// - Throws: what keeps the store from being read.
  /// - Complexity: decodes all pages.
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

  // MARK: Both ends

  /// Fetches the page at the newest end and merges it into the list: page 1 of a list with the newest first, and else the
  /// last page that is here, or the one behind it if it is full.
  ///
  /// - Throws: as ``load(page:)``.
  public func loadNewer() async throws -> PageAnswer<Item> {
    try store.checkOpen()
    let last = try? store.list(id)?.pages.last
    switch (order, last) {
    case (.newestFirst, _), (.oldestFirst, nil): return try await fetchPage(1, evenIfFresh: true)
    case (.oldestFirst, let last?):
      return try await fetchPage(last.itemCount < pageSize ? last.number : last.number + 1, evenIfFresh: true)
    }
  }

  /// Loads the page behind the oldest end of what is here; `nil` if there is none.
  ///
  /// - Throws: as ``load(page:)``.
  public func loadOlder() async throws -> PageAnswer<Item>? {
    try store.checkOpen()
    guard let pages = try? store.list(id)?.pages, let first = pages.first, let last = pages.last else {
      return try await load(page: 1)
    }
    switch order {
    case .newestFirst: return last.itemCount < pageSize ? nil : try await load(page: last.number + 1)
    case .oldestFirst: return first.number == 1 ? nil : try await load(page: first.number - 1)
    }
  }
}

/// What is stored of a list: at once, and again after each commit of any process that changed it. States that nobody waited
/// for are skipped.
///
/// It does not fail: a file that cannot be read shows nothing, and one that was set aside is followed by the next.
public struct ListValues<Key: Codable & Hashable & Sendable, Item: Codable & Identifiable & Sendable>:
  AsyncSequence, Sendable
where Item.ID: Sendable {
  public typealias Element = ListContents<Item>

  let cache: PageCache<Key, Item>

  public func makeAsyncIterator() -> Iterator { Iterator(cache) }

  public struct Iterator: AsyncIteratorProtocol {
    private let cache: PageCache<Key, Item>
    private var changes: CollectionChanges<ListDocument>.Iterator?
    private var shown: ListContents<Item>.Stamp?

    init(_ cache: PageCache<Key, Item>) { self.cache = cache }

    /// - Returns: `nil` when the task is cancelled, or the store was closed.
    public mutating func next() async -> Element? {
      while !Task.isCancelled {
        do {
          // Before the look: a commit between the two is told.
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
          // Once more, but not at once where that would go on for ever.
          let isOther = (try? cache.store.recover(from: error)) ?? false
          if !isOther { try? await Task.sleep(for: cache.store.options.pollInterval) }
        }
      }
      return nil
    }
  }
}

extension PageCache {
  /// What is stored now and after each change; see ``ListValues``.
  public var values: ListValues<Key, Item> { ListValues(cache: self) }
}
