import ArgumentParser
import Catalog
import CatalogHTTP
import CatalogOrigin
import CatalogWire
import DocumentFormat
import Documents
import LogStore
import Storage
import UploadQueue
import Workspace

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A command's end that is not success: what to say, and the exit code.
struct Failure: Error {
  let code: ExitStatus
  /// For standard error; empty where everything was said.
  let message: String

  init(_ code: ExitStatus, _ message: String = "") {
    self.code = code
    self.message = message
  }

  /// Says what went wrong and ends the process with its code.
  static func exit(_ error: any Error) -> Never {
    guard let failure = Failure(error) else { exit(parser: error) }
    if !failure.message.isEmpty { Console.say("catalogctl: " + failure.message + remedy(for: error)) }
    terminate(failure.code)
  }

  /// What can be done about damage that a command came upon; empty for everything else. What finds a catalogue damaged when it
  /// opens it says more.
  private static func remedy(for error: any Error) -> String {
    switch error {
    case StoreError.damaged, StoreError.unreadable, CatalogError.store(.damaged), CatalogError.store(.unreadable):
      "; 'catalogctl verify' says what is lost, and 'catalogctl verify --repair' saves what can be saved"
    default: ""
    }
  }

  /// Ends the process with what the argument parser has to say: help on standard output, where it has to arrive, and
  /// mistakes, with the arguments that they quote, on standard error.
  private static func exit(parser error: any Error) -> Never {
    // The parser lays out help for what it takes for the terminal's width, also to find the exit code, and traps where that
    // is narrower than its indents. Nothing else runs any more, so the environment may be changed.
    unsafe setenv("COLUMNS", "\(Console.helpColumns)", 1)
    let code = Catalogctl.exitCode(for: error)
    let text = Catalogctl.fullMessage(for: error)
    if code.isSuccess {
      if !text.isEmpty { Console.print(text) }
    } else {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      if !text.isEmpty { Console.show(lines.map { String($0).shown + "\n" }.joined()) }
    }
    // Nothing is open, and everything is out.
    terminate(code)
  }

  /// What an error of one of the modules means for the caller; `nil` for one of the argument parser.
  init?(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as StoreError: self = Failure(store: error)
    case let error as StorageError: self.init(Self.code(error), "\(error)")
    case let error as CatalogError: self = Failure(catalog: error)
    case let error as WorkspaceError: self = Failure(workspace: error)
    case let error as SettingsError: self = Failure(settings: error)
    case let error as WireError: self.init(.data, "\(error)")
    case let error as TransportError:
      self.init(Self.code(error), error.description(naming: ConnectionOptions.names))
    case let error as OriginError: self.init(Self.code(error), "\(error)")
    case let error as DocumentStoreError: self = Failure(documents: error)
    case let error as UploadQueueError: self.init(Self.code(error), "\(error)")
    case is CancellationError: self.init(.temporary, "interrupted; nothing was changed")
    case is ExitCode, is CleanExit, is ValidationError: return nil
    default:
      // Everything that the parser throws has a message of its own; so has what nobody foresaw.
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

  private init(documents error: DocumentStoreError) {
    switch error {
    case .store(let cause): self.init(store: cause)
    case .document(_, _, let cause as StoreError): self.init(store: cause)
    case .name, .path: self.init(.usage, "\(error)")
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
    case .nobodySignedIn:
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
    // A link could lead out of the root.
    error.kind == .other && error.code == ELOOP ? .permission : ExitStatus(error)
  }

  private static func code(_ error: TransportError) -> ExitStatus {
    switch error {
    case .invalidURL, .invalidHeader, .invalidProxy: .usage
    case .certificateFile: .noInput
    default: .unavailable
    }
  }

  private static func code(_ error: OriginError) -> ExitStatus {
    switch error {
    case .cannotListen: .unavailable
    case .fileUnreadable: .noInput
    default: .data
    }
  }
}
