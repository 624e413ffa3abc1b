import DocumentFormat

/// What the caller says about a list, and the store about all of them.
struct ListTerms: Sendable {
  var order: PageOrder
  /// Seconds; `nil` for ever.
  var lifetime: Double?
  /// Of the whole cache.
  var byteLimit = Int.max

  /// How much of the limit a page takes.
  ///
  /// - Throws: `PageCacheError.tooLarge` if that is more than all of it; what the encoding throws.
  func byteCount<Item>(of page: PageDocument<Item>) throws -> Int {
    let count = try DocumentEncoder().encode(page).count
    guard count <= byteLimit else {
      throw PageCacheError.tooLarge(
        list: page.id.list.name, page: page.id.number, byteCount: count, limit: byteLimit)
    }
    return count
  }
}
