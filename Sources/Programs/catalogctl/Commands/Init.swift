import ArgumentParser
import Barcodes
import Catalog
import Essentials
import LogStore
import Platform
import RowFiles
import RowSources

/// The way from nothing to an answered scan: the other commands, one after another.
struct Init: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Set everything up: a user, a source, the first scan.",
    discussion: """
      Asks where the catalogue comes from, a file of your own or a server's address, and whose it is; or takes --from \
      and --user. A file is tried first, as 'import --dry-run' does: how its columns are taken is shown, and the first \
      rows. Columns and cells with further barcodes, and rows of one product with different ones, are proposed as codes \
      of a mapping. Then the user is signed in, the file is imported, one of its codes is scanned, and what starts the daemon \
      is printed. What was said about the columns is written into the file of --save-map, or into mapping.json among \
      the user's stores, for the daemon and for later imports. With a server's address, the catalogue is fetched as \
      'sync' does, and the address becomes the setting sync.url.

      A file that is refused changes nothing: its errors say what to do, and options such as --column, --map, \
      --unknown and --without-id are those of 'import'. On a terminal they can be added until the file is taken. With \
      --yes nothing is asked.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Option(help: ArgumentHelp("A file, or a server's address.", valueName: "source"), completion: .file())
  var from: String?
  @OptionGroup var mapping: MappingOptions
  @Option(help: ArgumentHelp("How the file is written, whatever it is called.", valueName: "csv|tsv|ndjson|json"))
  var format: RowFileFormat?
  @OptionGroup var irregularities: RowRuleOptions
  @Flag(help: "Take the file however many products of the catalogue it loses.") var acceptLoss = false
  @Option(help: ArgumentHelp("The code to scan at the end; without it, one of the catalogue.", valueName: "code"))
  var scan: String?
  @Flag(help: "Ask nothing.") var yes = false

  func run() async throws {
    let (source, options) = try tried()
    let isServer = Self.isServer(source)
    let json = output.json ? ["--json"] : []
    let user = try user()
    if !isServer, !yes, try !isConfirmed("Import it?\(try loss(of: user)) [Y/n]") {
      throw Failure(.no, "nothing was changed")
    }
    // The user is signed in once there is a catalogue.
    var map: String?
    if isServer {
      let sync = try Sync.parse(["--url", source, "--user", user] + stores + json)
      try await sync.run()
      try ConfigSet.parse(["sync.url", source, "--string", "--user", user] + stores).run()
    } else {
      map = try mapFile(user, options)
      let save = map.map { ["--save-map", $0] } ?? []
      try Import.parse(options + save + ["--user", user] + stores + json + ["--", source]).run()
    }
    try Login.parse(stores + ["--", user]).run()
    // A code that is not found does not take back what was imported.
    defer { sayWhatIsNext(user, source, map) }
    try scanOne()
  }

  private static func isServer(_ source: String) -> Bool {
    source.hasPrefix("http://") || source.hasPrefix("https://")
  }

  /// Asks for the source, and tries a file. On a terminal, a file that cannot be taken can be replaced, or tried with
  /// more options.
  ///
  /// - Returns: The source, and the options of `import` for it.
  /// - Throws: The failure of a file, which has changed nothing.
  private func tried() throws -> (source: String, options: [String]) {
    var options = mapping.arguments + irregularities.arguments
    if let format { options += ["--format", format.rawValue] }
    if acceptLoss { options.append("--accept-loss") }
    guard var source = try from ?? ask("Where is the catalogue? A file, or the address of a server:", "--from") else {
      throw Failure(.usage, "there is no source; --from names a file or a server's address")
    }
    /// The options of the last line that was answered, which are kept if they are understood.
    var added: [String] = []
    while !Self.isServer(source) {
      if source == "-" {
        throw Failure(.usage, "init reads the file twice; 'catalogctl import -' takes standard input")
      }
      do {
        if !options.contains(Self.proposedCodes) { options += try proposed(source, options + added) }
        let rehearsal = try Import.parse(
          options + added + ["--dry-run"] + stores + (output.json ? ["--json"] : []) + ["--", source])
        options += added
        added = []
        try rehearsal.run()
        break
      } catch  where !yes && isatty(STDIN_FILENO) == 1 {
        let failure = Failure(error) ?? Failure(.usage, Import.message(for: error))
        Console.say("catalogctl: " + failure.message)
        if failure.code == .noInput {
          guard let other = try ask("Another file, or nothing to end:", "--from") else { throw Failure(failure.code) }
          source = other
        } else {
          let question = "Options to try it with, such as --unknown keep, or nothing to end:"
          guard let words = try ask(question, "them") else { throw Failure(failure.code) }
          added = words.words
          if let word = added.first, !word.hasPrefix("-") {
            Console.say("catalogctl: \(word.shown) is no option; the messages above name some, as in --unknown keep")
            added = []
          }
        }
      }
    }
    return (source, options)
  }

  private static let proposedCodes = "--proposed-codes"

  /// What a mapping could say of further codes in a file, if a person agrees: columns with GTINs, cells with several
  /// codes, and rows of the same product with other barcodes.
  ///
  /// - Returns: The options of `import` for it.
  private func proposed(_ source: String, _ options: [String]) throws -> [String] {
    guard let found = try Import.parse(options + stores + ["--", source]).proposal() else { return [] }
    var map = found.map
    let text = map.textOfCodes
    Console.say("catalogctl: \(source.shown): further codes of the products, in a mapping (--map): \(text)")
    if !yes, isatty(STDIN_FILENO) == 1 {
      return try isConfirmed("Take them? [Y/n]") ? [Self.proposedCodes, text] : []
    }
    // Without a person's word, rows with the same id may be variants.
    if map.mapping.group != nil, !found.hasPackages {
      map.mapping.group = nil
      Console.say("catalogctl: rows with the same id may be variants, so \"group\" is not taken; a mapping can say it")
    }
    return map.mapping.speaksOfCodes ? [Self.proposedCodes, map.textOfCodes] : []
  }

  /// What an import replaces, for the question before it.
  private func loss(of user: String) throws -> String {
    var store = store
    store.user = user
    let count = try store.reader()?.snapshot().productCount ?? 0
    return count == 0 ? "" : " It replaces the \(Quantity.of(count, "product")) of \(user.shown)."
  }

  /// The file for the mapping: the one that is named, else one among the user's stores. `nil` if the file needs no
  /// mapping.
  private func mapFile(_ user: String, _ options: [String]) throws -> String? {
    if let file = mapping.saveMap { return Self.absolute(file) }
    if options.isEmpty { return nil }
    let directory = try store.workspace.makePath(of: user)
    if try store.workspace.isSealed(user) {
      throw Failure(
        .usage,
        "\(user.shown) is sealed, and a mapping names columns in clear: say with --save-map where it may be written;"
          + " nothing was imported")
    }
    return Self.absolute(directory) + "/mapping.json"
  }

  private static func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  /// The options by which other commands find the same stores, and open them.
  private var stores: [String] {
    let options = [
      ("--root", store.root), ("--key-file", store.keyFile), ("--key-command", store.keyCommand),
      ("--passphrase-file", store.passphraseFile),
    ]
    return options.flatMap { name, value in value.map { [name, $0] } ?? [] }
  }

  /// The name of the user who runs the command, or `user` if the system knows none.
  private static var systemUser: String {
    // The structure of the C library is read at once; the process has no other thread that asks.
    guard let entry = unsafe getpwuid(geteuid()), let name = unsafe entry.pointee.pw_name else { return "user" }
    return unsafe String(cString: name)
  }

  private func user() throws -> String {
    if let user = store.user { return user }
    if let current = try store.workspace.currentUser() { return current }
    let name = Self.systemUser
    guard let user = try ask("Whose catalogue is it? [\(name)]", "--user") else { return name }
    return user
  }

  /// Asks a question.
  ///
  /// - Returns: The answer; `nil` if it is empty, or nothing may be asked.
  /// - Throws: `Failure` with exit code 64 if standard input is no terminal, or ends.
  private func ask(_ question: String, _ option: String) throws -> String? {
    if yes { return nil }
    guard isatty(STDIN_FILENO) == 1 else {
      throw Failure(.usage, "standard input is no terminal to ask on; give \(option), or --from, --user and --yes")
    }
    Console.show(question + " ")
    guard let line = readLine() else { throw Failure(.usage, "there is no answer; nothing was changed") }
    let answer = line.trimmed
    return answer.isEmpty ? nil : answer
  }

  /// Asks a question until the answer is yes or no; an empty one is yes.
  private func isConfirmed(_ question: String) throws -> Bool {
    while true {
      switch try ask(question, "--yes")?.lowercased() {
      case nil, "y", "yes": return true
      case "n", "no": return false
      default: Console.say("catalogctl: answer y or n")
      }
    }
  }

  /// Scans the code that was given, or what a scanner sends for a GTIN of the catalogue.
  private func scanOne() throws {
    let snapshot = try store.snapshot()
    var code = scan
    var other: String?
    var hasBarcode = false
    // Products without a barcode are passed over; a catalogue of them has nothing to scan.
    for row in try snapshot.productRowsByID() where code == nil {
      let found = try snapshot.withProduct(row) { (view) throws(StoreError) in view.delFlag == 0 ? view.barcode : "" }
      guard let barcode = found, !barcode.isEmpty else { continue }
      hasBarcode = true
      let state = WrittenCode(barcode).state
      if state == .sound { code = Self.sent(barcode) }
      // A label may have a text that is no GTIN.
      if other == nil, state == .text, Scan.unscannable(barcode) == nil { other = barcode }
    }
    if !hasBarcode, code == nil {
      return Console.say(
        "catalogctl: no product has a barcode, so there is nothing to scan; --column barcode=… names its column")
    }
    if code == nil {
      Console.say(
        "catalogctl: no barcode is a sound GTIN, so what a scanner sends for one could not be tried; scan a label with"
          + " 'catalogctl scan'" + (other == nil ? "" : "; this is the text of a cell"))
    }
    guard let code = code ?? other else { return }
    try ScanCommand.parse(stores + (output.json ? ["--json"] : []) + ["--", code]).scan()
  }

  /// What a scanner sends for a sound code: 8 digits for an EAN-8 and a UPC-E, 14 for a case, and otherwise the 13 of
  /// an EAN-13, which a UPC-A is with a zero in front.
  private static func sent(_ barcode: String) -> String {
    guard barcode.utf8.count != 8, let gtin = GTIN(barcode) else { return barcode }
    if gtin.canBeWritten(digitCount: 8) { return String(gtin.digits.suffix(8)) }
    return String(gtin.digits.suffix(gtin.canBeWritten(digitCount: 13) ? 13 : 14))
  }

  /// Proposes declarations of the fields that were kept. A catalogue that cannot be read proposes none: what reads it
  /// says why.
  private func proposeFields(_ user: String, _ place: String) {
    var store = store
    store.user = user
    guard let proposals = try? FieldProposals(store.snapshot()), !proposals.commands.isEmpty else { return }
    for command in proposals.commands { Console.say("  \(command)\(place) --user \(user.shellWord)") }
    Console.say(
      "      declare what a column that is kept is; then 'catalogctl compact' (see 'catalogctl fields --help')")
  }

  private func sayWhatIsNext(_ user: String, _ source: String, _ map: String?) {
    let place = store.root.map { " --root \($0.shellWord)" } ?? ""
    let isServer = Self.isServer(source)
    let origin =
      isServer
      ? " --sync-url \(source.shellWord)"
      : " --sync-from \(Self.absolute(source).shellWord)" + (map.map { " --sync-map-file \($0.shellWord)" } ?? "")
    let again = (map.map { ["--map", $0] } ?? []) + ["--delete-missing", "--", source]
    Console.say("Next:")
    Console.say("  catalogd\(place) --user \(user.shellWord)\(origin)")
    Console.say(
      "      answers scanners, and programs on http://127.0.0.1:8765"
        + (isServer ? "" : "; imports \(source.shown) again when it changes"))
    proposeFields(user, place)
    Console.say("  catalogctl studio\(place)")
    Console.say("      shows the catalogue in a browser")
    Console.say(
      isServer
        ? "  catalogctl sync\(place)" : "  catalogctl import\(place) " + again.map(\.shellWord).joined(separator: " "))
    Console.say("      brings what has changed")
  }
}

extension String {
  /// The words of a line, as a shell divides it: quotes hold spaces, and a backslash is a character.
  fileprivate var words: [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in self {
      if character == quote {
        quote = nil
      } else if quote == nil, character == "\"" || character == "'" {
        quote = character
        word = word ?? ""
      } else if quote == nil, character.isWhitespace {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }
}
