import ArgumentParser
import Catalog
import CatalogHTTP
import CatalogOrigin
import DocumentFormat
import Documents
import LogStore
import Platform
import RowSources
import RowFiles
import ServerAnswers
import UploadQueue
import Workspace

/// An unsuccessful end of a command: a message and an exit code.
struct Failure: Error {
  let code: ExitStatus
  /// The message for standard error; empty if everything was already reported.
  let message: String

  init(_ code: ExitStatus, _ message: String = "") {
    self.code = code
    self.message = message
  }

  /// Prints the error's message and ends the process with its exit code.
  static func exit(_ error: any Error) -> Never {
    guard let failure = Failure(error) else { exit(parser: error) }
    if !failure.message.isEmpty { Console.say("catalogctl: " + failure.message + remedy(for: error)) }
    terminate(failure.code)
  }

  /// Advice for damage that a command found; empty for all other errors. Code that finds a catalogue damaged when it
  /// opens it gives more detailed advice.
  private static func remedy(for error: any Error) -> String {
    switch error {
    case StoreError.damaged, StoreError.unreadable, CatalogError.store(.damaged), CatalogError.store(.unreadable):
      "; 'catalogctl verify' says what is lost, and 'catalogctl verify --repair' saves what can be saved"
    default: ""
    }
  }

  /// Ends the process with the argument parser's output: help on standard output, where a failed write is an error, and
  /// errors, which quote arguments, on standard error.
  private static func exit(parser error: any Error) -> Never {
    // The parser formats help for the width of the terminal, also to compute the exit code, and traps if that is less
    // than its indentation. Nothing else is running any more, so changing the environment is safe.
    unsafe setenv("COLUMNS", "\(Console.helpColumns)", 1)
    let code = Catalogctl.exitCode(for: error)
    let text = Catalogctl.fullMessage(for: error)
    if code.isSuccess {
      if !text.isEmpty { Console.print(text) }
    } else {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      if !text.isEmpty { Console.show(lines.map { String($0).shown + "\n" }.joined()) }
    }
    // Nothing is open, and all output is written.
    terminate(code)
  }

  /// The failure for an error of one of the modules; `nil` for an error of the argument parser.
  init?(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as StoreError: self = Failure(store: error)
    case let error as StorageError: self.init(Self.code(error), "\(error)")
    case let error as CatalogError: self = Failure(catalog: error)
    case let error as SearchError: self = Failure(search: error)
    case let error as WorkspaceError: self = Failure(workspace: error)
    case let error as SettingsError: self = Failure(settings: error)
    case let error as MatchingSettingsError: self.init(error.store == nil ? .usage : .data, "\(error)")
    case let error as WireError: self.init(.data, "\(error)")
    case let error as RowFileError: self.init(.data, "\(error)")
    case let error as TransportError:
      self.init(Self.code(error), error.description(naming: ConnectionOptions.names))
    case let error as OriginError: self.init(Self.code(error), "\(error)")
    case let error as DocumentStoreError: self = Failure(documents: error)
    case let error as UploadQueueError: self.init(Self.code(error), "\(error)")
    case let error as DatabaseError: self.init(Self.code(error), "\(error)")
    case is CancellationError: self.init(.temporary, "interrupted; nothing was changed")
    case is ExitCode, is CleanExit, is ValidationError: return nil
    default:
      // All errors of the parser have messages of their own, and so do unexpected ones.
      return nil
    }
  }

  private init(store error: StoreError) {
    let code: ExitStatus =
      switch error {
      case .unusable, .damaged, .schema, .tooLarge: .data
      case .locked, .replaced, .closed: .temporary
      case .io(let cause): Self.code(cause)
      case .unreadable, .poisoned, .full, .noRoom: .io
      case .forked: .software
      }
    self.init(code, "\(error)")
  }

  private init(catalog error: CatalogError) {
    switch error {
    case .store(let cause): self.init(store: cause)
    case .cursorMoved: self.init(.temporary, "\(error)")
    default: self.init(.data, "\(error)")
    }
  }

  private init(search error: SearchError) {
    switch error {
    case .store(let cause): self.init(store: cause)
    case .noIndex(let path):
      self.init(
        .data,
        "\(path) has no index of words; 'catalogctl config set search.index on', then 'catalogctl compact', writes one")
    case .noOrder: self.init(.data, "\(error)")
    case .otherOrder: self.init(.usage, "\(error)")
    }
  }

  private init(documents error: DocumentStoreError) {
    switch error {
    case .store(let cause): self.init(store: cause)
    case .document(_, _, let cause as StoreError): self.init(store: cause)
    case .name, .path, .cursor: self.init(.usage, "\(error)")
    default: self.init(.data, "\(error)")
    }
  }

  private init(workspace error: WorkspaceError) {
    switch error {
    case .store(let cause): self.init(store: cause)
    case .settings(let cause):
      self.init(
        Failure(store: cause).code,
        "\(error); 'catalogctl verify --repair' saves what can be saved, and --user ID does without it")
    case .noSuchUser: self.init(.no, "\(error); 'catalogctl users' names who has stores")
    case .closed: self.init(.temporary, "\(error)")
    case .userID: self.init(.usage, "\(error)")
    case .notSignedIn:
      self.init(.usage, "nobody is signed in; run 'catalogctl login ID' first, or name a user with --user ID")
    }
  }

  private init(settings error: SettingsError) {
    let code: ExitStatus =
      switch error {
      case .name, .value: .usage
      case .type, .unreadable: .data
      case .closed: .temporary
      }
    self.init(code, "\(error)")
  }

  private static func code(_ error: UploadQueueError) -> ExitStatus {
    switch error {
    case .unknown: .no
    case .text, .field, .name: .usage
    case .payloadTooLarge, .isFile, .changed, .format: .data
    case .unreadable: .noInput
    case .full, .isBeingSent, .tooManyWorkers: .temporary
    }
  }

  private static func code(_ error: StorageError) -> ExitStatus {
    // A symbolic link could lead out of the root directory.
    error.kind == .other && error.code == ELOOP ? .permission : ExitStatus(error)
  }

  private static func code(_ error: TransportError) -> ExitStatus {
    switch error {
    case .invalidURL, .invalidHeader, .invalidProxy: .usage
    case .certificateFile: .noInput
    default: .unavailable
    }
  }

  private static func code(_ error: DatabaseError) -> ExitStatus {
    switch error {
    case .notBuilt, .noRows, .columnTwice, .columnMissing, .sinceType: .usage
    case .refused(_, let state, _):
      switch state.prefix(2) {
      // A faulty statement, something the server cannot do, a statement that writes.
      case "42", "0A", "25": .usage
      // A faulty value, as in a division by zero.
      case "22": .data
      default: .unavailable
      }
    case .noLibrary, .unreachable, .connectTimeout: .unavailable
    case .interrupted: .temporary
    }
  }

  private static func code(_ error: OriginError) -> ExitStatus {
    switch error {
    case .databaseFailed(_, let cause): code(cause)
    case .cannotListen: .unavailable
    case .fileUnreadable: .noInput
    default: .data
    }
  }
}
