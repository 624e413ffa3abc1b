import ArgumentParser
import Catalog
import JSONFormat
import Workspace

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy the user's stores into a new directory, also while others write.",
    discussion: """
      Each store is copied up to its last commit: catalogue, settings, documents with the upload queue, cached pages. \
      Every copy is verified. DIR must not exist, or be empty; the list backup.json is written last, so that a backup \
      that was interrupted is recognised. With --all, the stores of all users and those that belong to nobody. The \
      generation that a full update replaced is not part of it. 'catalogctl restore DIR' brings the stores back; \
      reading commands also take DIR as --root. Exit code 73 if DIR is not empty or lies in the root, 66 if there are no \
      stores, 65 if a store is damaged.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var scope: ScopeOptions
  @Argument(help: "The new or empty directory of the backup.", completion: .directory) var directory: String

  func validate() throws { try scope.check(store, directory) }

  func run() throws {
    let workspace = store.workspace
    let scope = try scope.scope(store)
    let backup = try workspace.backUp(to: directory, scope, program: "catalogctl \(Catalogctl.version)")
    DurableChange.report("the backup in \(directory) is complete")
    let sequence = scope.catalogue(in: backup.files, workspace)?.sequence
    if output.json { return scope.report(backup.files, sequence: sequence).print() }
    Console.print("\(scope.words(backup.files)) saved in \(directory.shown)")
  }
}

struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Bring the user's stores back from a backup, also while others read.",
    discussion: """
      First all of these stores of the backup are verified: if one is damaged, or the backup is incomplete, the exit \
      code is 65 and nothing is changed. A store that exists is replaced only with --force; without it the exit code \
      is 73 and nothing is changed. Each store is replaced atomically, as by a full update: a daemon goes on with what \
      was restored, without a restart. With --all, the stores of all users, who is signed in, and what belongs to \
      nobody. A store that the backup does not have stays as it is.

      The cursor goes back with the catalogue, so the next sync asks for everything since the backup. Uploads that \
      waited at the time of the backup wait again, and may be sent a second time. The catalogue that was replaced is \
      kept like that before a full update, so 'catalogctl rollback' can go back to it.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var scope: ScopeOptions
  @Flag(help: "Replace stores that exist.") var force = false
  @Argument(help: "The directory that 'catalogctl backup' was given.", completion: .directory) var directory: String

  func validate() throws { try scope.check(store, directory) }

  func run() throws {
    var workspace = store.workspace
    workspace.lockTimeout = write.lockTimeout
    let scope = try scope.scope(store)
    var begun: [String] = []
    let files: [Backup.File]
    do {
      files = try workspace.restore(from: directory, scope, replaces: force) { begun.append($0) }
    } catch {
      if begun.count > 1 {
        Console.say(
          "catalogctl: \(begun.dropLast().joined(separator: ", ")) restored, the others not: see to what follows, and run"
            + " the command again with --force")
      }
      throw error
    }
    DurableChange.report("the stores are restored")
    let sequence = try scope.catalogueUser(workspace).flatMap { try workspace.sequence(of: $0) }
    if output.json {
      scope.report(files, sequence: sequence).print()
    } else {
      Console.print("\(scope.words(files)) restored from \(directory.shown)")
    }
    let missing = (try? workspace.storesMissing(in: files, scope)) ?? []
    if !missing.isEmpty {
      Console.say("the backup does not have these stores, which stay as they are: \(missing.joined(separator: ", "))")
    }
  }
}

/// The option that selects the stores of one user or of everybody.
struct ScopeOptions: ParsableArguments {
  @Flag(help: "The stores of all users, and those that belong to nobody.") var all = false

  func check(_ store: StoreOptions, _ directory: String) throws {
    if all, store.user != nil { throw ValidationError("give --user or --all, one of them") }
    if directory.isEmpty { throw ValidationError("the argument names no directory") }
  }

  func scope(_ store: StoreOptions) throws -> BackupScope { all ? .all : .user(try store.userID()) }
}

extension BackupScope {
  /// The user whose catalogue a report is about: of everybody's, that of who is signed in.
  fileprivate func catalogueUser(_ workspace: WorkspaceDirectory) -> String? {
    user ?? (try? workspace.currentUser()) ?? nil
  }

  fileprivate func catalogue(in files: [Backup.File], _ workspace: WorkspaceDirectory) -> Backup.File? {
    guard let user = catalogueUser(workspace) else { return nil }
    return files.first { $0.store == "catalogue" && $0.user == user }
  }

  fileprivate func report(_ files: [Backup.File], sequence: Int?) -> JSONText {
    .object([
      ("files", .int(files.count)), ("bytes", .int(files.reduce(0) { $0 + $1.bytes })),
      ("sequence", sequence.map(JSONText.int) ?? .null),
    ])
  }

  fileprivate func words(_ files: [Backup.File]) -> String {
    "\(Quantity.of(files.count, "store")) of \(user?.shown ?? "everybody") (\(Quantity.bytes(files.reduce(0) { $0 + $1.bytes })))"
  }
}

extension WorkspaceDirectory {
  /// The number of the last commit of a user's catalogue; `nil` if there is none.
  fileprivate func sequence(of user: String) throws -> Int? {
    guard let location = try catalogue(of: user) else { return nil }
    return try CatalogReader.open(location).map { Int(clamping: try $0.snapshot().sequence) }
  }
}
