import ArgumentParser
import JSONFormat
import Platform
import Workspace

struct UsersRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a user with everything that the user has here.",
    discussion: """
      The user's catalogue, settings and documents are deleted and cannot be restored; a user who is signed in is \
      signed out first. Data that other users share with this one is kept. The keys of a sealed user are destroyed \
      before anything else, for which no key is needed. On a terminal the command asks first; elsewhere --yes is \
      required. Exit code 1 if there is no such user.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions
  @Flag(help: "Do not ask.") var yes = false
  @Argument(help: "The user's id.") var id: String

  func validate() throws {
    if let user = store.user, user != id {
      throw ValidationError("remove takes the user's id as its argument, not as --user")
    }
  }

  func run() throws {
    var workspace = store.workspace
    workspace.lockTimeout = write.lockTimeout
    // Report an invalid id as such; do not ask for confirmation about a user that does not exist.
    guard try workspace.hasUser(id) else { throw WorkspaceError.noSuchUser(id) }
    if !yes { try ask(workspace) }
    guard try workspace.remove(id) else { throw WorkspaceError.noSuchUser(id) }
    DurableChange.report("the user was removed")
    if output.json { JSONText.object([("removed", .text(id))]).print() } else { Console.say("removed: \(id)") }
  }

  private func ask(_ workspace: WorkspaceDirectory) throws {
    guard isatty(STDIN_FILENO) == 1, Console.isWatched else {
      throw Failure(.usage, "nobody is here to be asked; --yes removes \(id) without asking")
    }
    let bytes = (try? workspace.byteCount(of: id)) ?? 0
    Console.show("remove \(id.shown) and \(Quantity.bytes(bytes)) for good? [y/N] ")
    guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
      throw Failure(.no, "nothing was removed")
    }
  }
}
