import Catalog
public import JSONOutput
public import Logging
public import ScanInputs
public import ServiceLifecycle
public import UploadQueue
public import Workspace

/// Everything that a daemon is, without its inputs and its HTTP interface.
public final class Daemon: ReadingHandler, Sendable {
  public let workspace: Workspace
  public let events: EventLog
  public let sessions: SetSessions
  public let sync: CatalogueSync

  /// Opens the stores, and signs in who is to be, if nobody is. Creates nothing else.
  ///
  /// - Throws: `WorkspaceError`; `UploadHTTPError`, `TransportError` for addresses and headers that are none.
  public init(_ options: DaemonOptions, logger: Logger) throws { fatalError("being built") }

  /// What runs, in the order in which it starts; ends in the reverse one.
  public var services: [any Service] { fatalError("being built") }

  // MARK: Scans

  /// What the catalogue says to a code, without any effect: no event, no upload, no entry in the journal.
  public func look(_ code: String) throws -> ScanAnswer { fatalError("being built") }

  /// Answers a scan: an event, its uploads, its entry in the journal where it found nothing. Returns when these are durable.
  public func scan(_ reading: Reading) async throws -> ScanAnswer { fatalError("being built") }

  public func answer(_ reading: Reading) async -> ReadingAnswer { fatalError("being built") }
  public func note(_ event: InputEvent, input: String) { fatalError("being built") }

  // MARK: The catalogue

  /// The catalogue of who is signed in, or of nobody.
  public func catalogue() throws -> CatalogSnapshot { fatalError("being built") }

  // MARK: Users

  /// Who is signed in.
  public func user() throws -> String? { fatalError("being built") }
  public func signIn(_ user: String) async throws { fatalError("being built") }
  public func signOut() async throws { fatalError("being built") }

  // MARK: Uploads

  /// The queue of who is signed in, to look at and to decide; its uploads are sent by ``services``.
  public func queue() throws -> UploadQueue { fatalError("being built") }

  // MARK: The miss journal

  /// Codes that found nothing, the last missed first.
  public func misses(limit: Int) throws -> [Miss] { fatalError("being built") }
  /// - Returns: how many there were.
  public func clearMisses() async throws -> Int { fatalError("being built") }

  // MARK: State

  /// Whether scans can be answered: the stores can be read.
  public var isReady: Bool { fatalError("being built") }

  /// Everything about the daemon: version, user, catalogue with its age, sync, queue, inputs, problems that last, counts.
  public func status() -> JSONText { fatalError("being built") }
}

/// A code that found nothing.
public struct Miss: Codable, Sendable, Equatable, Identifiable {
  /// The code.
  public var id: String
  public var count: Int
  /// Seconds since 1970.
  public var first: Double
  public var last: Double
  /// The input that read it last.
  public var input: String

  public var json: JSONText { fatalError("being built") }
}
