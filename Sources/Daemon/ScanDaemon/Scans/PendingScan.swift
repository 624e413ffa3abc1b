import Documents
import Essentials
import ScanInputs

/// A scan that could not be looked up and waits for another lookup.
struct PendingScan: Codable, Sendable, Equatable, Identifiable {
  /// The maximum number of pending scans. Further ones are answered and sent once, as without
  /// ``DaemonOptions/rematches``.
  static let maximumCount = 100_000

  /// The id of the first answer.
  var id: String
  var code: String
  var input: String
  var tag: String?
  /// The symbology as the sender named it.
  var symbology: String?
  /// The bytes of a code that could not be decoded.
  var bytes: [UInt8]?
  /// The time at which the code was read, in seconds since 1970.
  var time: Double

  init(_ answer: ScanAnswer) {
    id = answer.id
    let reading = answer.reading.withoutSecrets
    code = reading.code
    input = reading.input
    tag = reading.tag
    symbology = reading.symbology
    bytes = reading.undecodedBytes
    time = answer.time.timeIntervalSince1970
  }

  var reading: Reading {
    guard let bytes else { return Reading(input: input, code: code, tag: tag, symbology: symbology) }
    return Reading(input: input, undecoded: bytes)
  }
}

extension UserDocuments {
  /// Records, within a transaction, a scan to look up later.
  ///
  /// - Returns: Whether there was room.
  func enter(_ scan: PendingScan, _ transaction: DocumentTransaction) throws -> Bool {
    guard try pending.count() < PendingScan.maximumCount else { return false }
    try transaction.upsert(scan, into: pending)
    return true
  }
}
