import ArgumentParser
import Cryptography
import DocumentFormat
import Essentials
import JSONFormat
import ObjectStores
import Platform
import PublicationFormat
import Publisher
import PublicationSync
import Storage

struct PublishKeys: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Make, list and replace the keys that sign a publication.",
    subcommands: [PublishKeysNew.self, PublishKeysList.self, PublishKeysRotate.self])
}

/// Files with keys, as signify writes them.
enum KeyFiles {
  static func secret(_ path: String) throws -> SignifySecretKey {
    do { return try SignifySecretKey(SecretFile.bytes(path)) } catch let error as SignifyError {
      throw Failure(.data, "\(path): \(error)")
    }
  }

  static func publicKey(_ path: String) throws -> SignifyPublicKey {
    let file = try InputFile(path)
    var bytes: [UInt8] = []
    while bytes.count <= 1 << 16, let piece = try file.next() { bytes += piece }
    do { return try SignifyPublicKey(bytes) } catch { throw Failure(.data, "\(path): \(error)") }
  }

  /// Writes a new key and its public half, FILE.pub.
  static func write(_ key: SignifySecretKey, to path: String) throws {
    let url = URL(filePath: path)
    let (parent, name) = (url.deletingLastPathComponent().path, url.lastPathComponent)
    guard let directory = try PosixDirectory.open(parent.isEmpty ? "." : parent) else {
      throw Failure(.cannotCreate, "there is no directory \(parent.shown) for the key: create it first")
    }
    for name in [name, name + ".pub"] where try directory.identity(of: name) != nil {
      throw Failure(
        .cannotCreate, "\(parent)/\(name) is there already, and a key is never overwritten: name another file")
    }
    for (name, text) in [(name, key.text), (name + ".pub", key.publicKey.text)] {
      guard let file = try directory.open(name, .create) else { continue }
      try file.write(Array(text.utf8), at: 0)
      try file.sync()
    }
    try directory.sync()
    // The secret is for its owner alone, as files of this package are; the other half is for everybody.
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path + ".pub")
  }
}

struct PublishKeysNew: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Make a key: a secret FILE, and FILE.pub for those who check.",
    discussion: """
      The files are those of signify, so 'signify -V' checks what is published. The secret has no passphrase: whoever can \
      read FILE can publish. Exit code 73 if one of the files exists.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The file of the secret key.", completion: .file()) var file: String

  func run() throws {
    let name = file.split(separator: "/").last.map(String.init) ?? "publisher"
    let key = try SignifySecretKey.new(name.replacing("\n", with: " "))
    try KeyFiles.write(key, to: file)
    if output.json {
      return JSONText.object([
        ("secret", .text(file)), ("public", .text(file + ".pub")), ("number", .text("\(key.number)")),
      ]).print()
    }
    Console.print("key \(key.number): the secret is in \(file.shown), and devices get \(file.shown).pub")
  }
}

struct PublishKeysList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the keys that may sign a publication.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var target: PublicationTarget

  func run() async throws {
    let list = try await PublicationKeys(target.objects()).list()
    let keys = list.keys.map { (PublicationTrust.publicKey($0.key), $0.since) }
    if output.json {
      return JSONText.object([
        ("version", .uint(list.version)),
        ("root", .optional(PublicationTrust.publicKey(list.root).map { "\($0.number)" })),
        (
          "keys",
          .array(
            keys.map {
              .object([
                ("number", .optional($0.0.map { "\($0.number)" })), ("since", .text(DateText.text($0.1))),
              ])
            })
        ),
      ]).print()
    }
    Console.print(
      "version \(list.version), signed by \(PublicationTrust.publicKey(list.root).map { "\($0.number)" } ?? "?")")
    for (key, since) in keys { Console.print("\(key.map { "\($0.number)" } ?? "?")  since \(DateText.text(since))") }
  }
}

struct PublishKeysRotate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate", abstract: "Let another key sign from now on.",
    discussion: """
      Adds FILE.pub to the list of keys of the publication, and takes the keys of --retire off it. The list is signed by the \
      root key, which otherwise can stay offline: the first key of a publication is its root key. The next publication must be \
      signed by a key that is on the list.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var target: PublicationTarget
  @Option(help: ArgumentHelp("The secret root key, which signs the list.", valueName: "file"), completion: .file())
  var rootKey: String
  @Option(help: ArgumentHelp("The number of a key that may no longer sign.", valueName: "number"))
  var retire: [String] = []
  @Argument(help: "The public key that may sign from now on.", completion: .file()) var file: String?

  func validate() throws {
    if file == nil, retire.isEmpty { throw ValidationError("give FILE.pub to add, or --retire NUMBER, or both") }
  }

  func run() async throws {
    let objects = try target.objects()
    let list = try await PublicationKeys(target.singlePublisher ? UnconditionalStore(objects) : objects).rotate(
      root: KeyFiles.secret(rootKey), adding: file.map(KeyFiles.publicKey), retiring: retire, now: Date())
    if output.json {
      return JSONText.object([("version", .uint(list.version)), ("keys", .int(list.keys.count))]).print()
    }
    Console.print("version \(list.version) of the list of keys has \(Quantity.of(list.keys.count, "key"))")
  }
}
