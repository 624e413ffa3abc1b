import Documents
public import Essentials

/// An order key whose uploads wait because a parked upload holds it, until that upload is retried or dropped.
public struct HeldKey: Sendable, Equatable {
  /// The order key.
  public let orderKey: String
  /// The kind of the parked upload.
  public let kind: String
  /// The first parked upload that holds the key.
  public let upload: UploadID
  /// Why that upload is parked.
  public let failure: UploadFailure?
  /// When that upload was parked.
  public let since: Date?
  /// The number of parked uploads that hold the key.
  public internal(set) var parked: Int
}

/// The parked uploads of one kind.
public struct ParkedUploads: Sendable, Equatable {
  /// The kind.
  public let kind: String
  /// The number of parked uploads.
  public internal(set) var count: Int
  /// Why the last of them, in queue order, is parked.
  public internal(set) var failure: UploadFailure?
}

extension UploadQueue {
  /// The parked uploads grouped by kind, in bytewise order of the kinds.
  ///
  /// - Throws: `UploadQueueError.format`; `StoreError` if the queue cannot be read.
  /// - Complexity: O(*n*) in the number of parked uploads.
  package func parkedUploads() throws -> [ParkedUploads] {
    try Self.parkedUploads(parkedEntries(in: store.snapshot()))
  }

  static func parkedUploads(_ entries: [ScheduleEntry]) -> [ParkedUploads] {
    var found: [String: ParkedUploads] = [:]
    for entry in entries {
      found[entry.kind, default: ParkedUploads(kind: entry.kind, count: 0)].count += 1
      found[entry.kind]?.failure = entry.lastError
    }
    return found.values.sorted { $0.kind < $1.kind }
  }

  /// The entries of the parked uploads, in queue order.
  func parkedEntries(in snapshot: DocumentSnapshot) throws -> [ScheduleEntry] {
    guard try tables.state(in: snapshot).counts.parked > 0 else { return [] }
    return try tables.schedule.query(.in(\.state, [.parked])).results(in: snapshot).map { try $0.get() }
      .sorted { $0.id < $1.id }
  }

  /// The order keys that parked uploads hold, in queue order.
  ///
  /// - Throws: `UploadQueueError.format`; `StoreError` if the queue cannot be read.
  /// - Complexity: O(*n*) in the number of parked uploads.
  public func heldKeys() throws -> [HeldKey] { try Self.heldKeys(parkedEntries(in: store.snapshot())) }

  static func heldKeys(_ entries: [ScheduleEntry]) -> [HeldKey] {
    var keys: [HeldKey] = []
    var indexes: [String: Int] = [:]
    for entry in entries where entry.holdsKey == true {
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
