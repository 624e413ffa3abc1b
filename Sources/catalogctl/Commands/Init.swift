import ArgumentParser
import Catalog
import CatalogWire
import Foundation
import LogStore
import RowSources

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The way from nothing to an answered scan: the other commands, one after another.
struct Init: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Set everything up: a user, a source, the first scan.",
    discussion: """
      Asks where the catalogue comes from, a file of your own or a server's address, and whose it is; or takes --from and \
      --user. A file is tried first, as 'import --dry-run' does: how its columns are taken is shown, and the first rows. \
      Then the user is signed in, the file is imported, one of its codes is scanned, and what starts the daemon is \
      printed. With a server's address, the catalogue is fetched as 'sync' does, and the address becomes the setting \
      sync.url.

      A file that is refused changes nothing: its errors say what to do, and options such as --column, --map and --unknown \
      are those of 'import'. With --yes nothing is asked.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Option(help: ArgumentHelp("A file, or a server's address.", valueName: "source"), completion: .file())
  var from: String?
  @OptionGroup var mapping: MappingOptions
  @Option(help: ArgumentHelp("How the file is written, whatever it is called.", valueName: "csv|tsv|ndjson|json"))
  var format: RowFileFormat?
  @Option(help: ArgumentHelp("On keys or columns that no row has, fail, or ignore them.", valueName: "fail|ignore"))
  var unknown: RowRules.UnknownKeys?
  @Option(help: ArgumentHelp("The code to scan at the end; without it, one of the catalogue.", valueName: "code"))
  var scan: String?
  @Flag(help: "Ask nothing.") var yes = false

  func run() async throws {
    guard let source = try from ?? ask("Where is the catalogue? A file, or the address of a server:", "--from") else {
      throw Failure(.usage, "there is no source; --from names a file or a server's address")
    }
    if source == "-" { throw Failure(.usage, "init reads the file twice; 'catalogctl import -' takes standard input") }
    let isServer = source.hasPrefix("http://") || source.hasPrefix("https://")
    let json = output.json ? ["--json"] : []
    let options = mapping.arguments + options + json + root
    if !isServer {
      // A refused file ends the command here.
      try Import.parse(options + ["--dry-run", "--", source]).run()
    }
    let user = try user()
    if !isServer, !yes, try !isConfirmed("Import it? [Y/n]") { throw Failure(.no, "nothing was changed") }
    // The user is signed in once there is a catalogue.
    if isServer {
      let sync = try Sync.parse(["--url", source, "--user", user] + root + json)
      try await sync.run()
      try ConfigSet.parse(["sync.url", source, "--string", "--user", user] + root).run()
    } else {
      let map = mapping.saveMap.map { ["--save-map", $0] } ?? []
      try Import.parse(options + map + ["--user", user, "--", source]).run()
    }
    try Login.parse(root + ["--", user]).run()
    try scanOne()
    sayWhatIsNext(user, source, isServer)
  }

  /// The options of `import` that are not part of the mapping.
  private var options: [String] {
    (format.map { ["--format", $0.rawValue] } ?? []) + (unknown.map { ["--unknown", $0.rawValue] } ?? [])
  }

  private var root: [String] { store.root.map { ["--root", $0] } ?? [] }

  private func user() throws -> String {
    if let user = store.user { return user }
    if let current = try store.workspace.currentUser() { return current }
    let name = NSUserName()
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
    let answer = line.trimmingCharacters(in: .whitespaces)
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

  /// Scans the code that was given, or the first one of the catalogue.
  private func scanOne() throws {
    let snapshot = try store.snapshot()
    var code = scan
    // Products without a barcode are passed over; a catalogue of them has nothing to scan.
    for row in try snapshot.productRowsByID().prefix(10_000) where code == nil {
      let barcode = try snapshot.withProduct(row) { (view) throws(StoreError) in view.barcode }
      if let barcode, !barcode.isEmpty { code = barcode }
    }
    guard let code else {
      return Console.say(
        "catalogctl: no product has a barcode, so there is nothing to scan; --column barcode=… names its column")
    }
    try Scan.parse(root + (output.json ? ["--json"] : []) + ["--", code]).run()
  }

  /// The options with which the daemon watches the source; empty if it needs a mapping that is in no file.
  private func watched(_ source: String) -> String {
    var from = source
    if !DatabaseQuery.isURL(source), !source.hasPrefix("/") {
      from = FileManager.default.currentDirectoryPath + "/" + source
    }
    if let file = mapping.saveMap { return " --sync-from \(from.quoted) --sync-map-file \(file.quoted)" }
    guard options.isEmpty, mapping.arguments.isEmpty else {
      let isOnlyMap = options.isEmpty && mapping.arguments.count == 2
      return mapping.map.map { isOnlyMap ? " --sync-from \(from.quoted) --sync-map-file \($0.quoted)" : "" } ?? ""
    }
    return " --sync-from \(from.quoted)"
  }

  private func sayWhatIsNext(_ user: String, _ source: String, _ isServer: Bool) {
    let place = store.root.map { " --root \($0.quoted)" } ?? ""
    let words = mapping.arguments + options + ["--delete-missing", "--", source]
    let again =
      isServer ? "catalogctl sync\(place)" : "catalogctl import\(place) " + words.map(\.quoted).joined(separator: " ")
    Console.say("Next:")
    let origin = isServer ? " --sync-url \(source.quoted)" : watched(source)
    Console.say("  catalogd\(place) --user \(user.quoted)\(origin)")
    Console.say(
      "      answers scanners, and programs on http://127.0.0.1:8765"
        + (isServer || origin.isEmpty ? "" : "; imports \(source) again when it changes"))
    Console.say("  catalogctl studio\(place)")
    Console.say("      shows the catalogue in a browser")
    Console.say("  \(again)")
    Console.say("      brings what has changed")
  }
}

extension String {
  /// The text as a word of a shell.
  fileprivate var quoted: String {
    let isPlain =
      !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
          UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: "@"):
          true
        default: false
        }
      }
    return isPlain ? self : "'" + replacingOccurrences(of: "'", with: "'\\''") + "'"
  }
}
