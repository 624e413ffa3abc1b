public import Catalog
public import JSONOutput

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Sets that are being put together, scan by scan. They are documents of the user, so they survive the daemon.
public final class SetSessions: Sendable {
  /// Begins a session.
  ///
  /// - Parameters:
  ///   - name: for people.
  ///   - input: scans of this input count for the session until it is closed, or another one takes the input.
  /// - Throws: ``SetSessionError/tooMany``; what a commit throws.
  public func open(name: String?, input: String?) async throws -> SetSession { fatalError("being built") }

  /// The sessions of who is signed in, the youngest first.
  public func list() throws -> [SetSession] { fatalError("being built") }

  /// - Throws: ``SetSessionError/unknown``.
  public func session(_ id: String) throws -> SetSession { fatalError("being built") }

  /// Adds scans.
  ///
  /// - Throws: ``SetSessionError/unknown``, `.closed`, `.full`; what a commit throws.
  @discardableResult
  public func add(_ codes: [String], to id: String) async throws -> SetSession { fatalError("being built") }

  /// Ends a session, which stays until it is removed.
  public func close(_ id: String) async throws -> SetSession { fatalError("being built") }

  /// - Throws: ``SetSessionError/unknown``.
  public func remove(_ id: String) async throws { fatalError("being built") }
}

/// A set session with what its scans make, judged by the catalogue as it is now.
public struct SetSession: Sendable, Equatable {
  public let id: String
  public let name: String?
  public let input: String?
  public let created: Date
  public let isClosed: Bool
  public let codes: [String]
  public let completion: SetCompletion

  public var json: JSONText { fatalError("being built") }
}

/// Why a session cannot do it.
public enum SetSessionError: Error, Sendable, Equatable, CustomStringConvertible {
  case unknown(String)
  case closed(String)
  case full(limit: Int)
  case tooMany(limit: Int)

  public var description: String { fatalError("being built") }
}
