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

  /// What becomes of the items that a page had when it is fetched again.
  enum Outcome<Item> {
    /// They were pushed behind it so far.
    case pushed([Item])
    /// There may be a hole behind the page: what is known of the pages behind it does not follow.
    case hole
  }

  /// Compares a page with what it showed before, which is not empty.
  ///
  /// - Parameters:
  ///   - old: the page's items and what had been pushed behind them.
  ///   - new: what the page has now.
  static func outcome<Item, ID: Hashable>(
    of old: [Item], _ new: [Item], pageSize: Int, id: (Item) -> ID
  ) -> Outcome<Item> {
    let present = Set(new.map(id))
    // The list ends with such a page: what is behind it is gone.
    if new.count < pageSize { return .hole }
    guard let last = old.lastIndex(where: { present.contains(id($0)) }) else { return .hole }
    let pushed = Array(old[(last + 1)...])
    return pushed.count > pushLimit * pageSize ? .hole : .pushed(pushed)
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
