public import Catalog
public import Essentials
public import JSONFormat

/// A set session: the scanned codes and the sets that they complete in the current catalogue.
public struct SetSession: Sendable, Equatable {
  /// A UUID of version 7, as text.
  public let id: String
  /// A name for people, up to 200 bytes.
  public let name: String?
  /// The input that the session was opened for. Another session may hold the input since.
  public let input: String?
  /// The time at which the session was opened.
  public let created: Date
  /// Whether the session accepts no more scans.
  public let isClosed: Bool
  /// The scanned codes, in the order of the scans.
  public let codes: [String]
  /// The complete sets, and the components that the other sets lack.
  public let completion: SetCompletion

  /// The session as JSON: `id`, `name`, `input`, `created`, `closed`, `codes`, and, as `completion`, all fields of
  /// `catalogctl complete --json`.
  public var json: JSONText {
    .object([
      ("id", .text(id)), ("name", .optional(name)), ("input", .optional(input)), ("created", .text(created.precise)),
      ("closed", .bool(isClosed)), ("codes", .array(codes.map(JSONText.text))), ("completion", completion.json),
    ])
  }
}

/// An error of an operation on set sessions.
public enum SetSessionError: Error, Sendable, Equatable, CustomStringConvertible {
  /// There is no session with this id: it was removed, dropped to make room, or belongs to another user.
  case unknown(String)
  /// The session accepts no more scans.
  case closed(String)
  /// The session would exceed its maximum number of scans; none was added.
  case full(limit: Int)
  /// The maximum number of sessions is already open.
  case tooMany(limit: Int)

  /// Why a scan or a session was refused and what to do, for people.
  public var description: String {
    switch self {
    case .unknown(let id): "there is no set session \(id)"
    case .closed(let id): "the set session \(id) is closed; open another one"
    case .full(let limit): "a set session takes up to \(limit) scans; close it, and open another one"
    case .tooMany(let limit): "\(limit) set sessions are open, and no more may be; close some"
    }
  }
}
