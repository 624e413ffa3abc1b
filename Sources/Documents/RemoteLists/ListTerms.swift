import DocumentFormat

/// The settings of a list, and the byte limit of its store.
struct ListTerms: Sendable {
  var order: PageOrder
  /// The lifetime in seconds; `nil` for no limit.
  var lifetime: Double?
  /// The limit of the entire cache.
  var byteLimit = Int.max

  /// The size of a page, as counted against the limit.
  ///
  /// - Throws: `PageCacheError.tooLarge` if the page alone exceeds the limit; any encoding error.
  func byteCount<Item>(of page: PageDocument<Item>) throws -> Int {
    let count = try DocumentEncoder().encode(page).count
    guard count <= byteLimit else {
      throw PageCacheError.tooLarge(
        list: page.id.list.name, page: page.id.number, byteCount: count, limit: byteLimit)
    }
    return count
  }
}
