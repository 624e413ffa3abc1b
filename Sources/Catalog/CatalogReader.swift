public import LogStore

/// Reads a catalogue beside any number of other readers and a writer, in any process.
public final class CatalogReader: Sendable {
  let store: StoreReader

  private init(_ store: StoreReader) { self.store = store }

  /// Opens a catalogue; `nil` if nothing was ever committed to it. Creates and changes nothing.
  ///
  /// - Parameters:
  ///   - location: Which catalogue.
  ///   - lookInterval: How long ``refresh()`` may go without a look at the directory; see `StoreReader`.
  /// - Throws: `StoreError`.
  /// - Complexity: some ten system calls, whatever the number of products.
  public static func open(
    _ location: StoreLocation, lookInterval: Duration = .zero
  ) throws(StoreError) -> CatalogReader? {
    try StoreReader.open(location, lookInterval: lookInterval).map(CatalogReader.init)
  }

  /// The catalogue at the commit that this reader shows.
  ///
  /// - Throws: `CatalogError.unknownState`.
  public func snapshot() throws(CatalogError) -> CatalogSnapshot { try CatalogSnapshot(store.snapshot) }

  /// Moves on to the last commit. Without a new commit it costs one system call, or one for each `lookInterval`.
  ///
  /// - Returns: whether there was a newer one.
  @discardableResult
  public func refresh() throws(StoreError) -> Bool { try store.refresh() }
}
