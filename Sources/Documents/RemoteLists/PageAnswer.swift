/// The order of a list: which end page 1 is.
public enum PageOrder: String, Codable, Sendable {
  /// Page 1 begins with the newest item, as in a feed. A new item shifts all others back.
  case newestFirst = "newest"
  /// Page 1 begins with the oldest item, as in a log. A new item is appended.
  case oldestFirst = "oldest"
}

/// A page, as returned by ``PageCache/load(page:)`` and ``PageCache/refresh()``.
public struct PageAnswer<Item: Sendable>: Sendable {
  /// The source of a page.
  public enum Source: String, Sendable {
    /// The store. The page has not expired.
    case local
    /// The caller's fetch, just now.
    case network
    /// The store, although the page has expired or the list could not be refreshed. ``PageAnswer/fetchError`` contains
    /// the reason.
    case stale
  }

  /// The items of the page, in the order in which they were fetched.
  public var items: [Item]
  /// The number of the page, from 1.
  public let page: Int
  /// Where the items come from: the store or the network.
  public let source: Source
  /// The time since the page was fetched.
  public let age: Duration
  /// Whether this page is the last one: it has fewer items than the page size.
  public let isLast: Bool
  /// The error of the fetch; only with ``Source/stale``.
  public var fetchError: (any Error)?
  /// The reason why a fetched page was not stored; only with ``Source/network``. A disk failure does not prevent the
  /// page from being returned.
  public var notStored: (any Error)?
}

/// An error of a page cache: no page is available, or a page could not be stored.
public enum PageCacheError: Error, Sendable {
  /// The fetch failed, and the page is not stored. ``PageCache/loadOlder()`` also throws it for a page that is stored
  /// without items and has expired.
  ///
  /// - Parameters:
  ///   - fetch: The error of the fetch.
  ///   - local: The error that prevented the store from being read; `nil` if it was read and does not contain the page.
  case unavailable(list: String, page: Int, fetch: any Error, local: (any Error)?)
  /// The list was refreshed or cleared while the page was being fetched. The page belongs to the former list and was
  /// not stored.
  case superseded(list: String, page: Int)
  /// The page alone exceeds the limit of the entire cache.
  case tooLarge(list: String, page: Int, byteCount: Int, limit: Int)
}

extension PageCacheError: CustomStringConvertible {
  /// What happened to which page of which list, for people.
  public var description: String {
    switch self {
    case .unavailable(let list, let page, let fetch, nil):
      "page \(page) of \(list) cannot be fetched, and there is no local copy: \(fetch)"
    case .unavailable(let list, let page, let fetch, let local?):
      "page \(page) of \(list) cannot be fetched (\(fetch)), and the local copy cannot be read: \(local)"
    case .superseded(let list, let page):
      "\(list) was refreshed or cleared while page \(page) was being fetched; the page was not stored"
    case .tooLarge(let list, let page, let byteCount, let limit):
      "page \(page) of \(list) has \(byteCount) bytes, and the whole cache may have \(limit); it was not stored"
    }
  }
}
