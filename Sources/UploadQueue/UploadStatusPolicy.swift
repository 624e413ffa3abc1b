/// What the status of an answer means for an upload, and for the destination that gave it.
///
/// | status | by default | means |
/// |---|---|---|
/// | 2xx | always | delivered, unless a success rule says otherwise |
/// | 3xx, 401, 403, 404, 405, 407, 410, 415, 421 | ``pauseOn`` | the answer is about the receiver: it is *paused*, and probed with growing pauses; nothing is parked |
/// | 400, 409, 413, 422 and every other 4xx | ``parkOn`` | the answer is about this upload: it is parked after its retries |
/// | 408, 425, 429, 5xx and everything else | in neither list | tried again later |
///
/// A status that is listed by itself counts before its class: with `parkOn` of `4xx` and `pauseOn` of `404`, 404 pauses. 408, 425 and
/// 429 are tried again unless they are listed by themselves.
public struct UploadStatusPolicy: Sendable, Equatable {
  /// What a status means.
  public enum Meaning: Sendable, Equatable, CaseIterable {
    /// The upload arrived.
    case delivered
    /// The same upload may pass later.
    case retry
    /// The receiver refuses this upload: it is parked after its retries.
    case park
    /// The receiver takes no uploads, whatever they are: it is paused.
    case pause
  }

  /// Statuses that pause a destination, where nothing else is said.
  public static let defaultPauseOn = ["3xx", "401", "403", "404", "405", "407", "410", "415", "421"]
    .map(UploadStatus.known)
  /// Statuses that park an upload after its retries, where nothing else is said.
  public static let defaultParkOn = [UploadStatus.known("4xx")]

  private static let retriedByThemselves: Set<Int> = [408, 425, 429]

  /// Statuses that pause the destination.
  public let pauseOn: [UploadStatus]
  /// Statuses that park an upload after its retries.
  public let parkOn: [UploadStatus]

  /// - Parameters:
  ///   - pauseOn: Statuses that pause the destination; `nil` for the default ones that `parkOn` does not list.
  ///   - parkOn: Statuses that park an upload after its retries; `nil` for the default ones that `pauseOn` does not list.
  /// - Throws: ``UploadStatusPolicyError`` for a status that both lists have.
  public init(pauseOn: [UploadStatus]? = nil, parkOn: [UploadStatus]? = nil) throws(UploadStatusPolicyError) {
    if let both = pauseOn?.first(where: { parkOn?.contains($0) ?? false }) {
      throw UploadStatusPolicyError(status: both)
    }
    self.init(pausing: pauseOn, parking: parkOn)
  }

  /// The default lists.
  public init() { self.init(pausing: nil, parking: nil) }

  /// Of a status in both lists the first one counts.
  private init(pausing: [UploadStatus]?, parking: [UploadStatus]?) {
    pauseOn = pausing ?? Self.defaultPauseOn.filter { !(parking ?? []).contains($0) }
    parkOn = parking ?? Self.defaultParkOn.filter { !(pausing ?? []).contains($0) }
  }

  /// What a status means. Complexity: in the length of the lists.
  public func meaning(of status: Int) -> Meaning {
    if (200...299).contains(status) { return .delivered }
    if pauseOn.contains(.one(status)) { return .pause }
    if parkOn.contains(.one(status)) { return .park }
    if Self.retriedByThemselves.contains(status) || status < 0 { return .retry }
    if pauseOn.contains(.hundred(status / 100)) { return .pause }
    if parkOn.contains(.hundred(status / 100)) { return .park }
    return .retry
  }
}

/// A status of HTTP, or all that begin with the same digit.
public enum UploadStatus: Sendable, Hashable, CustomStringConvertible {
  /// One status, such as 404.
  case one(Int)
  /// All with this first digit: 4 for 400 to 499.
  case hundred(Int)

  /// Reads `404` or `4xx`. 2xx is success and nothing else, so no status of it is taken.
  ///
  /// - Returns: `nil` for anything else.
  public init?(_ text: some StringProtocol) {
    if text.utf8.count == 3, let first = text.first?.wholeNumberValue, [1, 3, 4, 5].contains(first) {
      if text.dropFirst().lowercased() == "xx" {
        self = .hundred(first)
        return
      }
      if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let status = Int(text) {
        self = .one(status)
        return
      }
    }
    return nil
  }

  fileprivate static func known(_ text: String) -> UploadStatus {
    guard let status = UploadStatus(text) else { preconditionFailure("\(text) is no status") }
    return status
  }

  public var description: String {
    switch self {
    case .one(let status): "\(status)"
    case .hundred(let digit): "\(digit)xx"
    }
  }
}

/// A status is said to pause the destination and to park the upload.
public struct UploadStatusPolicyError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The status that both lists have.
  public let status: UploadStatus

  public var description: String { "\(status) cannot both pause the target and park the upload; keep it in one list" }
}
