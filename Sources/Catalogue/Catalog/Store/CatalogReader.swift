public import LogStore

/// A reader of a catalogue. It works concurrently with any number of other readers and one writer, in any process.
public final class CatalogReader: Sendable {
  let store: StoreReader
  /// The sequences that wait for a new commit; see ``changes(since:interval:)``.
  let observers = Observers(interval: .seconds(1))

  private init(_ store: StoreReader) { self.store = store }

  /// Opens a catalogue; returns `nil` if nothing was ever committed to it. Opening creates and changes no file.
  ///
  /// - Parameters:
  ///   - location: The location of the catalogue.
  ///   - refreshInterval: The longest time for which ``refresh()`` may skip checking the directory; see `StoreReader`.
  /// - Throws: `StoreError`.
  /// - Complexity: About ten system calls, regardless of the number of products.
  public static func open(
    _ location: StoreLocation, refreshInterval: Duration = .zero
  ) throws(StoreError) -> CatalogReader? {
    try StoreReader.open(location, refreshInterval: refreshInterval).map(CatalogReader.init)
  }

  /// Returns the catalogue at the commit that this reader shows.
  ///
  /// - Throws: `CatalogError.unknownState`.
  public func snapshot() throws(CatalogError) -> CatalogSnapshot { try CatalogSnapshot(store.snapshot) }

  /// Whether no file has the name any more under which this reader opened the catalogue.
  package var isRemoved: Bool { store.isRemoved }

  /// Moves to the last commit. Without a new commit it costs one system call, or one per `refreshInterval`.
  ///
  /// A new commit wakes the sequences of ``changes(since:interval:)`` that wait for it.
  ///
  /// - Returns: Whether there was a newer commit.
  @discardableResult
  public func refresh() throws(StoreError) -> Bool {
    let isNewer = try store.refresh()
    if isNewer { observers.notify() }
    return isNewer
  }
}
