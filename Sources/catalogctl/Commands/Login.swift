import ArgumentParser

struct Login: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Sign a user in.",
    discussion: "Other commands then use this user's stores. Any text of up to 255 bytes is a legal id.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The user's id.") var id: String

  func run() throws {
    try store.workspace.signIn(id)
    Console.say("signed in: \(id)")
  }
}
