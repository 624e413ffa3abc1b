import Documents
package import Essentials

/// Uploads that are old enough to be forgotten.
package struct ForgottenUploads: Sendable, Equatable {
  /// The number of uploads that waited or were parked.
  package var count = 0
  /// The number of uploads that are being sent, and stay.
  package var beingSent = 0

  /// No uploads.
  package init() {}
}

extension UploadQueue {
  /// Counts the uploads that ``forget(enqueuedBefore:expires:)`` would remove now.
  package func forgettable(enqueuedBefore time: Date?) throws -> ForgottenUploads {
    let snapshot = try store.snapshot()
    _ = try tables.state(in: snapshot)
    return try tables.schedule.query().results(in: snapshot).reduce(into: ForgottenUploads()) { found, result in
      let entry = try result.get()
      guard entry.isOlder(than: time) else { return }
      if entry.state == .sending { found.beingSent += 1 } else { found.count += 1 }
    }
  }

  /// Removes the uploads that were enqueued before a time, parked ones too, in one commit. Those that are being sent
  /// stay.
  ///
  /// Their bytes stay in the file until it is compacted.
  ///
  /// - Parameters:
  ///   - time: The time; `nil` to remove all.
  ///   - expires: Whether they count as expired, and not as removed by hand.
  package func forget(enqueuedBefore time: Date?, expires: Bool = false) async throws -> ForgottenUploads {
    try await group.perform { change in
      var found = ForgottenUploads()
      for entry in try self.entries(change, Set(UploadState.allCases)) where entry.isOlder(than: time) {
        if entry.state == .sending {
          found.beingSent += 1
          continue
        }
        if expires { try change.expire(entry) } else { try change.drop(entry) }
        found.count += 1
      }
      return found
    }
  }
}

extension ScheduleEntry {
  fileprivate func isOlder(than time: Date?) -> Bool { time.map { created < $0.microseconds } ?? true }
}
