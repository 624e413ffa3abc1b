import Documents
import Foundation

/// One commit to a cache.
final class CacheChange {
  private let file: CacheFile
  private let transaction: DocumentTransaction
  private(set) var head: CacheHead
  /// Whether the head is to be written; lists that change have it so.
  private var hasChanges = false
  /// The lists that were looked at, as they will be; `nil` for one that is not there.
  private var lists: [ListID: ListDocument?] = [:]
  private var changed: Set<ListID> = []
  /// How many pages were evicted.
  private(set) var evictionCount = 0

  init(_ file: CacheFile, _ transaction: DocumentTransaction) throws {
    self.file = file
    self.transaction = transaction
    let known = try CacheFile.known { try transaction.get(CacheHead.name, from: file.heads) }
    head = known ?? CacheHead()
    // What another version of this package left is of no use to this one.
    if known == nil { try removeEverything() }
  }

  /// The cache before the change.
  var base: DocumentSnapshot { transaction.base }

  func list(_ id: ListID) throws -> ListDocument? {
    if let known = lists[id] { return known }
    let list = try transaction.get(id, from: file.lists)
    lists[id] = .some(list)
    return list
  }

  private func set(_ list: ListDocument) {
    lists[list.id] = .some(list)
    changed.insert(list.id)
    hasChanges = true
  }

  /// Puts a page into a list, which comes into being with it, and takes out what does not follow it any more.
  func put<Item: Codable & Identifiable & Sendable>(
    _ items: [Item], _ id: PageID, _ terms: ListTerms, fetched: Date
  ) throws {
    var list = try list(id.list) ?? ListDocument(id: id.list, generation: head.epoch, order: terms.order)
    (list.order, list.lifetime) = (terms.order, terms.lifetime)
    let pages = try file.pages(of: Item.self)
    var former: [Item] = []
    // What cannot be decoded is not there.
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

  /// Makes `items` page 1 and the only page of a list.
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
    // Not merged with what stood there, as an update would be: other items may stand in the same places.
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

  /// Takes a page out of its list.
  private func removePage(_ id: PageID) throws {
    guard var list = try list(id.list), let entry = list.entry(id.number) else { return }
    _ = try transaction.delete(id, from: file.keys)
    head.byteCount -= entry.byteCount
    list.remove(id.number)
    set(list)
  }

  /// Notes uses of pages, the first one first.
  func note(_ uses: [PageID]) throws {
    for use in uses {
      guard var list = try list(use.list), var entry = list.entry(use.number) else { continue }
      entry.used = head.next()
      list.put(entry)
      set(list)
    }
  }

  /// Takes out the pages that were used the longest ago, until no more than `limit` bytes are left.
  ///
  /// - Complexity: within the limit, nothing; beyond it, a look at all lists.
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

  /// Removes a list. Returns what was there.
  func remove(_ id: ListID) throws -> ListDocument? {
    guard let list = try list(id) else { return nil }
    for entry in list.pages { try removePage(PageID(list: id, number: entry.number)) }
    return list
  }

  /// From now on nothing that was begun before is put into a list that is not there.
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

  /// Hands the lists and the head over to the transaction. A list without pages goes.
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
