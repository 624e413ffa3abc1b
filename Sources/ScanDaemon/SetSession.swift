public import Catalog
public import JSONFormat

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A set session with what its scans make, judged by the catalogue as it is now.
public struct SetSession: Sendable, Equatable {
  /// A UUID of version 7, as text.
  public let id: String
  /// For people; up to 200 bytes.
  public let name: String?
  /// The input that it was opened for. Another session may have taken it since.
  public let input: String?
  /// When it was opened.
  public let created: Date
  /// Whether it takes no more scans.
  public let isClosed: Bool
  /// What was scanned, in that order.
  public let codes: [String]
  /// Which sets are complete, and what the others lack.
  public let completion: SetCompletion

  /// What programs are told: `id`, `name`, `input`, `created`, `closed`, `codes`, and as `completion` all that
  /// `catalogctl complete --json` says.
  public var json: JSONText {
    .object([
      ("id", .text(id)), ("name", .optional(name)), ("input", .optional(input)), ("created", .text(created.precise)),
      ("closed", .bool(isClosed)), ("codes", .array(codes.map(JSONText.text))), ("completion", completion.json),
    ])
  }
}

/// Why a session cannot do it.
public enum SetSessionError: Error, Sendable, Equatable, CustomStringConvertible {
  /// There is no session with this id: it was removed, made room, or is another user's.
  case unknown(String)
  /// It takes no more scans.
  case closed(String)
  /// It would have more scans than it may; none was added.
  case full(limit: Int)
  /// As many are open as may be.
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
