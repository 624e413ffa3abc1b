import ArgumentParser
import JSONFormat

struct Whoami: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whoami", abstract: "Print who is signed in.", discussion: "Exit code 1 if nobody is.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let user = try store.workspace.currentUser()
    if output.json {
      JSONText.object([("user", .optional(user))]).print()
    } else if let user {
      Console.print(user)
    }
    if user == nil { throw Failure(.no, output.json ? "" : "nobody is signed in") }
  }
}
