/// How pages that were fetched at different times become one list. Arithmetic without a store.
enum MergedList {
  /// How many pages' worth of items a page keeps that were pushed behind it.
  static let pushLimit = 4

  /// A page as merging sees it.
  struct Page<Item> {
    let number: Int
    let serial: Int64
    let items: [Item]
    let pushed: [Item]
  }

  /// What becomes of what a page showed before when it is fetched again.
  struct Outcome<Item> {
    /// Items that stand behind the page now.
    var pushed: [Item] = []
    /// Whether the pages behind it still follow; otherwise there may be a hole.
    var isFollowed = false
  }

  /// Compares a page with what it showed before.
  ///
  /// - Parameters:
  ///   - old: the page's items and what had been pushed behind them.
  ///   - new: what the page has now.
  static func outcome<Item, ID: Hashable>(
    of old: [Item], _ new: [Item], pageSize: Int, id: (Item) -> ID
  ) -> Outcome<Item> {
    // The list ends with such a page: what is behind it is gone.
    if new.count < pageSize { return Outcome() }
    if old.isEmpty { return Outcome(isFollowed: true) }
    let present = Set(new.map(id))
    guard let last = old.lastIndex(where: { present.contains(id($0)) }) else { return Outcome() }
    let pushed = old[(last + 1)...]
    let limit = pushLimit * pageSize
    return Outcome(pushed: Array(pushed.prefix(limit)), isFollowed: pushed.count <= limit)
  }

  /// The pages as one list, in their order, each id once.
  ///
  /// An id that stands on several pages has the content and the place that it has on the page stored last. What was pushed
  /// behind a page counts where no page has it, and only until the next page was stored later.
  static func items<Item, ID: Hashable>(_ pages: [Page<Item>], id: (Item) -> ID) -> [Item] {
    var places: [(item: Item, id: ID, serial: Int64)] = []
    for (index, page) in pages.enumerated() {
      for item in page.items { places.append((item, id(item), page.serial)) }
      let next = index + 1 < pages.count ? pages[index + 1] : nil
      if let next, next.number == page.number + 1, next.serial > page.serial { continue }
      for item in page.pushed { places.append((item, id(item), .min)) }
    }
    var newest: [ID: Int] = [:]
    for (index, place) in places.enumerated() {
      if let known = newest[place.id], places[known].serial >= place.serial { continue }
      newest[place.id] = index
    }
    return places.indices.filter { newest[places[$0].id] == $0 }.map { places[$0].item }
  }
}
