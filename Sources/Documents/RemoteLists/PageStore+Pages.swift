import Documents
import Essentials

/// A stored page.
struct LocalPage<Item: Codable & Sendable>: Sendable {
  let items: [Item]
  let entry: PageEntry
}

/// The state of a list when a fetch began. A page that was fetched for another list must not be stored in this one.
struct ListToken: Sendable {
  /// The list's generation; `nil` if the list did not exist.
  let generation: Int64?
  /// The head of the cache; `nil` for an empty cache.
  let head: CacheHead?
  /// The number of times that this process cleared the list; see ``PageStore/clears(of:)``.
  let clears: Int

  /// Whether a page that was fetched with this token may be stored in the current list.
  func admits(_ list: ListDocument?, _ now: CacheHead) -> Bool {
    let began = head?.origin == now.origin ? head : nil
    guard let list else { return began.map { $0.epoch == now.epoch } ?? true }
    // A list that was created by another page, and not by a refresh, has the epoch of its creation.
    guard let began else { return list.generation == now.origin }
    return list.generation == generation ?? began.epoch
  }
}

extension PageStore {
  // MARK: Reading

  /// A stored page, whatever its age; `nil` if it is not stored. Recorded as a use.
  func page<Item: Codable & Sendable>(_ id: PageID, of item: Item.Type) throws -> LocalPage<Item>? {
    let page: LocalPage<Item>? = try withFile { file in
      let snapshot = try file.store.snapshot()
      guard let entry = try file.list(id.list, snapshot)?.entry(id.number),
        let page = try file.page(id, of: item, snapshot)
      else { return nil }
      return LocalPage(items: page.items, entry: entry)
    }
    if page != nil { record([id]) }
    return page
  }

  /// The pages of a list, as input for merging, and the list's metadata. Recorded as uses.
  func pages<Item: Codable & Sendable>(
    of id: ListID, as item: Item.Type
  ) throws -> (list: ListDocument, pages: [MergedList.Page<Item>])? {
    let found = try withFile { file in
      let snapshot = try file.store.snapshot()
      return try file.list(id, snapshot).map { ($0, try file.pages(of: $0, as: item, snapshot)) }
    }
    record(found?.1.map { PageID(list: id, number: $0.number) } ?? [])
    return found
  }

  func list(_ id: ListID) throws -> ListDocument? { try withFile { try $0.list(id, $0.store.snapshot()) } }

  func token(_ id: ListID) throws -> ListToken {
    let clears = clears(of: id)
    return try withFile { file in
      let snapshot = try file.store.snapshot()
      return ListToken(
        generation: try file.list(id, snapshot)?.generation, head: try file.head(snapshot), clears: clears)
    }
  }

  private func record(_ pages: [PageID]) {
    state.withLock { state in
      for page in pages {
        state.lastUse += 1
        state.uses[page] = state.lastUse
      }
    }
  }

  // MARK: Writing

  /// Stores a page that was fetched with `token`, and evicts pages to make room.
  ///
  /// - Throws: `PageCacheError.superseded`, `.tooLarge`; any error of a commit. Nothing has changed then.
  func put<Item: Codable & Identifiable & Sendable>(
    _ items: [Item], _ id: PageID, _ terms: ListTerms, token: ListToken, fetched: Date
  ) throws {
    try change { change in
      guard try token.admits(change.list(id.list), change.head), token.clears == clears(of: id.list) else {
        throw PageCacheError.superseded(list: id.list.name, page: id.number)
      }
      try change.put(items, id, terms, fetched: fetched)
    }
  }

  /// Replaces all pages of a list with a page 1 that was fetched with `token`.
  ///
  /// - Throws: The same errors as ``put(_:_:_:token:fetched:)``.
  func replace<Item: Codable & Identifiable & Sendable>(
    _ id: ListID, with items: [Item], _ terms: ListTerms, token: ListToken, fetched: Date
  ) throws {
    try change { change in
      // Any existing list is replaced. A missing list may have been cleared meanwhile.
      let isCleared = try change.list(id) == nil && !token.admits(nil, change.head)
      if isCleared || token.clears != clears(of: id) {
        throw PageCacheError.superseded(list: id.name, page: 1)
      }
      try change.replace(id, with: items, terms, fetched: fetched)
    }
    state.withLock { $0.stale[id] = nil }
  }

  /// Makes a commit that also records the uses so far.
  private func change(_ body: (CacheChange) throws -> Void) throws {
    let uses = state.withLock { $0.uses }
    let evictions = try withFile { file in
      try file.change { change in
        try change.record(uses.sorted { $0.value < $1.value }.map(\.key))
        try body(change)
        return change.evictionCount
      }
    }
    state.withLock { state in
      state.evictions += evictions
      // A later use of the same page waits for the next commit.
      for (page, use) in uses where state.uses[page] == use { state.uses[page] = nil }
    }
  }
}
