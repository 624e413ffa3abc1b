/// Which end of a list is page 1.
public enum PageOrder: String, Codable, Sendable {
  /// Page 1 begins with the newest item, as in a feed: a new item pushes all others behind.
  case newestFirst = "newest"
  /// Page 1 begins with the oldest item, as in a log: a new item comes behind all others.
  case oldestFirst = "oldest"
}

/// A page as ``PageCache/load(page:)`` and ``PageCache/refresh()`` hand it out.
public struct PageAnswer<Item: Sendable>: Sendable {
  /// Where a page came from.
  public enum Source: String, Sendable {
    /// The store; it has not expired.
    case local
    /// The caller's fetch, just now.
    case network
    /// The store, although it has expired or the list could not be refreshed: ``PageAnswer/fetchError`` says why.
    case stale
  }

  public var items: [Item]
  public let page: Int
  public let source: Source
  /// How long ago the page was fetched.
  public let age: Duration
  /// Whether the list ends with this page: it has fewer items than the page size.
  public let isLast: Bool
  /// What the fetch threw; only with ``Source/stale``.
  public var fetchError: (any Error)?
  /// Why a fetched page was not stored. Only with ``Source/network``: a disk that fails keeps no answer from its caller.
  public var notStored: (any Error)?
}

/// What is left when neither the network nor the store has an answer, and why a page was not stored.
public enum PageCacheError: Error, Sendable {
  /// The fetch failed, and the page is not here.
  ///
  /// - Parameters:
  ///   - fetch: what the fetch threw.
  ///   - local: what kept the store from being read; `nil` where it was read, and does not have the page.
  case unavailable(list: String, page: Int, fetch: any Error, local: (any Error)?)
  /// The list was refreshed or cleared while the page was being fetched: it is of the former list and was not stored.
  case superseded(list: String, page: Int)
  /// The page alone exceeds what the whole cache may hold.
  case tooLarge(list: String, page: Int, byteCount: Int, limit: Int)
}

extension PageCacheError: CustomStringConvertible {
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
