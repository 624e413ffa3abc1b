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
import Storage
import UploadQueue
import Workspace

extension Error {
  /// Whether the error is about a file that a newer version wrote. Advice about damage would harm it.
  var isAboutNewerFile: Bool {
    switch self as any Error {
    case let error as StoreError: error.isNewer
    case let error as CatalogError: error.isNewer
    case WorkspaceError.store(let error), WorkspaceError.settings(let error): error.isNewer
    case WorkspaceError.keys(.newer): true
    case DocumentStoreError.store(let error): error.isNewer
    default: false
    }
  }
}

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
    case is CancellationError: self.init(.temporary, "interrupted; nothing was changed")
    case let error as any ProgramError: self.init(error.exitStatus, Self.message(of: error))
    // All errors of the parser have messages of their own, and so do unexpected ones.
    default: return nil
    }
  }

  private static let keyOptions = "give it with --key-file FILE, --key-command COMMAND or --passphrase-file FILE"

  /// Whether the directory of a store has a file of keys.
  private static func hasKeys(besideStoreAt path: String) -> Bool {
    let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    guard let opened = try? PosixDirectory.open(directory) else { return false }
    return (try? opened.identity(of: KeyFile.name)) != nil
  }

  /// What an error says, with the commands and options that help.
  private static func message(of error: any ProgramError) -> String {
    switch error {
    case let error as TransportError: error.description(naming: ConnectionOptions.names)
    case SearchError.noIndex(let path):
      "\(path) has no index of words; 'catalogctl config set search.index on', then 'catalogctl compact', writes one"
    case WorkspaceError.settings:
      "\(error); 'catalogctl verify --repair' saves what can be saved, and --user ID does without it"
    case WorkspaceError.noSuchUser: "\(error); 'catalogctl users' names who has stores"
    case WorkspaceError.keys(.noKey): "\(error); \(keyOptions)"
    case StoreError.sealed(let path, isOtherKey: false), WorkspaceError.store(.sealed(let path, isOtherKey: false)),
      CatalogError.store(.sealed(let path, isOtherKey: false)),
      DocumentStoreError.store(.sealed(let path, isOtherKey: false)):
      hasKeys(besideStoreAt: path)
        ? "\(error); \(keyOptions)"
        : "\(path) is sealed, and the file of its keys, \(KeyFile.name), is not beside it; bring it back from a backup:"
          + " without it no key opens the store"
    case WorkspaceError.keys(.notSealed): "\(error); 'catalogctl seal' seals them"
    case WorkspaceError.notSignedIn:
      "nobody is signed in; run 'catalogctl login ID' first, or name a user with --user ID"
    default: "\(error)"
    }
  }
}
