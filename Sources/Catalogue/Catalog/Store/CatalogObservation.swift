public import LogStore
import Synchronization

/// An asynchronous sequence of a catalogue's changes: one after each new commit, by any process.
///
///     for try await change in reader.changes() {
///       print("commit \(change.sequence), now \(change.after.productCount) products")
///       for product in try change.differences().upsertedProducts { … }
///     }
///
/// An iteration begins after a commit, and yields only later ones. A commit that changes no row, for example one that
/// moves the cursor, is a change too. A compaction keeps the commit number and every row, so it is not one.
///
/// **The newest commit wins.** Nothing is queued: commits between two calls of `next()` are merged into one ``Change``,
/// from the state that was delivered last to the present one. A slow consumer misses no difference and delays no
/// writer. It keeps the file of the state that it saw last, even if another file has replaced it since: the disk space
/// is free after the next change.
///
/// **Polling.** The file is checked once in an interval, a second by default. Code of this process that sees the new
/// commit first, with ``CatalogReader/refresh()`` on the same reader, wakes the sequence at once. A check costs two
/// system calls. No check is made while the consumer is busy.
///
/// **The end.** The sequence ends when its task is cancelled. If the catalogue cannot be read, it throws an error and
/// ends:
///
/// | | ``CatalogReader/changes(since:interval:)`` | ``init(_:since:interval:)`` |
/// |---|---|---|
/// | no file yet | there is no reader | waits; the first commit is a change from an empty catalogue |
/// | a backup is copied over the file | `StoreError.replaced` | a change |
/// | the file is removed | `StoreError.replaced` | waits; a new file is a change |
/// | a file with a lower number, such as a backup, gets its name | `StoreError.replaced` | a change |
/// | a file of another history with a higher number gets its name | a change | a change |
/// | the file is truncated, or a new commit or file is damaged | `StoreError.damaged`, `.unusable` | the same |
///
/// The change to a file of another history has ``Change/isReplacement``.
///
/// A check without a new commit reads the number of the last commit and the length of the file. Damage elsewhere is
/// found where it is read, for example by ``Change/differences()``. A file that is removed while the generation before
/// it is kept counts as damaged. To go on after an error, begin again after the state that was delivered last, with the
/// parameter `since`.
public struct CatalogObservation: AsyncSequence, Sendable {
  /// The difference between two states of the catalogue.
  public typealias Element = Change

  /// Returns the state of the catalogue; `nil` when it may no longer be read, which ends the sequence.
  package typealias Source = @Sendable () throws -> CatalogSnapshot?

  private let observers: Observers
  private let interval: Duration
  private let start: Source
  private let current: Source

  /// Observes the catalogue at a location, whichever file has its name. The file need not exist yet.
  ///
  /// - Parameters:
  ///   - location: The location of the catalogue.
  ///   - snapshot: The state to begin after; `nil` for that of the last commit when the iteration begins.
  ///   - interval: The interval of checks: from a millisecond to a day.
  public init(_ location: StoreLocation, since snapshot: CatalogSnapshot? = nil, interval: Duration = .seconds(1)) {
    self.init(since: snapshot, interval: interval, location: { location })
  }

  /// Observes the catalogue at a location that may not exist yet.
  ///
  /// - Parameter location: A closure that returns the location; `nil` while there is no directory. It is called at each
  ///   check at which no file is open.
  package init(
    since snapshot: CatalogSnapshot?, interval: Duration, location: @escaping @Sendable () throws -> StoreLocation?
  ) {
    let file = NamedCatalogue(location)
    self.init(
      since: snapshot, interval: interval, observers: Observers(interval: interval),
      current: { try file.snapshot() })
  }

  /// Observes the catalogue that `current` returns.
  ///
  /// - Parameters:
  ///   - observers: The observers to notify when `current` is known to return something new.
  ///   - start: A closure that returns the state to begin after if `snapshot` is `nil`; by default, `current`.
  ///   - current: A closure that returns the present state.
  package init(
    since snapshot: CatalogSnapshot?, interval: Duration, observers: Observers, start: Source? = nil,
    current: @escaping Source
  ) {
    self.observers = observers
    self.interval = interval
    self.current = current
    if let snapshot { self.start = { snapshot } } else { self.start = start ?? current }
  }

