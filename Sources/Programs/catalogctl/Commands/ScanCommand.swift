import ArgumentParser
import Barcodes
import Catalog
import JSONFormat
import LogStore
import TextFormat
import Workspace

struct ScanCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Match scanned codes.",
    discussion: """
      Without codes, or with - as a code, reads them from standard input, one a line, and answers each line at once. \
      Exit code 1 if any code found nothing.

      The settings matching.… of the user, or else of the default store, say how codes are read; see 'catalogctl help \
      config set'.

      With --json, an answer has: code, match (how it was found), kind (what the code is), symbology, key, gtin, rest, \
      products, elements (the label as it stands), data (what it states, typed), issues (what is wrong with it); and \
      where they apply package (the code of the table of codes that matched, and how many pieces it stands for), reason \
      (why nothing was found), suggestions (products whose code is one edit away, if nothing \
      matched and the setting matching.suggestions is above 0), measure, contains, expired. Documentation/Scanning.md \
      describes them.

      With --published, codes are looked up in a publication instead of the user's catalogue, which need not exist: a few \
      parts of it are fetched and checked, and nothing is kept. The answer says as of which state it is, with --json as \
      sequence, and has no suggestions. Exit code 1 only if the publication lacks the code for certain. If more would have \
      to be read to know, because the code may be an SKU or in a field of one's own, sequence is null and the exit code 75.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "Codes as the reader sends them; - for those of standard input.") var codes: [String] = []
  @Option(help: ArgumentHelp("The address of a publication to look codes up in.", valueName: "url"))
  var published: String?
  @Option(help: ArgumentHelp("A neighbour that has the publication too, and is asked first.", valueName: "url"))
  var mirror: [String] = []
  @Option(
    help: ArgumentHelp(
      "The public root key of the publication; without it, the one that the publication names.", valueName: "file"),
    completion: .file())
  var rootKey: String?
  @OptionGroup(title: "With --published") var connection: ConnectionOptions

  func validate() throws {
    if published == nil {
      if rootKey != nil || !mirror.isEmpty {
        throw ValidationError("--root-key and --mirror belong to --published URL")
      }
    } else if codes.isEmpty || codes.contains("-") {
      throw ValidationError("with --published, give the codes as arguments")
    }
  }

  func run() async throws {
    if let published {
      return try await PublishedScan(
        store: store, output: output, url: published, mirrors: mirror, rootKey: rootKey
      ).run(codes) { try connection.options(to: $0, $1) }
    }
    try scan()
  }

  func scan() throws {
    let user = try store.userID()
    // Read once: a change of the settings holds from the next call on, not from the next code.
    let options = try store.matchingOptions()
    let fields = try store.fields()
    var reader = try store.reader()
    var missed = false
    var isReported = false
    /// - Parameter flaw: Why the code could not be decoded; `nil` if it could.
    func answer(_ code: String, flaw: String? = nil) throws {
      // A catalogue may arrive while the command waits for codes.
      let snapshot: CatalogSnapshot
      if let open = reader {
        snapshot = try store.orRemedies(user) {
          try open.refresh()
          return try open.snapshot().declaring(fields)
        }
      } else {
        reader = try store.reader()
        snapshot = try (reader?.snapshot() ?? .empty).declaring(fields)
        if reader == nil, !isReported {
          Console.say("catalogctl: there is no catalogue to look codes up in; 'sync' or 'import' brings one")
          isReported = true
        }
      }
      // What cannot be decoded is no code, as for the daemon: a part of it could be that of another product.
      let match = try flaw == nil ? snapshot.match(code, options: options) : CatalogSnapshot.empty.match("")
      if match.isEmpty { missed = true }
      if output.json {
        match.json(code: code, today: .today, flaw: flaw).print()
      } else {
        match.lines(code: code, flaw: flaw).forEach(Console.print)
      }
    }
    for code in codes.isEmpty ? ["-"] : codes {
      guard code == "-" else {
        try answer(code)
        continue
      }
      try InputFile("-").forEachLineOfBytes { bytes in
        if let code = String(validating: bytes, as: UTF8.self) { return try answer(code) }
        let shown = TerminalText.escaped(bytes: bytes[...], escapesBackslash: true)
        Console.say("catalogctl: a line of standard input is not UTF-8: \(shown)")
        try answer(shown, flaw: "could not be decoded: the bytes are not UTF-8")
      }
    }
    if missed { throw Failure(.no) }
  }
}

extension Match {
  /// The match as text for people, one product per line.
  ///
  /// - Parameter flaw: Why the code could not be decoded; `nil` if it could.
  func lines(code: String, flaw: String? = nil) -> [String] {
    let shown = Table.cell(code, limit: 40)
    guard !isEmpty else {
      let reason = flaw ?? reason ?? ""
      return ["\(Console.styled(shown, .bold))  \(Console.styled("none", .red))  \(reason)"] + suggestionLines
    }
    return products.map { product in
      let rest = rest.map { "  rest \(Table.cell($0, limit: 32))" } ?? ""
      return "\(Console.styled(shown, .bold))  \(Console.styled(kind.rawValue, .green))  \(product.id.shown)"
        + "  \(Table.cell(product.name, limit: 60))\(rest)\(package.map { "  " + $0.words } ?? "")\(remarks)"
    }
  }

  /// The products whose code is one edit away, one per line.
  var suggestionLines: [String] {
    (suggestions ?? []).map {
      "did you mean \(Table.cell($0.barcode, limit: 40))  \($0.id.shown)  \(Table.cell($0.name, limit: 60))"
    }
  }

  /// What a person should know of the label: that the goods have expired, and what is wrong with it.
  private var remarks: String {
    let today = ScanDate.today
    let content = reading.content(today: today)
    var text = measure.map { "  " + $0.field.value.words } ?? ""
    if let expiry = content.data.expiry, expiry < today { text += "  " + Console.styled("expired \(expiry)", .red) }
    for issue in content.issues { text += "  " + Console.styled(Table.cell(issue.reason, limit: 60), .yellow) }
    return text
  }
}
