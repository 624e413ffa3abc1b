public import Catalog
public import JSONOutput

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A set session with what its scans make, judged by the catalogue as it is now.
public struct SetSession: Sendable, Equatable {
  public let id: String
  public let name: String?
  public let input: String?
  public let created: Date
  public let isClosed: Bool
  public let codes: [String]
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
  case unknown(String)
  case closed(String)
  case full(limit: Int)
  case tooMany(limit: Int)

  public var description: String {
    switch self {
    case .unknown(let id): "there is no set session \(id)"
    case .closed(let id): "the set session \(id) is closed; open another one"
    case .full(let limit): "a set session takes up to \(limit) scans; close it, and open another one"
    case .tooMany(let limit): "\(limit) set sessions are open, and no more may be; close some"
    }
  }
}
