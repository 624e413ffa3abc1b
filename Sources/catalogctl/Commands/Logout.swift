import ArgumentParser

struct Logout: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout", abstract: "Sign out who is signed in.", discussion: "The user's stores stay where they are.")

  @OptionGroup var store: StoreOptions

  func run() throws {
    try store.workspace.signOut()
    Console.say("nobody is signed in")
  }
}