  /// Begins an iteration.
  public func makeAsyncIterator() -> Iterator {
    Iterator(observers, observers.signals(every: interval).makeAsyncIterator(), start, current)
  }

  /// An iterator that waits for the next commit.
  public struct Iterator: AsyncIteratorProtocol {
    /// Polls only while it exists.
    private let observers: Observers
    private var signals: AsyncStream<Void>.Iterator
    private let current: Source
    /// The state that was delivered last; `nil` after the end.
    private var seen: CatalogSnapshot?
    /// The error at the beginning, which the first call of ``next()`` throws.
    private var failure: (any Error)?

    init(_ observers: Observers, _ signals: AsyncStream<Void>.Iterator, _ start: Source, _ current: @escaping Source) {
      self.observers = observers
      self.signals = signals
      self.current = current
      do { seen = try start() } catch { failure = error }
    }

    /// Waits for the next commit and returns the change that leads to it.
    ///
    /// - Returns: `nil` when the task is cancelled, and after an error. For the catalogue of a user, also when the user
    ///   is signed out.
    /// - Throws: `StoreError`, `CatalogError` if the catalogue cannot be read. The sequence has then ended.
    /// - Complexity: Without a commit, two system calls for each check. For a change, three reads for each commit that
    ///   is merged into it.
    public mutating func next() async throws -> Change? {
      do {
        if let failure { throw failure }
        while let old = seen, await signals.next() != nil, !Task.isCancelled {
          guard let now = try current() else { break }
          try now.store?.checkLength()
          let change = try Change(from: old, to: now)
          // After a compaction the rows are the same, but the old file need not be kept.
          seen = now
          if let change { return change }
        }
      } catch {
        (seen, failure) = (nil, nil)
        throw error
      }
      seen = nil
      return nil
    }
  }
}

extension CatalogReader {
  /// Returns the changes of the catalogue after the commit that this reader shows; see ``CatalogObservation``.
  ///
  /// Each check calls ``refresh()``, so this reader moves to the commits that are delivered.
  ///
  ///     let catalogue = try reader.snapshot()
  ///     show(catalogue)
  ///     for try await change in reader.changes(since: catalogue) { update(try change.differences()) }
  ///
  /// - Parameters:
  ///   - snapshot: The state to begin after; `nil` for the commit that this reader shows when the iteration begins.
  ///   - interval: The interval of checks for commits of other processes: from a millisecond to a day. A reader with a
  ///     longer `refreshInterval` notices a removed file only after that.
  public func changes(since snapshot: CatalogSnapshot? = nil, interval: Duration = .seconds(1)) -> CatalogObservation {
    CatalogObservation(
      since: snapshot, interval: interval, observers: observers, start: { try self.snapshot() },
      current: {
        if try !self.refresh(), self.store.isRemoved { throw StoreError.replaced(path: self.store.snapshot.path) }
        return try self.snapshot()
      })
  }
}

/// The catalogue that has a name, whichever file that is.
private final class NamedCatalogue: Sendable {
  private let location: @Sendable () throws -> StoreLocation?
  /// The reader of the file that had the name last. Held during a refresh.
  private let reader = Mutex<CatalogReader?>(nil)

  init(_ location: @escaping @Sendable () throws -> StoreLocation?) { self.location = location }

  /// Returns the state at the last commit. While there is no file, this is the last state that was seen, or an empty
  /// catalogue.
  func snapshot() throws -> CatalogSnapshot {
    try reader.withLock { reader in
      if let open = reader {
        do {
          if try open.refresh() || !open.store.isRemoved { return try open.snapshot() }
        } catch StoreError.replaced {
          // The name belongs to another catalogue now.
        }
      }
      if let location = try location(), let new = try CatalogReader.open(location) { reader = new }
      return try reader?.snapshot() ?? .empty
    }
  }
}
