/// The part of a worker's options that a schedule needs.
struct ScheduleRules: Sendable {
  /// The destination of a kind's uploads.
  var destination: @Sendable (_ kind: String) -> String = { _ in "" }
  /// Returns the rule for later uploads with the order key of a parked one; `nil` for ``ParkedUploadPolicy/continue``.
  var holds: (@Sendable (_ kind: String, _ orderKey: String) -> ParkedUploadPolicy)?
  /// The batch limits of a kind; `nil` to send each upload alone.
  var batch: @Sendable (_ kind: String) -> UploadBatchOptions? = { _ in nil }

  /// The longest pause of a kind's uploads, for those whose pause was written without its length.
  var longestPause: @Sendable (_ kind: String) -> Duration = { _ in UploadRetryPolicy().longestPause }

  /// Whether a parked upload may hold its order key.
  var mayHold: Bool { holds != nil }

  func onParked(_ kind: String, _ orderKey: String) -> ParkedUploadPolicy { holds?(kind, orderKey) ?? .continue }
}

/// The rule for later uploads with the order key of a parked one.
public enum ParkedUploadPolicy: String, Sendable, CaseIterable {
  /// Later uploads continue.
  case `continue`
  /// Later uploads wait until the parked one is retried or dropped.
  case hold
}
