public import Documents
public import Essentials
public import LogStore
import Synchronization

/// The cached pages of one user's remote lists, in a separate file.
///
///     let store = PageStore(try StoreLocation.creating(directory, name: "cache"))
///
/// Its contents can be fetched again, so a problem with the file never makes an application fail. A damaged file is
/// renamed to `cache.damaged-1` and replaced; ``Options/onSetAside`` is called once. If the disk is full, read-only or
/// locked by another process, pages are not stored, but callers still receive them.
///
/// Any number of threads and processes may use one file. Reading takes no lock and makes no commit: last uses are
/// recorded in memory and written with the next commit.
public final class PageStore: Sendable {
  /// The options of a page store.
  public struct Options: Sendable {
    /// The maximum total size of all pages, in bytes. Beyond it, the least recently used pages are evicted.
    ///
    /// Dead records need additional space, as ``compaction`` allows.
    public var byteLimit = 64 << 20
    /// The time until a page without items expires, whatever the lifetime of its list: an empty list may have items
    /// soon. `nil` for the lifetime of the list alone.
    public var emptyPageLifetime: Duration? = .seconds(30)
    /// The longest time that storing a page waits for a writer in another process. After that, the
    /// page is returned without being stored.
    public var lockTimeout = Duration.seconds(2)
    /// When to compact the file, which rewrites it without dead records.
    public var compaction = CompactionPolicy(share: 0.5, floor: 1 << 20)
    /// The interval at which observers poll for commits of other processes.
    public var pollInterval = Duration.milliseconds(100)
    /// The current time, by which pages expire. A page from the future counts as expired.
    public var now: @Sendable () -> Date = { Date() }
    /// A callback for each operation on the documents of the file; `nil` for none.
    public var trace: Tracer?
    /// A callback that is called after a damaged file was renamed.
    public var onSetAside: (@Sendable (SetAside) -> Void)?

    /// Creates the default options.
    public init() {}
  }

  /// A damaged file that was renamed.
  public struct SetAside: Sendable {
    /// The new path of the file.
    public let path: String
    /// The error that was found.
    public let reason: any Error
  }

  /// The options that the store was created with.
  public let options: Options
  let location: StoreLocation
  let flights = SingleFlight()

  struct State {
    var file: CacheFile?
    /// Uses of pages that no commit has recorded, with increasing numbers.
    var uses: [PageID: Int] = [:]
    var lastUse = 0
    /// Lists that could not be refreshed: pages up to the serial are stale, with the error.
    var stale: [ListID: (serial: Int64, error: any Error)] = [:]
    /// The number of times that the entire cache was cleared, and each list. A page whose fetch began before a clear is
    /// not stored after it. A clear of all lists with a key is counted under ``ListID/ofAnyPageSize``.
    var clears = 0
    var listClears: [ListID: Int] = [:]
    var hits = 0
    var misses = 0
    var evictions = 0
    var isClosed = false
  }

  /// Guards the open file and the state in memory. Never held during a commit.
  let state = Mutex(State())

  /// Creates a store without opening the file. The first stored page creates it.
  public init(_ location: StoreLocation, options: Options = Options()) {
    precondition(options.byteLimit >= 0, "a cache has room for no less than nothing")
    self.location = location
    self.options = options
  }

  // MARK: The file

  /// Closes the store. Later calls throw `DocumentStoreError.closed`, and sequences that observe it end. A page that is
  /// being fetched is returned, but not stored.
  public func close() {
    let file = state.withLock { state in
      state.isClosed = true
      defer { state.file = nil }
      return state.file
    }
    file?.store.close()
  }

  /// Checks that the store is open.
  ///
  /// - Throws: `DocumentStoreError.closed`.
  func checkOpen() throws(DocumentStoreError) {
    if state.withLock({ $0.isClosed }) { throw .closed(path: location.path) }
  }

  /// The open file.
  func file() throws -> CacheFile {
    try checkOpen()
    if let file = state.withLock({ $0.file }) { return file }
    var options = DocumentStore.Options()
    options.lockTimeout = self.options.lockTimeout
    options.compaction = self.options.compaction
    options.pollInterval = self.options.pollInterval
    options.trace = self.options.trace
    let file = try CacheFile(location, options: options)
    // If several threads open the file, keep the first instance: observers and writers must share one.
    return try state.withLock { state in
      if state.isClosed { throw DocumentStoreError.closed(path: location.path) }
      if state.file == nil { state.file = file }
      return state.file ?? file
    }
  }

