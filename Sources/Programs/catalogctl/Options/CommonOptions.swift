import ArgumentParser
import Catalog
import Essentials
import LogStore
import Synchronization
import TextFormat
import Workspace

/// The options that select the root directory and the user.
struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Where the stores live; $CATALOG_ROOT, else $XDG_DATA_HOME/catalog, else ~/.local/share/catalog.",
      valueName: "dir"),
    completion: .directory)
  var root: String?

  @Option(help: ArgumentHelp("Whose stores to use; without it, who is signed in.", valueName: "id"))
  var user: String?

  @Option(
    help: ArgumentHelp(
      "The key of sealed stores, a file of 32 bytes for its owner alone; by default $CREDENTIALS_DIRECTORY/shelfmark.key.",
      valueName: "file"),
    completion: .file())
  var keyFile: String?

  @Option(
    help: ArgumentHelp(
      "A shell command that prints the key: 32 bytes, as they are, in hexadecimal or in base64.", valueName: "command"))
  var keyCommand: String?

  @Option(
    help: ArgumentHelp("The passphrase of sealed stores, the first line of a file.", valueName: "file"),
    completion: .file())
  var passphraseFile: String?

  func validate() throws {
    if root == "" { throw ValidationError("--root names no directory") }
    let given = [keyFile, keyCommand, passphraseFile].compactMap { $0 }
    if given.count > 1 { throw ValidationError("give --key-file, --key-command or --passphrase-file, one of them") }
    if given.contains("") { throw ValidationError("an empty text names no key") }
  }

  /// Where the key of sealed stores comes from; `nil` if none was given.
  var key: KeySource? {
    if let keyFile { return .keyFile(keyFile) }
    if let keyCommand { return .command(keyCommand) }
    if let passphraseFile { return .passphraseFile(passphraseFile) }
    return .credential(in: RawText.variable("CREDENTIALS_DIRECTORY"))
  }

  /// The stores. Warns on standard error, once per process, if their location is unsuitable.
  var workspace: WorkspaceDirectory {
    let workspace = uncheckedWorkspace
    warnOnce(of: workspace) { user ?? (try? workspace.currentUser()) ?? nil }
    return workspace
  }

  /// The stores, without a check of their location.
  private var uncheckedWorkspace: WorkspaceDirectory {
    let root = root ?? Self.defaultRoot
    let key = key
    return Self.opened.withLock { opened in
      if let workspace = opened, workspace.root == root, workspace.key == key { return workspace }
      var workspace = WorkspaceDirectory(root: root)
      workspace.notify = { Console.say("catalogctl: \($0)") }
      workspace.key = key
      opened = workspace
      return workspace
    }
  }

  /// The stores that were used last, so that a key is read, and opens what it opens, once.
  private static let opened = Mutex<WorkspaceDirectory?>(nil)

  /// Warns on standard error, once per process, if the location of the stores is unsuitable.
  private func warnOnce(of workspace: WorkspaceDirectory, user: () -> String?) {
    if Self.hasWarned.exchange(true, ordering: .relaxed) { return }
    for warning in workspace.warnings(for: user()) { Console.say("catalogctl: warning: \(warning)") }
  }

  /// Whether the warning was printed. Relaxed, because no other memory depends on it.
  private static let hasWarned = Atomic(false)

  private static var defaultRoot: String {
    if let root = RawText.variable("CATALOG_ROOT"), !root.isEmpty { return root }
    if let data = RawText.variable("XDG_DATA_HOME"), !data.isEmpty { return data + "/catalog" }
    return FileManager.default.homeDirectoryForCurrentUser.path + "/.local/share/catalog"
  }

  /// The selected user.
  ///
  /// - Throws: `WorkspaceError.notSignedIn`.
  func userID() throws -> String {
    if let user { return user }
    let workspace = uncheckedWorkspace
    // The settings are opened once, for the warning and for the result.
    let current = Result { try workspace.currentUser() }
    warnOnce(of: workspace) { (try? current.get()) ?? nil }
    guard let id = try current.get() else { throw WorkspaceError.notSignedIn }
    return id
  }

  /// The user's current catalogue; empty if the user has no catalogue. Creates nothing.
  func snapshot() throws -> CatalogSnapshot { try (history()?.current ?? .empty).declaring(fields()) }

  /// The declared fields of one's own, by the settings of the user and of the default store.
  ///
  /// - Throws: `SettingsError.unreadable` for a stored value that cannot be used.
  func fields() throws -> DeclaredFields { try workspace.fields(of: userID()) }

  /// How the user's scans are parsed and matched, by the settings of the user and of the default store.
  ///
  /// If the default store is damaged, its settings are ignored with a warning.
  ///
  /// - Throws: `MatchingSettingsError` for a stored value that cannot be used; `StoreError` if the user's settings
  ///   cannot be read.
  func matchingOptions() throws -> MatchingOptions {
    let (user, workspace) = (try userID(), workspace)
    var settings = MatchingSettings()
    try settings.fill(from: workspace.settings(of: user).snapshot(), of: user) { throw $0 }
    do { try settings.fill(from: workspace.settings(of: nil).snapshot(), of: nil) { throw $0 } } catch let error
      as StoreError
    {
      Console.say(
        "catalogctl: warning: settings \(MatchingSettings.Name.prefix)… of the default store do not count: \(error)")
    }
    return settings.options
  }

  /// The retained commits of the user's catalogue; `nil` if the user has no catalogue. Creates nothing.
  func history() throws -> CatalogHistory? {
    let user = try userID()
    guard let location = try workspace.catalogue(of: user) else { return nil }
    return try orRemedies(user) { try CatalogReader.open(location)?.history() }
  }

  /// A reader of the user's catalogue; `nil` if the user has no catalogue. Creates nothing.
  func reader() throws -> CatalogReader? {
    let user = try userID()
    guard let location = try workspace.catalogue(of: user) else { return nil }
    return try orRemedies(user) {
      let reader = try CatalogReader.open(location)
      // This checks whether the store is a catalogue.
      _ = try reader?.snapshot()
      return reader
    }
  }

  /// A commit of the user's catalogue.
  ///
  /// - Throws: `Failure` with exit code 1 if it is not retained.
  func commit(_ sequence: UInt64) throws -> CatalogSnapshot {
    guard let commit = try history()?.at(sequence) else { throw Failure.noCommit(sequence) }
    return commit.declaring(try fields())
  }

  /// The writer of the user's catalogue. Creates missing directories.
  ///
  /// - Parameter replacesDamaged: Whether to start with an empty catalogue if the existing one cannot be opened.
  func writer(lockTimeout: Duration = .zero, replacesDamaged: Bool = false) throws -> CatalogWriter {
    let user = try userID()
    return try orRemedies(user) {
      try workspace.catalogueWriter(of: user, lockTimeout: lockTimeout, replacesDamaged: replacesDamaged)
    }
  }

  /// Opens a catalogue. If it is damaged, the error includes advice.
  func orRemedies<Result>(_ user: String, _ open: () throws -> Result) throws -> Result {
    do { return try open() } catch {
      guard let location = try? workspace.catalogue(of: user),
        let failure = Failure(Self.cause(of: error, at: location)), failure.code == .data,
        error is StoreError || error is CatalogError, !error.isAboutNewerFile
      else { throw error }
      throw Failure(.data, "\(failure.message); \(location.remedies)")
    }
  }

  /// The actual cause of an error while opening a catalogue: if the store is of another kind, a reader reports that
  /// kind.
  private static func cause(of error: any Error, at location: StoreLocation) -> any Error {
    guard case StoreError.schema? = error as? StoreError else { return error }
    do { _ = try CatalogReader.open(location)?.snapshot() } catch let other as CatalogError { return other } catch {}
    return error
  }
}

