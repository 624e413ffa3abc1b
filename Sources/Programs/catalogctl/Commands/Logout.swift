import ArgumentParser
import JSONFormat

struct Logout: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout", abstract: "Sign out the current user.", discussion: "The user's stores stay where they are.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    try store.workspace.signOut()
    DurableChange.report("nobody is signed in any more")
    if output.json { JSONText.object([("user", .null)]).print() } else { Console.say("nobody is signed in") }
  }
}
