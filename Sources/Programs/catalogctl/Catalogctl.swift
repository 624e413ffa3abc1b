import ArgumentParser
import LogStore
import Platform

/// The command-line tool for managing a catalogue.
///
/// Each command declares its own name: deriving it from the type would search all protocol conformances of the process
/// before any command runs.
struct Catalogctl: AsyncParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "catalogctl",
    abstract: "Looks after an offline product catalogue.",
    discussion: """
      Exit codes: 0 done; 1 the answer is no; 64 usage; 65 bad data; 66 an input file cannot be read; 69 the server \
      cannot be reached or answered with an error; 73 cannot create; 74 input or output failed; 75 locked by \
      another process, try again; 77 permission.
      """,
    version: Self.version,
    groupedSubcommands: [
      CommandGroup(name: "Beginning:", subcommands: [Init.self]),
      CommandGroup(
        name: "Users:", subcommands: [Login.self, Logout.self, Whoami.self, Users.self, Config.self, Fields.self]),
      CommandGroup(
        name: "Keeping the catalogue current:",
        subcommands: [Sync.self, Apply.self, Import.self, Decode.self, Serve.self, Publish.self, FleetCommand.self]),
      CommandGroup(name: "Sending:", subcommands: [Queue.self]),
      CommandGroup(
        name: "Answering:",
        subcommands: [
          ScanCommand.self, Explain.self, Get.self, Search.self, Find.self, Products.self, Codes.self,
          Components.self, SetsWith.self, Complete.self, StudioCommand.self,
        ]),
      CommandGroup(name: "Beside the catalogue:", subcommands: [DocumentsCommand.self]),
      CommandGroup(
        name: "Looking after the file:",
        subcommands: [
          Stat.self, Log.self, Diff.self, Rollback.self, Dump.self, Export.self, Verify.self, Compact.self,
          BackupCommand.self, RestoreCommand.self,
        ]),
      CommandGroup(name: "Erasing:", subcommands: [Forget.self]),
      CommandGroup(
        name: "Sealing:", subcommands: [Seal.self, Unseal.self, Rekey.self, KeysCommand.self]),
      CommandGroup(name: "What programs keep beside it:", subcommands: [Cache.self]),
    ])
}

@main
enum Main {
  static func main() async {
    do {
      try ClosedStreams.replace()
      try RawText.check()
      // A file that is truncated while in use, or a file size limit, must be reported as an error and not end the
      // process.
      try MappingGuard.install()
      signal(SIGXFSZ, SIG_IGN)
      var command = try CommandSuggestions.parse(Array(CommandLine.arguments.dropFirst()))
      ClosedStreams.prepare(for: command)
      if var asynchronous = command as? AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch {
      Failure.exit(error)
    }
  }
}
