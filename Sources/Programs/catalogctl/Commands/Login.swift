import ArgumentParser
import JSONFormat

struct Login: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Sign a user in.",
    discussion: """
      Other commands then use this user's stores. Any text of up to 255 bytes is a legal id. A user who has no stores \
      here yet is called new, so that a mistyped id is noticed.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The user's id.") var id: String

  func run() throws {
    // Check before the sign-in, which creates the directory.
    let isNew = try store.workspace.catalogue(of: id) == nil || store.workspace.byteCount(of: id) == 0
    try store.workspace.signIn(id)
    DurableChange.report("\(id) is signed in")
    if output.json {
      JSONText.object([("user", .text(id)), ("new", .bool(isNew))]).print()
    } else {
      Console.say("signed in: \(id)" + (isNew ? " (new user: there are no stores of this id here yet)" : ""))
    }
  }
}
