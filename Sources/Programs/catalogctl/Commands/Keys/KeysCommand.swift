import ArgumentParser
import JSONFormat
import Workspace

struct KeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "List, add and remove the keys that open sealed stores.",
    subcommands: [KeysList.self, KeysAdd.self, KeysRemove.self, KeysAccept.self])
}

struct KeysList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the keys and passphrases that open the stores.",
    discussion: """
      Needs no key, and shows none: each has an id, a kind (key or passphrase), and the time at which it was added. A user \
      whose stores are not sealed has none.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let wrappings = try store.workspace.keys(of: store.userID())?.wrappings ?? []
    if output.json {
      for wrapping in wrappings { wrapping.json.print() }
      return
    }
    var table = Table("ID", "KIND", "ADDED")
    for wrapping in wrappings { table.add(wrapping.id, wrapping.kind.word, Moment.text(wrapping.created)) }
    table.print()
  }
}

struct KeysAdd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Let one more key or passphrase open the stores.",
    discussion: """
      A key that opens them already is --key-file, --key-command or --passphrase-file, the new one --new-key-file or \
      --new-passphrase-file. Exit code 1 if the stores are not sealed, if the new key opens them already, or if there \
      are 16 keys.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var new: NewKeyOptions

  func run() throws {
    let wrapping = try store.workspace.addKey(new.source, of: store.userID())
    DurableChange.report("the key is added")
    if output.json { wrapping.json.print() } else { Console.print("added: \(wrapping.kind.word) \(wrapping.id)") }
  }
}

struct KeysRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Take a key or passphrase from the stores.",
    discussion: """
      Needs no key. Who has a copy of user.keys from before, and the key, still can read the stores: 'catalogctl rekey \
      --data-key' ends that for what is written from then on. Exit code 1 if there is no such key, or if it is the last \
      one.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The id of the key, as 'catalogctl keys list' shows it.") var id: String

  func run() throws {
    try store.workspace.removeKey(id, of: store.userID())
    DurableChange.report("the key is removed")
    if output.json {
      JSONText.object([("removed", .text(id.lowercased()))]).print()
    } else {
      Console.print("removed: \(id.shown)")
    }
  }
}

struct KeysAccept: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept", abstract: "Accept sealed stores that went back.",
    discussion: """
      The file of keys marks the last commit of each sealed store. A store that is older than its mark went back: somebody \
      put an older file in its place, or a disk was restored. 'catalogctl stat' and catalogd tell it until the store is \
      accepted as it is, restored with 'catalogctl restore', or, for a catalogue, replaced by a full update.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let accepted = try store.changing(write).acceptStores(of: store.userID())
    if output.json { return JSONText.object([("accepted", .array(accepted.map(\.json)))]).print() }
    if accepted.isEmpty { return Console.print("no store went back; nothing was changed") }
    for store in accepted { Console.print("accepted: \(store.store) at commit \(store.found), after \(store.marked)") }
  }
}

extension KeyWrapping {
  fileprivate var json: JSONText {
    .object([("id", .text(id)), ("kind", .text(kind.word)), ("created", .text(Moment.text(created)))])
  }
}
