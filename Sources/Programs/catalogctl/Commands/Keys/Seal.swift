import ArgumentParser
import JSONFormat
import Workspace

struct Seal: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "seal", abstract: "Encrypt everything that the user has, so that it can be read with a key only.",
    discussion: """
      Catalogue, settings, documents, uploads and cached pages are written anew, encrypted with a random key that is kept \
      in user.keys, encrypted itself with the key or passphrase that is given here. From then on every command and \
      daemon needs it. If it is lost, so is everything: 'catalogctl keys add' lets a second one open the stores. A file \
      system that is encrypted, with LUKS or fscrypt, is the better choice where it is possible.

      What was there in clear is deleted: the files before, the generation before the last full update, what a repair \
      set aside, and the link to what is shared with other users. SSDs, snapshots and backups keep it for longer. A \
      program that writes to a store ends the command with exit code 75. Whatever interrupts it, everything stays \
      readable with the key, and the same command goes on. 'catalogctl unseal' goes back.

      A key is made with: (umask 077; head -c 32 /dev/urandom > key)
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let id = try store.userID()
    let report = try store.changing(write).seal(id) { Console.say("sealing: \($0)") }
    DurableChange.report("the stores are sealed")
    if report.stores.isEmpty, !report.changedKeys { Console.say("everything was sealed already") }
    if !report.stores.isEmpty {
      Console.say("what was there in clear is deleted; SSDs, snapshots and backups keep it for longer")
    }
    for name in report.clearFiles {
      let path = try store.workspace.makePath(of: id) + "/" + name
      Console.say("catalogctl: \(path.shown) is no store and stays in clear; move it, or delete it")
    }
    if output.json { return report.json(id, isSealed: true).print() }
    Console.print("sealed: \(Quantity.of(report.stores.count, "store")) of \(id.shown)")
  }
}

struct Unseal: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unseal", abstract: "Write everything that the user has in clear, and destroy the keys.",
    discussion: """
      Needs a key that opens the stores. Whatever interrupts the command, everything stays readable with that key, and \
      the same command goes on. A program that writes to a store ends it with exit code 75. Exit code 1 if the stores \
      are not sealed.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let id = try store.userID()
    let report = try store.changing(write).unseal(id) { Console.say("unsealing: \($0)") }
    DurableChange.report("the stores are in clear")
    if output.json { return report.json(id, isSealed: false).print() }
    Console.print("in clear: \(Quantity.of(report.stores.count, "store")) of \(id.shown); the keys are destroyed")
  }
}

extension SealingReport {
  fileprivate func json(_ id: String, isSealed: Bool) -> JSONText {
    .object([
      ("user", .text(id)), ("sealed", .bool(isSealed)), ("stores", .array(stores.map(JSONText.text))),
    ])
  }
}

extension StoreOptions {
  /// The stores, with the time that a change waits for another process.
  func changing(_ write: WriteOptions) -> WorkspaceDirectory {
    var workspace = workspace
    workspace.lockTimeout = write.lockTimeout
    return workspace
  }
}
