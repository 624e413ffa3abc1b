import Documents
import Essentials

/// The changes of one commit to a cache.
final class CacheChange {
  private let file: CacheFile
  private let transaction: DocumentTransaction
  private(set) var head: CacheHead
  /// Whether the head must be written. It is set when a list changes.
  private var hasChanges = false
  /// The lists that were read, including changes; `nil` for a list that does not exist.
  private var lists: [ListID: ListDocument?] = [:]
  private var changed: Set<ListID> = []
  /// The number of evicted pages.
  private(set) var evictionCount = 0

  init(_ file: CacheFile, _ transaction: DocumentTransaction) throws {
    self.file = file
    self.transaction = transaction
    let current = try CacheFile.currentHead { try transaction.get(CacheHead.name, from: file.heads) }
    head = current ?? CacheHead()
    // The contents are of another format version of this package, and unusable.
    if current == nil { try removeEverything() }
  }

  /// The cache before the change.
  var base: DocumentSnapshot { transaction.base }

  func list(_ id: ListID) throws -> ListDocument? {
    if let cached = lists[id] { return cached }
    let list = try transaction.get(id, from: file.lists)
    lists[id] = .some(list)
    return list
  }

  private func set(_ list: ListDocument) {
    lists[list.id] = .some(list)
    changed.insert(list.id)
    hasChanges = true
  }

  /// Adds a page to a list, and removes the pages that no longer follow it. The first page creates the list.
  func put<Item: Codable & Identifiable & Sendable>(
    _ items: [Item], _ id: PageID, _ terms: ListTerms, fetched: Date
  ) throws {
    var list = try list(id.list) ?? ListDocument(id: id.list, generation: head.epoch, order: terms.order)
    (list.order, list.lifetime) = (terms.order, terms.lifetime)
    let pages = try file.pages(of: Item.self)
    var former: [Item] = []
    // A page that cannot be decoded counts as missing.
    if list.entry(id.number) != nil, let old = try CacheFile.decodable({ try transaction.get(id, from: pages) }) {
      former = MergedList.items(
        [MergedList.Page(number: id.number, serial: 0, items: old.items, pushed: old.pushed ?? [])], id: \.id)
    }
    let outcome = MergedList.outcome(of: former, items, pageSize: id.list.pageSize, id: \.id)
    let document = PageDocument(id: id, items: items, pushed: outcome.pushed.isEmpty ? nil : outcome.pushed)
    set(list)
    if !outcome.isFollowed {
      for entry in list.pages where entry.number > id.number {
        try removePage(PageID(list: id.list, number: entry.number))
      }
    }
    try write(document, in: pages, terms, fetched)
  }

  /// Replaces all pages of a list with `items` as page 1.
  func replace<Item: Codable & Identifiable & Sendable>(
    _ id: ListID, with items: [Item], _ terms: ListTerms, fetched: Date
  ) throws {
    for entry in try list(id)?.pages ?? [] { try removePage(PageID(list: id, number: entry.number)) }
    set(ListDocument(id: id, generation: head.next(), order: terms.order, lifetime: terms.lifetime))
    let document = PageDocument(id: PageID(list: id, number: 1), items: items)
    try write(document, in: file.pages(of: Item.self), terms, fetched)
  }

  private func write<Item: Codable & Sendable>(
    _ document: PageDocument<Item>, in pages: DocumentCollection<PageDocument<Item>>, _ terms: ListTerms,
    _ fetched: Date
  ) throws {
    guard var list = try list(document.id.list) else { return }
    let number = document.id.number
    let byteCount = try terms.byteCount(of: document)
    try removePage(document.id)
    // Insert, because an update would merge the page with the old one, whose items may be different ones at the same
    // indexes.
    try transaction.insert(document, into: pages)
    let serial = head.next()
    list = try self.list(list.id) ?? list
    list.put(
      PageEntry(
        number: number, serial: serial, itemCount: document.items.count, byteCount: byteCount, fetched: fetched,
        used: serial))
    set(list)
    head.byteCount += byteCount
    try evict(to: terms.byteLimit, keeping: document.id)
  }

  /// Removes a page from its list.
  private func removePage(_ id: PageID) throws {
    guard var list = try list(id.list), let entry = list.entry(id.number) else { return }
    _ = try transaction.delete(id, from: file.keys)
    head.byteCount -= entry.byteCount
    list.remove(id.number)
    set(list)
  }

  /// Records uses of pages, oldest first.
  func record(_ uses: [PageID]) throws {
    for use in uses {
      guard var list = try list(use.list), var entry = list.entry(use.number) else { continue }
      entry.used = head.next()
      list.put(entry)
      set(list)
    }
  }

  /// Evicts the least recently used pages until at most `limit` bytes remain.
  ///
  /// - Complexity: O(1) within the limit; beyond it, reads all lists.
  private func evict(to limit: Int, keeping kept: PageID) throws {
    if head.byteCount <= limit { return }
    for stored in try file.lists(transaction.base) { _ = try list(stored.id) }
    var candidates = lists.values.compactMap(\.self).flatMap { list in
      list.pages.map { (id: PageID(list: list.id, number: $0.number), used: $0.used) }
    }
    candidates.removeAll { $0.id == kept }
    candidates.sort { $0.used < $1.used }
    for candidate in candidates {
      if head.byteCount <= limit { return }
      try removePage(candidate.id)
      evictionCount += 1
    }
  }

  /// Removes a list. Returns the removed list.
  func remove(_ id: ListID) throws -> ListDocument? {
    guard let list = try list(id) else { return nil }
    for entry in list.pages { try removePage(PageID(list: id, number: entry.number)) }
    return list
  }

  /// Begins an epoch: fetches that began earlier can no longer create a list.
  func beginEpoch() {
    head.epoch = head.next()
    hasChanges = true
  }

  func removeEverything() throws {
    hasChanges = try transaction.deleteAll(from: file.lists) > 0 || hasChanges
    hasChanges = try transaction.deleteAll(from: file.keys) > 0 || hasChanges
    (lists, changed) = ([:], [])
    head.byteCount = 0
  }

  /// Writes the changed lists and the head to the transaction. A list without pages is deleted.
  func finish() throws {
    if !hasChanges { return }
    for id in changed {
      guard let list = try list(id) else { continue }
      _ = try transaction.delete(id, from: file.lists)
      if !list.pages.isEmpty {
        try transaction.insert(list, into: file.lists)
      } else if list.generation != head.epoch {
        head.epoch = head.next()
      }
    }
    _ = try transaction.delete(CacheHead.name, from: file.heads)
    try transaction.insert(head, into: file.heads)
  }
}
