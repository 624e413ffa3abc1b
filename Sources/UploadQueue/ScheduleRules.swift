/// What a schedule must know of a worker's options.
struct ScheduleRules: Sendable {
  /// Where uploads of a kind go.
  var destination: @Sendable (_ kind: String) -> String = { _ in "" }
  /// What becomes of later uploads with the order key of a parked one; `nil` for ``OnParked/continue``.
  var holds: (@Sendable (_ kind: String, _ orderKey: String) -> OnParked)?
  /// How uploads of a kind go together; `nil` where each goes alone.
  var batch: @Sendable (_ kind: String) -> UploadBatchOptions? = { _ in nil }

  /// Whether a parked upload may hold its order key.
  var mayHold: Bool { holds != nil }

  func onParked(_ kind: String, _ orderKey: String) -> OnParked { holds?(kind, orderKey) ?? .continue }
}

/// What becomes of later uploads with the order key of a parked one.
public enum OnParked: String, Sendable, CaseIterable {
  /// They go on.
  case `continue`
  /// They wait until somebody retries or drops the parked one.
  case hold
}
