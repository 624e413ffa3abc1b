/// The algorithm that merges pages fetched at different times into one list. Pure functions without a store.
enum MergedList {
  /// The maximum number of pushed items that a page keeps, as a multiple of the page size.
  static let pushLimit = 4

  /// A page, as input for merging.
  struct Page<Item> {
    let number: Int
    let serial: Int64
    let items: [Item]
    let pushed: [Item]
  }

  /// The consequence of refetching a page for its former items.
  struct Outcome<Item> {
    /// Items that are now after the page.
    var pushed: [Item] = []
    /// Whether the pages after it still follow; otherwise there may be a hole.
    var isFollowed = false
  }

  /// Compares a page with its former contents.
  ///
  /// - Parameters:
  ///   - old: The former items, and the items that had been pushed off the page.
  ///   - new: The new items.
  static func outcome<Item, ID: Hashable>(
    of old: [Item], _ new: [Item], pageSize: Int, id: (Item) -> ID
  ) -> Outcome<Item> {
    // A short page is the end of the list, so nothing follows it.
    if new.count < pageSize { return Outcome() }
    if old.isEmpty { return Outcome(isFollowed: true) }
    let present = Set(new.map(id))
    guard let last = old.lastIndex(where: { present.contains(id($0)) }) else { return Outcome() }
    let pushed = old[(last + 1)...]
    let limit = pushLimit * pageSize
    return Outcome(pushed: Array(pushed.prefix(limit)), isFollowed: pushed.count <= limit)
  }

  /// Merges the pages into one list, in order, with each ID once.
  ///
  /// An ID on several pages has the content and position from the page that was stored last. A pushed item is included
  /// if no page contains its ID, and only until the next page is stored later.
  static func items<Item, ID: Hashable>(_ pages: [Page<Item>], id: (Item) -> ID) -> [Item] {
    var entries: [(item: Item, id: ID, serial: Int64)] = []
    for (index, page) in pages.enumerated() {
      for item in page.items { entries.append((item, id(item), page.serial)) }
      let next = index + 1 < pages.count ? pages[index + 1] : nil
      if let next, next.number == page.number + 1, next.serial > page.serial { continue }
      for item in page.pushed { entries.append((item, id(item), .min)) }
    }
    var newest: [ID: Int] = [:]
    for (index, entry) in entries.enumerated() {
      if let current = newest[entry.id], entries[current].serial >= entry.serial { continue }
      newest[entry.id] = index
    }
    return entries.indices.filter { newest[entries[$0].id] == $0 }.map { entries[$0].item }
  }
}
