import DocumentFormat
import Essentials
package import JSONFormat
import TextFormat

extension Upload {
  /// The upload as JSON.
  package var json: JSONText {
    let payload: JSONText =
      switch payload {
      case .value(let value), .document(let value, _): .document(value)
      case .json(let json): .raw(json)
      case .file(let file):
        .object([("file", .text(file.path)), ("bytes", .int(file.byteCount)), ("sha256", .text(file.sha256))])
      }
    var files: [(String, JSONText)] = []
    if case .document(_, let parts) = self.payload, !parts.isEmpty {
      let all = parts.map { part in
        JSONText.object([
          ("name", .text(part.name)), ("contentType", .text(part.contentType)), ("file", .text(part.file.path)),
          ("bytes", .int(part.file.byteCount)), ("sha256", .text(part.file.sha256)),
        ])
      }
      files = [("files", .array(all))]
    }
    let error: JSONText =
      lastError.map { error in
        .object([("status", error.status.map(JSONText.int) ?? .null), ("message", .text(error.message))])
      } ?? .null
    return .object(
      [
        ("id", .text(id.text)), ("kind", .text(kind)), ("state", .text(state.rawValue)),
        ("priority", .text(priority.name)),
        ("orderKey", .optional(orderKey)), ("replaceKey", .optional(replaceKey)), ("created", .text(created.stamp)),
        ("notBefore", .optional(notBefore?.stamp)),
        ("expires", .optional(expires?.stamp)), ("attempts", .int(attempts)),
        ("lastError", error), ("parked", .optional(parked?.stamp)), ("holdsKey", .bool(holdsKey)), ("payload", payload),
      ] + files)
  }
}

extension JSONText {
  /// The text of an upload as it is, but on one line; as a string where another program stored what is not JSON.
  fileprivate static func raw(_ json: UploadJSON) -> JSONText {
    (try? json.value()) == nil ? .text(String(decoding: json.line, as: UTF8.self)) : .raw(json.line)
  }
}

extension UploadPriority {
  /// The name of a level.
  package var name: String {
    switch self {
    case .low: "low"
    case .normal: "normal"
    case .high: "high"
    }
  }
}

extension QueueCounts {
  /// The numbers under their names, in the order in which they are shown.
  package var numbers: [(name: String, count: Int)] {
    [
      ("waiting", waiting), ("sending", sending), ("parked", parked), ("bytes", byteCount), ("enqueued", enqueued),
      ("delivered", delivered), ("superseded", superseded), ("dropped", dropped), ("refused", refused),
      ("expired", expired), ("removed", removed),
    ]
  }

  /// The counts as JSON, with the state of the queue.
  ///
  /// - Parameters:
  ///   - pauses: The reasons for which the queue is paused.
  ///   - heldKeys: The order keys that parked uploads hold.
  package func json(_ pauses: Set<PauseReason>, heldKeys: [HeldKey] = []) -> JSONText {
    let reasons = pauses.map(\.rawValue).sorted().map(JSONText.text)
    return .object(
      numbers.map { ($0.name, JSONText.int($0.count)) }
        + [("paused", .array(reasons)), ("heldKeys", .array(heldKeys.map(\.json)))])
  }
}

extension HeldKey {
  /// The held key as JSON.
  package var json: JSONText {
    .object([
      ("orderKey", .text(orderKey)), ("kind", .text(kind)), ("upload", .text(upload.text)), ("parked", .int(parked)),
      ("since", .optional(since?.stamp)), ("message", .optional(failure?.message)),
    ])
  }
}

extension Date {
  /// The date as text for programs: `2026-01-31T23:59:59Z`.
  fileprivate var stamp: String {
    let milliseconds = (timeIntervalSince1970 * 1000).rounded(.down)
    let nearest: Int64 = milliseconds > 0 ? .max : .min
    return CivilTime(milliseconds: Int64(exactly: milliseconds) ?? nearest).secondsText
  }
}