/// The options that select a user's stores, or the default stores.
struct OwnerOptions: ParsableArguments {
  @OptionGroup var store: StoreOptions
  @Flag(name: .customLong("default"), help: "Use the default store, which belongs to nobody, instead of a user's.")
  var isDefault = false

  func validate() throws {
    if isDefault, store.user != nil { throw ValidationError("give --user or --default, one of them") }
  }

  /// The selected user; `nil` for the default stores.
  ///
  /// - Throws: `WorkspaceError.notSignedIn`.
  func userID() throws -> String? { isDefault ? nil : try store.userID() }
}

extension StoreLocation {
  /// Advice for a catalogue that cannot be opened.
  var remedies: String {
    guard let source = (try? catalogueRepairSources())?.first else {
      return "'catalogctl verify --repair' saves what can be saved; \(Self.replacementAdvice)"
    }
    return "\(source.words) is there: 'catalogctl verify --repair' goes back to it where nothing newer can be saved;"
      + " \(Self.replacementAdvice)"
  }

  static let replacementAdvice =
    "'catalogctl sync --full --replace-damaged' sets it aside and fetches everything anew, and 'catalogctl import FILE"
    + " --replace-damaged' takes everything from a file"
}

extension RepairSource {
  /// A description for people.
  var words: String {
    let name =
      switch kind {
      case .previous: "the generation before the last full update"
      case .sharedBase: "what it shares with other users"
      }
    let products = Quantity.of(snapshot.rowCount(0), "product")
    return "\(name) (commit \(snapshot.sequence) of \(Moment.text(snapshot.time)), \(products))"
  }
}

/// The options for waiting for another writer.
struct WriteOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("How long to wait for another process that is writing.", valueName: "seconds"))
  var wait: Double = 2

  func validate() throws {
    guard wait >= 0, wait <= 86_400 else { throw ValidationError("--wait is 0 to 86400 seconds") }
  }

  /// The duration ``wait``, with millisecond precision.
  var lockTimeout: Duration { .milliseconds(Int(wait * 1000)) }
}

/// The option that selects output for people or for programs.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON: one document, or one a line where there are many.")
  var json = false
}

/// Formats times for people and programs.
enum Moment {
  /// Microseconds since 1970 as `2026-01-31T23:59:59Z`.
  static func text(_ microseconds: Int64) -> String {
    CivilTime(milliseconds: Int64(Int(microseconds).dividedRoundingDown(by: 1000))).secondsText
  }
}
