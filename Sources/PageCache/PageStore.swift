import Documents
public import Foundation
public import LogStore
import Synchronization

/// The pages of all remote lists of one user, in a file of their own.
///
///     let store = PageStore(try StoreLocation.creating(directory, name: "cache"))
///
/// What it holds can be fetched again, and so nothing about it is worth an application's failure. A file that is damaged is
/// set aside as `cache.damaged-1` and begun anew; ``Options/onSetAside`` is told of it once. A disk that is full, read-only or
/// locked by another process keeps pages from being stored and nobody from having them.
///
/// Any number of threads and processes may use one file. Reading takes no lock and costs no commit: which pages were used
/// last is kept in memory and written along with the next commit.
public final class PageStore: Sendable {
  /// How a store is used.
  public struct Options: Sendable {
    /// Bytes that all pages may have together. Beyond it the pages used the longest ago go, whole.
    ///
    /// Room for what is dead comes on top, as ``compaction`` allows it.
    public var byteLimit = 64 << 20
    /// How long a page waits for another process to finish a commit before it is handed out without being stored.
    public var waiting = Duration.seconds(2)
    /// When the file is written anew without what is dead.
    public var compaction = CompactionPolicy(share: 0.5, floor: 1 << 20)
    /// How often commits of other processes are looked for while somebody observes.
    public var pollInterval = Duration.milliseconds(100)
    /// The time by which pages expire. A page from the future has expired.
    public var now: @Sendable () -> Date = { Date() }
    /// Is told when a damaged file was set aside.
    public var onSetAside: (@Sendable (SetAside) -> Void)?

    public init() {}
  }

  /// A file that was of no more use.
  public struct SetAside: Sendable {
    /// Where it is now.
    public let path: String
    /// What was wrong with it.
    public let reason: any Error
  }

  public let options: Options
  let location: StoreLocation
  let flights = SingleFlight()

  struct State {
    var file: CacheFile?
    /// When pages were used that no commit has noted, by a number that grows.
    var uses: [PageID: Int] = [:]
    var lastUse = 0
    /// Lists that could not be refreshed: their pages up to the serial are stale, and why.
    var stale: [ListID: (serial: Int64, error: any Error)] = [:]
    /// How often everything was cleared, and each list: what was fetched before is not stored behind it.
    var clears = 0
    var listClears: [ListID: Int] = [:]
    var hits = 0
    var misses = 0
    var evictions = 0
    var isClosed = false
  }

  /// Guards the open file and what is only in memory; never held during a commit.
  let state = Mutex(State())

  /// Opens nothing yet: the file comes into being with the first page that is stored.
  public init(_ location: StoreLocation, options: Options = Options()) {
    precondition(options.byteLimit >= 0, "a cache has room for no less than nothing")
    self.location = location
    self.options = options
  }

  // MARK: The file

  /// Lets go of the file: every call throws `DocumentStoreError.closed` from now on, and who observes is told the end. A page
  /// that is being fetched is handed out, and not stored.
  public func close() {
    let file = state.withLock { state in
      state.isClosed = true
      defer { state.file = nil }
      return state.file
    }
    file?.store.close()
  }

  /// - Throws: `DocumentStoreError.closed`.
  func checkOpen() throws(DocumentStoreError) {
    if state.withLock({ $0.isClosed }) { throw .closed(path: location.path) }
  }

  /// The open file.
  func file() throws -> CacheFile {
    try checkOpen()
    if let file = state.withLock({ $0.file }) { return file }
    var options = DocumentStore.Options()
    options.waiting = self.options.waiting
    options.compaction = self.options.compaction
    options.pollInterval = self.options.pollInterval
    let file = try CacheFile(location, options: options)
    // Whoever was first: observers and writers are to meet at one.
    return try state.withLock { state in
      if state.isClosed { throw DocumentStoreError.closed(path: location.path) }
      if state.file == nil { state.file = file }
      return state.file ?? file
    }
  }

  /// Works on the file; where that is damaged or no longer the one that was opened, once more on the one that takes its place.
  func withFile<Result>(_ body: (CacheFile) throws -> Result) throws -> Result {
    do { return try body(file()) } catch {
      guard try recover(from: error) else { throw error }
      return try body(file())
    }
  }

  /// Whether there is now another file to try.
  func recover(from error: any Error) throws -> Bool {
    switch Fault(error) {
    case .none: return false
    case .replaced: break
    case .damage:
      let path = try location.setAside(waiting: options.waiting) { isDamaged(error) }
      if let path { options.onSetAside?(SetAside(path: path, reason: error)) }
    }
    state.withLock { state in
      state.file = nil
      state.uses = [:]
    }
    return true
  }

  /// Whether the file that has the name now is of no use, of which the error told.
  private func isDamaged(_ error: any Error) -> Bool {
    // Tables with other key spaces are as whole as any.
    if case StoreError.schema = error { return true }
    do {
      let file = try CacheFile(location)
      _ = try file.lists(file.store.snapshot())
      return try Verification.run(location)?.findings.isEmpty == false
    } catch { return Fault(error) == .damage }
  }

  // MARK: Everything

  /// Removes all pages of all lists. What is being fetched is not stored any more.
  ///
  /// - Returns: what was removed.
  /// - Throws: what a commit throws, with nothing removed.
  @discardableResult
  public func clear() throws -> CacheExtent {
    try checkOpen()
    state.withLock { state in
      state.clears += 1
      state.uses = [:]
      state.stale = [:]
    }
    return try withFile { file in
      if try file.lists(file.store.snapshot()).isEmpty { return CacheExtent() }
      let removed = try file.change { change in
        let removed = CacheExtent(try file.lists(change.base))
        try change.removeEverything()
        change.beginEpoch()
        return removed
      }
      // What was removed leaves the disk, too, if there is room to do it now.
      try? file.store.compact()
      return removed
    }
  }

  /// What is stored, and how the store did in this process.
  ///
  /// - Throws: what keeps the store from being read.
  /// - Complexity: a look at each list.
  public func statistics() throws -> PageStoreStatistics {
    let extent = try withFile { file in CacheExtent(try file.lists(file.store.snapshot())) }
    return state.withLock { state in
      PageStoreStatistics(
        stored: extent, hits: state.hits, misses: state.misses, evictions: state.evictions)
    }
  }
}

/// How much of lists there is.
public struct CacheExtent: Sendable, Equatable {
  public var lists = 0
  public var pages = 0
  /// Bytes of the pages.
  public var bytes = 0

  init() {}

  init(_ documents: [ListDocument]) {
    for list in documents {
      lists += 1
      pages += list.pages.count
      bytes += list.pages.reduce(0) { $0 + $1.byteCount }
    }
  }
}

/// What a store holds, and how it did in this process since it was made.
public struct PageStoreStatistics: Sendable, Equatable {
  public let stored: CacheExtent
  /// Loads that were answered without the network.
  public let hits: Int
  /// Loads that needed the network, whatever came of it.
  public let misses: Int
  /// Pages that went for the sake of ``PageStore/Options/byteLimit``.
  public let evictions: Int

  public var lists: Int { stored.lists }
  public var pages: Int { stored.pages }
  public var bytes: Int { stored.bytes }
}

/// What an error says about the file.
private enum Fault {
  /// Nothing: something stands in the way now, or the caller's data does.
  case none
  /// Another file has its name.
  case replaced
  /// It cannot be used.
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
