import Documents

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An order key whose uploads wait because a parked one holds it, until somebody retries or drops that.
public struct HeldKey: Sendable, Equatable {
  /// The key.
  public let orderKey: String
  /// What the parked upload is.
  public let kind: String
  /// The first parked upload that holds it.
  public let upload: UploadID
  /// Why that one is parked.
  public let failure: UploadFailure?
  /// When that one was parked.
  public let since: Date?
  /// Parked uploads that hold it.
  public internal(set) var parked: Int
}

/// The parked uploads of one kind.
public struct ParkedUploads: Sendable, Equatable {
  /// What they are.
  public let kind: String
  /// How many there are.
  public internal(set) var count: Int
  /// Why the last one of them in the order of the queue is parked.
  public internal(set) var failure: UploadFailure?
}

extension UploadQueue {
  /// The parked uploads by kind, bytewise.
  ///
  /// - Throws: `UploadQueueError.format`; `StoreError` where the queue cannot be read.
  /// - Complexity: in the uploads that are parked.
  public func parkedUploads() throws -> [ParkedUploads] {
    var found: [String: ParkedUploads] = [:]
    for entry in try parkedEntries() {
      found[entry.kind, default: ParkedUploads(kind: entry.kind, count: 0)].count += 1
      found[entry.kind]?.failure = entry.lastError
    }
    return found.values.sorted { $0.kind < $1.kind }
  }

  private func parkedEntries() throws -> [ScheduleEntry] {
    let snapshot = try store.snapshot()
    guard try tables.state(in: snapshot).counts.parked > 0 else { return [] }
    return try tables.schedule.query(.in(\.state, [.parked])).results(in: snapshot).map { try $0.get() }
      .sorted { $0.id < $1.id }
  }

  /// The order keys that parked uploads hold, in the order of the queue.
  ///
  /// - Throws: `UploadQueueError.format`; `StoreError` where the queue cannot be read.
  /// - Complexity: in the uploads that are parked.
  public func heldKeys() throws -> [HeldKey] {
    var keys: [HeldKey] = []
    var indexes: [String: Int] = [:]
    for entry in try parkedEntries() where entry.holdsKey == true {
      guard let key = entry.orderKey else { continue }
      if let index = indexes[key] {
        keys[index].parked += 1
      } else {
        indexes[key] = keys.count
        keys.append(
          HeldKey(
            orderKey: key, kind: entry.kind, upload: entry.upload, failure: entry.lastError,
            since: entry.parked.map(Date.init(microseconds:)), parked: 1))
      }
    }
    return keys
  }
}
