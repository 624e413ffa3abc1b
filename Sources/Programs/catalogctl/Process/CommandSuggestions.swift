import ArgumentParser
import TextFormat

/// The command path at the beginning of the process's arguments.
///
/// The argument parser accepts an option only after the command that declares it, and for a mistyped command it shows
/// the help of the parent command. This type moves `--root`, `--user`, `--json` and the options of keys to where the parser expects them,
/// and reports the mistyped name.
struct CommandSuggestions {
  /// Options with a value that are allowed before the command.
  private static let valued = ["--root", "--user", "--key-file", "--key-command", "--passphrase-file"]

  private var command: any ParsableCommand.Type = Catalogctl.self
  /// The command names so far.
  private var path: [String] = []
  /// Options before a command name.
  private var options: [String] = []
  private var rest: ArraySlice<String>

  /// Returns the command that the arguments name, with its options and values.
  ///
  /// - Throws: `Failure` with exit code 64 for a command that does not exist, and the parser's errors.
  static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    let words = try CommandSuggestions(arguments)
    return try words.parsedAlone() ?? Catalogctl.parseAsRoot(words.arranged())
  }

  /// Parses the command without its parents: a quarter of the processor time of a lookup is what the parser does for the
  /// root, such as looking for a request for completions. In a debug build it also checks every command below the root,
  /// which takes a second.
  ///
  /// - Returns: `nil` for a group of commands, for help, and for arguments with an error, so that the message is that of
  ///   the whole command line.
  private func parsedAlone() -> (any ParsableCommand)? {
    guard subcommands.isEmpty else { return nil }
    guard let parsed = try? command.parseAsRoot(options + rest) else { return nil }
    return type(of: parsed) == command ? parsed : nil
  }

  /// The arguments in the order that the parser accepts.
  ///
  /// - Throws: `Failure` with exit code 64 if JSON is asked for and no command is given.
  private func arranged() throws -> [String] {
    // A command group has no options of its own; its help is shown.
    let isGroup = !subcommands.isEmpty && rest.isEmpty && !(command is Users.Type)
    if isGroup, options.contains("--json") {
      let group = name
      throw Failure(
        .usage,
        "no command is given, and help is not JSON; Usage: \(group) COMMAND; '\(group) --help' lists the commands")
    }
    return path + (isGroup ? [] : options) + rest
  }

  private init(_ arguments: [String]) throws {
    rest = arguments[...]
    try walk()
  }

  private var subcommands: [any ParsableCommand.Type] { command.configuration.subcommands }

  private mutating func walk() throws {
    while !subcommands.isEmpty, let word = rest.first {
      if word == "--json" || Self.valued.contains(where: { word.hasPrefix($0 + "=") }) {
        options.append(rest.removeFirst())
      } else if Self.valued.contains(word), rest.count > 1 {
        options += rest.prefix(2)
        rest.removeFirst(2)
      } else if word.hasPrefix("-") {
        return
      } else if word == "help", path.isEmpty {
        try checkHelp()
        // Help has no options; those before it are meant for the command.
        options = []
        return
      } else {
        try descend(word)
        path.append(rest.removeFirst())
      }
    }
  }

  /// Checks the names after `help`. The help of `help` is the list of commands.
  private mutating func checkHelp() throws {
    if rest.dropFirst().first == "help" { rest.remove(at: rest.startIndex + 1) }
    var words = self
    for word in rest.dropFirst() where !word.hasPrefix("-") {
      try words.descend(word)
      words.path.append(word)
    }
  }

  /// The command as typed.
  private var name: String { (["catalogctl"] + path).joined(separator: " ") }

  private mutating func descend(_ word: String) throws {
    if subcommands.isEmpty {
      throw Failure(
        .usage, "\(name) has no commands of its own; 'catalogctl help \(path.joined(separator: " "))' explains it")
    }
    guard let next = subcommands.first(where: { Self.name($0) == word }) else {
      throw Failure(.usage, Self.advice(word, among: subcommands.map(Self.name), of: name))
    }
    command = next
  }

  private static func name(_ command: any ParsableCommand.Type) -> String { command.configuration.commandName ?? "" }

  private static func advice(_ word: String, among names: [String], of group: String) -> String {
    let guess = NearestName.of(word, among: names).map { "; did you mean '\($0)'?" } ?? "."
    return
      "'\(word)' is not a command of \(group)\(guess) Usage: \(group) COMMAND; '\(group) --help' lists the commands"
  }
}