  /// Runs `body` with the file. If the file is damaged, or no longer the one that was opened, retries once with its
  /// replacement.
  func withFile<Result>(_ body: (CacheFile) throws -> Result) throws -> Result {
    do { return try body(file()) } catch {
      guard try recover(from: error) else { throw error }
      return try body(file())
    }
  }

  /// Recovers from an error. Returns whether there is another file to retry with.
  func recover(from error: any Error) throws -> Bool {
    switch Fault(error) {
    case .none: return false
    case .replaced: break
    case .damage:
      let path = try location.setAside(lockTimeout: options.lockTimeout) { isDamaged(error) }
      if let path { options.onSetAside?(SetAside(path: path, reason: error)) }
    }
    state.withLock { state in
      state.file = nil
      state.uses = [:]
    }
    return true
  }

  /// Whether the file that now has the name is unusable, as the error indicates.
  private func isDamaged(_ error: any Error) -> Bool {
    // A file with another schema passes verification, but is unusable as a cache.
    if case StoreError.schema = error { return true }
    do {
      let file = try CacheFile(location)
      _ = try file.lists(file.store.snapshot())
      return try Verification.run(location)?.findings.isEmpty == false
    } catch { return Fault(error) == .damage }
  }

  // MARK: The entire cache

  /// Removes all pages of all lists. Pages that are being fetched are not stored.
  ///
  /// - Returns: The extent that was removed.
  /// - Throws: Any error of a commit; nothing is removed then.
  @discardableResult
  public func clear() throws -> CacheSize {
    try checkOpen()
    state.withLock { state in
      state.clears += 1
      state.uses = [:]
      state.stale = [:]
    }
    return try withFile { file in
      if try file.lists(file.store.snapshot()).isEmpty { return CacheSize() }
      let removed = try file.change { change in
        let removed = CacheSize(try file.lists(change.base))
        try change.removeEverything()
        change.beginEpoch()
        return removed
      }
      // Also remove the data from the disk, if there is room for a compaction.
      try? file.store.compact()
      return removed
    }
  }

  /// The extent of the cache, and the hits, misses and evictions of this process.
  ///
  /// - Throws: The error that prevents the store from being read.
  /// - Complexity: Reads each list.
  public func statistics() throws -> PageStoreStatistics {
    let extent = try withFile { file in CacheSize(try file.lists(file.store.snapshot())) }
    return state.withLock { state in
      PageStoreStatistics(
        stored: extent, hits: state.hits, misses: state.misses, evictions: state.evictions)
    }
  }
}

/// The extent of some lists: their number, pages and bytes.
public struct CacheSize: Sendable, Equatable {
  /// The number of lists that have at least one page.
  public var lists = 0
  /// The number of pages of all these lists.
  public var pages = 0
  /// The total size of the pages, in bytes.
  public var bytes = 0

  init() {}

  /// The extent of these lists.
  public init(_ lists: [CachedList]) {
    self.lists = lists.count
    pages = lists.reduce(0) { $0 + $1.pages.count }
    bytes = lists.reduce(0) { $0 + $1.byteCount }
  }

  init(_ documents: [ListDocument]) {
    for list in documents {
      lists += 1
      pages += list.pages.count
      bytes += list.pages.reduce(0) { $0 + $1.byteCount }
    }
  }
}

/// Statistics of a store: its extent, and counts since this instance was created.
public struct PageStoreStatistics: Sendable, Equatable {
  /// What is stored now, whichever process stored it.
  public let stored: CacheSize
  /// The number of loads that were answered without a fetch.
  public let hits: Int
  /// The number of loads that needed a fetch, successful or not.
  public let misses: Int
  /// The number of pages that were evicted because of ``PageStore/Options/byteLimit``.
  public let evictions: Int

  /// The number of stored lists that have at least one page.
  public var lists: Int { stored.lists }
  /// The number of stored pages of all lists.
  public var pages: Int { stored.pages }
  /// The total size of the stored pages, in bytes.
  public var bytes: Int { stored.bytes }
}

/// The consequence of an error for the file.
private enum Fault {
  /// None: the error is temporary, or about the caller's data.
  case none
  /// Another file has replaced it.
  case replaced
  /// The file is damaged.
  case damage

  init(_ error: any Error) {
    switch error {
    case StoreError.replaced: self = .replaced
    case let error as StoreError: self = error.isDamage ? .damage : .none
    case DocumentStoreError.store(let error): self.init(error)
    case DocumentStoreError.unknownState, DocumentStoreError.document: self = .damage
    default: self = .none
    }
  }
}
