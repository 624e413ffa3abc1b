extension PageStore {
  /// Removes all stored pages of several lists, whatever their page sizes, in one commit: after a crash all of these
  /// lists are stored, or none. Pages that are being fetched for them are not stored.
  ///
  ///     let removed = try pages.clear(["top", "list"])
  ///
  /// - Parameter keys: The keys of the lists, as in ``PageCache/key``. A key without a stored list is ignored, and an
  ///   empty array removes nothing.
  /// - Returns: The lists that were removed, sorted by name and page size, with the pages and bytes that they had.
  /// - Throws: The error of encoding a key; any error of a commit. Nothing is removed then.
  /// - Complexity: Reads all lists.
  @discardableResult
  public func clear<Key: Encodable>(_ keys: [Key]) throws -> [CachedList] {
    let ids = try Set(keys.map { try ListID($0, pageSize: ListID.anyPageSize) })
    return try clear(counting: ids) { ids.contains($0.ofAnyPageSize) }
  }

  /// Removes several lists that a ``CacheInspector`` found, in one commit, like the method that takes keys.
  ///
  /// - Returns: The lists that were removed. A list that is no longer stored is not among them.
  /// - Throws: Any error of a commit; nothing is removed then.
  /// - Complexity: Reads all lists.
  @discardableResult
  public func clear(_ lists: [CachedList]) throws -> [CachedList] {
    let ids = Set(lists.map(\.id))
    return try clear(counting: ids) { ids.contains($0) }
  }

  /// Removes a list; see ``clear()``.
  ///
  /// - Returns: The extent that was removed.
  /// - Throws: Any error of a commit; nothing is removed then.
  @discardableResult
  public func clear(_ list: CachedList) throws -> CacheSize { try clear(list.id) }

  /// Removes a list. Returns the extent that was removed. Pages that are being fetched for it are not stored.
  func clear(_ id: ListID) throws -> CacheSize {
    countClear(of: [id]) { $0 == id }
    return try withFile { file in
      guard try file.list(id, file.store.snapshot()) != nil else { return CacheSize() }
      return try file.change { change in
        let removed = try change.remove(id)
        change.beginEpoch()
        return CacheSize(removed.map { [$0] } ?? [])
      }
    }
  }

  /// Removes all lists that `isCleared` selects, in one commit.
  private func clear(counting ids: Set<ListID>, where isCleared: (ListID) -> Bool) throws -> [CachedList] {
    countClear(of: ids, where: isCleared)
    return try withFile { file in
      // Without a list to remove, do not wait for the lock.
      guard try file.lists(file.store.snapshot()).contains(where: { isCleared($0.id) }) else { return [] }
      return try file.change { change in
        let lists = try file.lists(change.base).filter { isCleared($0.id) }
        for list in lists { _ = try change.remove(list.id) }
        // Another process may have removed them since.
        if !lists.isEmpty { change.beginEpoch() }
        return CachedList.sorted(lists)
      }
    }
  }

  // MARK: Fetches that began before a clear

  /// The number of times that this process cleared a list: alone, with all lists of its key, and with the entire cache.
  func clears(of id: ListID) -> Int {
    state.withLock { state in
      if state.listClears.isEmpty { return state.clears }
      return state.clears + (state.listClears[id] ?? 0) + (state.listClears[id.ofAnyPageSize] ?? 0)
    }
  }

  /// Counts a clear, so that no page whose fetch began earlier is stored.
  private func countClear(of ids: Set<ListID>, where isCleared: (ListID) -> Bool) {
    state.withLock { state in
      state.stale = state.stale.filter { !isCleared($0.key) }
      if flights.isEmpty {
        state.listClears = [:]
      } else {
        for id in ids { state.listClears[id, default: 0] += 1 }
      }
    }
  }
}
