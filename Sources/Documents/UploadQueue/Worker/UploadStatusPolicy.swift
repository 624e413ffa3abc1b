/// The meaning of a response's status code for an upload and its destination.
///
/// | status | list | meaning |
/// |---|---|---|
/// | 2xx | always | delivered, unless a success rule does not hold |
/// | 3xx, 401, 403, 404, 405, 407, 410, 415, 421 | ``pauseOn`` | the problem is the receiver: it is *paused*, and probed with growing pauses; nothing is parked |
/// | 400, 409, 413, 422 and every other 4xx | ``parkOn`` | the problem is this upload: it is parked after its retries |
/// | 408, 425, 429, 5xx and everything else | in neither list | tried again later |
///
/// A single status takes precedence over its class: with `parkOn` of `4xx` and `pauseOn` of `404`, 404 pauses. 408, 425
/// and 429 are retried unless a list contains them individually.
public struct UploadStatusPolicy: Sendable, Equatable {
  /// The meaning of a status.
  public enum Meaning: Sendable, Equatable, CaseIterable {
    /// The upload was delivered.
    case delivered
    /// The same upload may succeed later.
    case retry
    /// The receiver refuses this upload. It is parked after its retries.
    case park
    /// The receiver accepts no uploads at all. It is paused.
    case pause
  }

  /// The statuses that pause a destination by default.
  public static let defaultPauseOn = ["3xx", "401", "403", "404", "405", "407", "410", "415", "421"]
    .map(UploadStatus.literal)
  /// The statuses that park an upload after its retries by default.
  public static let defaultParkOn = [UploadStatus.literal("4xx")]

  private static let retriedByThemselves: Set<Int> = [408, 425, 429]

  /// The statuses that pause the destination.
  public let pauseOn: [UploadStatus]
  /// The statuses that park an upload after its retries.
  public let parkOn: [UploadStatus]

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - pauseOn: The statuses that pause the destination; `nil` for the defaults that `parkOn` does not contain.
  ///   - parkOn: The statuses that park an upload after its retries; `nil` for the defaults that `pauseOn` does not
  ///     contain.
  /// - Throws: ``UploadStatusPolicyError`` if both lists contain a status.
  public init(pauseOn: [UploadStatus]? = nil, parkOn: [UploadStatus]? = nil) throws(UploadStatusPolicyError) {
    if let both = pauseOn?.first(where: { parkOn?.contains($0) ?? false }) {
      throw UploadStatusPolicyError(status: both)
    }
    self.init(pausing: pauseOn, parking: parkOn)
  }

  /// Creates the default policy.
  public init() { self.init(pausing: nil, parking: nil) }

  /// Creates a policy. If both lists contain a status, `pausing` takes precedence.
  private init(pausing: [UploadStatus]?, parking: [UploadStatus]?) {
    pauseOn = pausing ?? Self.defaultPauseOn.filter { !(parking ?? []).contains($0) }
    parkOn = parking ?? Self.defaultParkOn.filter { !(pausing ?? []).contains($0) }
  }

  /// The meaning of a status code. Complexity: O(*n*) in the length of the lists.
  public func meaning(of status: Int) -> Meaning {
    if (200...299).contains(status) { return .delivered }
    if pauseOn.contains(.one(status)) { return .pause }
    if parkOn.contains(.one(status)) { return .park }
    if Self.retriedByThemselves.contains(status) || status < 0 { return .retry }
    if pauseOn.contains(.class(status / 100)) { return .pause }
    if parkOn.contains(.class(status / 100)) { return .park }
    return .retry
  }
}

/// An HTTP status code, or a class of them.
public enum UploadStatus: Sendable, Hashable, CustomStringConvertible {
  /// One status code, for example 404.
  case one(Int)
  /// A class, by its first digit: 4 for 400 to 499.
  case `class`(Int)

  /// Parses `404` or `4xx`. A code or class of 2xx is rejected, because 2xx always means success.
  ///
  /// - Returns: `nil` if the text is anything else.
  public init?(_ text: some StringProtocol) {
    if text.utf8.count == 3, let first = text.first?.wholeNumberValue, [1, 3, 4, 5].contains(first) {
      if text.dropFirst().lowercased() == "xx" {
        self = .class(first)
        return
      }
      if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let status = Int(text) {
        self = .one(status)
        return
      }
    }
    return nil
  }

  fileprivate static func literal(_ text: String) -> UploadStatus {
    guard let status = UploadStatus(text) else { preconditionFailure("\(text) is no status") }
    return status
  }

  /// The status as options write it: `404`, or `4xx` for a class.
  public var description: String {
    switch self {
    case .one(let status): "\(status)"
    case .class(let digit): "\(digit)xx"
    }
  }
}

/// A status is in both lists: to pause the destination and to park the upload.
public struct UploadStatusPolicyError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The status that is in both lists.
  public let status: UploadStatus

  /// The status and what to do, for people.
  public var description: String { "\(status) cannot both pause the target and park the upload; keep it in one list" }
}
