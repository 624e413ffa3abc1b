import ArgumentParser
import JSONFormat
import Workspace

struct Rekey: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey", abstract: "Let a new key open sealed stores instead of the present one.",
    discussion: """
      The present key is --key-file, --key-command or --passphrase-file, the new one --new-key-file or \
      --new-passphrase-file. This is done at once, whatever the size of the stores, and other keys go on opening them.

      Who has a copy of user.keys from before, and the old key, still can read what is stored. --data-key ends that for \
      what is written from now on: the stores are written anew with another data key. All other keys end then, and have \
      to be added again. Whatever interrupts it, everything is readable with the new key, and the same command goes on.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var new: NewKeyOptions
  @Flag(help: "Write all stores anew with another data key.") var dataKey = false

  func run() throws {
    let id = try store.userID()
    let report = try store.changing(write).rekey(id, to: new.source, replacesDataKey: dataKey) {
      Console.say("sealing anew: \($0)")
    }
    DurableChange.report("the new key opens the stores")
    if output.json {
      return JSONText.object([
        ("user", .text(id)), ("changed", .bool(report.changedKeys)),
        ("stores", .array(report.stores.map(JSONText.text))),
      ]).print()
    }
    guard report.changedKeys else { return Console.print("the new key opens the stores already; nothing was changed") }
    Console.print(
      dataKey
        ? "the stores have another data key, which the new key alone opens"
        : "the new key opens the stores, and the one that was given does not any more")
  }
}

/// The options for a key that is to open stores.
struct NewKeyOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The new key, a file of 32 random bytes for its owner alone.", valueName: "file"),
    completion: .file())
  var newKeyFile: String?

  @Option(
    help: ArgumentHelp("The new passphrase, the first line of a file.", valueName: "file"), completion: .file())
  var newPassphraseFile: String?

  func validate() throws {
    let given = [newKeyFile, newPassphraseFile].compactMap { $0 }
    if given.count != 1 { throw ValidationError("give --new-key-file or --new-passphrase-file, one of them") }
    if given.contains("") { throw ValidationError("an empty text names no key") }
  }

  /// Where the new key is.
  var source: KeySource { newKeyFile.map(KeySource.keyFile) ?? .passphraseFile(newPassphraseFile ?? "") }
}
