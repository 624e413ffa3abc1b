import Documents
import Essentials
import LogStore
package import Platform
import Storage
import Synchronization

/// The last report of each device, as documents in a directory.
///
/// One process writes, and any number read meanwhile. Reports that arrive while a commit is written are in the next one
/// together, so that a fleet costs a few commits and not one for each device.
package final class FleetStore: Sendable {
  /// The number of devices that are kept if nothing else is said.
  package static let standardDeviceLimit = 200_000

  /// What became of a report.
  package enum Outcome: Sendable, Equatable {
    case kept
    /// A later report of the device is there already.
    case older
    /// The device is not known, and there are as many as may be.
    case noRoom
  }

  private struct Waiting {
    let reports: [FleetReport]
    let done: CheckedContinuation<[Outcome], any Error>
  }

  private static let name = "fleet"
  /// Held by the collector for as long as it runs; the store's own lock is held for a commit.
  private static let lockName = "collector.lock"

  private let path: String
  private let store: DocumentStore
  private let documents: DocumentCollection<FleetReport>
  private let deviceLimit: Int
  private let lock: (any StorageLock)?
  private let thread = BlockingThread("fleet")
  /// The reports that are not in a commit yet.
  private let waiting = Mutex<[Waiting]>([])

  private init(_ location: StoreLocation, deviceLimit: Int, lock: (any StorageLock)?) throws {
    path = location.directory.path
    store = try DocumentStore.open(location)
    documents = try store.collection("reports", of: FleetReport.self)
    self.deviceLimit = deviceLimit
    self.lock = lock
  }

  deinit {
    store.close()
    lock?.release()
  }

  /// Opens the reports in a directory, which is created, to keep more of them.
  ///
  /// - Throws: ``FleetError/busy(_:)`` if another process does; `StoreError`.
  package static func collecting(_ path: String, deviceLimit: Int = standardDeviceLimit) throws -> FleetStore {
    let location = try StoreLocation.creating(path, name: name)
    guard let lock = try location.directory.lock(lockName) else {
      let holder = location.directory.holder(of: lockName).map { " (\($0))" } ?? ""
      throw FleetError.busy("another process\(holder) collects reports in \(path): give each a directory of its own")
    }
    return try explaining(path) { try FleetStore(location, deviceLimit: deviceLimit, lock: lock) }
  }

  /// Opens the reports in a directory to read them. Nothing is written.
  ///
  /// - Throws: ``FleetError/noDirectory(_:)``; `StoreError`.
  package static func reading(_ path: String) throws -> FleetStore {
    guard let location = try StoreLocation.existing(path, name: name) else {
      throw FleetError.noDirectory("there is no directory \(path); 'catalogctl fleet collect --to \(path)' makes it")
    }
    return try explaining(path) { try FleetStore(location, deviceLimit: 0, lock: nil) }
  }

  /// Runs `body`, and says of a damaged file what to do.
  private static func explaining<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as any ProgramError where error.exitStatus == .data {
      throw FleetError.damaged(
        "\(error); move the files of \(path) elsewhere and collect again: each device reports within a day")
    }
  }

  // MARK: Writing

  /// Keeps reports that are later than those that are there. They are durable when this returns.
  ///
  /// - Returns: What became of each.
  /// - Throws: `StoreError`, `DocumentStoreError`; none of them was kept then.
  package func add(_ reports: [FleetReport]) async throws -> [Outcome] {
    try await withCheckedThrowingContinuation { done in
      let isFirst = waiting.withLock { waiting in
        waiting.append(Waiting(reports: reports, done: done))
        return waiting.count == 1
      }
      if isFirst { thread.post { self.commit() } }
    }
  }

  private func commit() {
    let batch = waiting.withLock { waiting in
      let batch = waiting
      waiting = []
      return batch
    }
    do {
      let outcomes = try store.transaction { transaction in
        var count = try transaction.count(of: documents)
        return try batch.map { waiting in
          try waiting.reports.map { report in
            if let known = try transaction.get(report.id, from: documents) {
              if report.isOlder(than: known) { return Outcome.older }
            } else {
              guard count < deviceLimit else { return .noRoom }
              count += 1
            }
            try transaction.upsert(report, into: documents)
            return .kept
          }
        }
      }
      for (waiting, outcomes) in zip(batch, outcomes) { waiting.done.resume(returning: outcomes) }
    } catch {
      for waiting in batch { waiting.done.resume(throwing: error) }
    }
  }

  // MARK: Reading

  /// All devices as they are now.
  package func snapshot() throws -> Snapshot {
    try Self.explaining(path) { Snapshot(path: path, store: try store.snapshot(), documents: documents) }
  }

  /// The reports of one moment, which can be read more than once.
  package struct Snapshot: Sendable {
    fileprivate let path: String
    let store: DocumentSnapshot
    let documents: DocumentCollection<FleetReport>

    /// Reads the reports one after the other.
    ///
    /// - Parameter isOrdered: Whether they are ordered by device, which takes memory for all.
    package func forEach(isOrdered: Bool = false, _ body: (FleetReport) throws -> Void) throws {
      let query = documents.query()
      let results = try (isOrdered ? query.order(by: \.id) : query).results(in: store)
      for result in results { try body(FleetStore.explaining(path) { try result.get() }) }
    }
  }
}

/// Why the reports of a fleet cannot be used.
package enum FleetError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Another process collects in the same directory.
  case busy(String)
  /// The directory is not there.
  case noDirectory(String)
  /// The address cannot be listened on.
  case cannotListen(String)
  /// The reports cannot be read.
  case damaged(String)
  /// Too many devices fail, or none has tried.
  case withheld(String)

  package var description: String {
    switch self {
    case .busy(let text), .noDirectory(let text), .cannotListen(let text), .damaged(let text),
      .withheld(let text):
      text
    }
  }
}

extension FleetError: ProgramError {
  package var exitStatus: ExitStatus {
    switch self {
    case .busy: .temporary
    case .noDirectory: .noInput
    case .cannotListen: .unavailable
    case .damaged: .data
    case .withheld: .no
    }
  }
}
