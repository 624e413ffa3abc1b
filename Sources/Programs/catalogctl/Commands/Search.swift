import ArgumentParser
import Catalog
import Essentials
import JSONFormat
import LogStore
import Platform

struct Search: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Find products by words, best first.",
    discussion: """
      catalogctl search cordless drill --brand Bosch
      catalogctl search geli 35 --set --where "weight > 10"

      Each word must match the name, the brand, the SKU or the barcode, in any order, whatever the letter case, the \
      accents, or whether Chinese is traditional or simplified. The last word may be the beginning of one. 'and', \
      'und', 'et', 'y', 'e' and '&' between words are one, and a product need not have it. Then come the singular of a \
      plural and the other way round, and muesli for müsli. Parts of words come after that, Chinese names by how they \
      are read, and what one writes in one word and another in several, as cocacola and Coca-Cola, or 500 ml and \
      500ml. If nothing is found, each word may have one typing mistake; a result that rests on one says what was \
      meant. Products that the server sent as deleted are left out.

      With --json, a result is {"score":…,"matched":[{"field":"name","ranges":[[0,4]]}],"product":{…}}; ranges are \
      half-open, in UTF-16 code units. A result that rests on a corrected mistake begins with \
      "approximate":true,"meant":"…". A product is found by a whole code of the table of codes or of a declared field \
      too, and comes first; it then has "package":{"code":…,"quantity":…,"unit":…,"kind":…}. The beginning of a code \
      finds nothing, unlike that of a barcode, but for codes of a declared field whose words are searched too.

      Without words, reads queries from standard input, one a line, and answers each line at once with one line of \
      JSON: {"query":"…","results":[…]}.

      Exit code 1 if a query found nothing, 65 if the catalogue has no index of words: 'config set search.index on', \
      then 'compact', writes one.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The words.") var words: [String] = []
  @Option(
    parsing: .unconditional, help: "List no more than this many; 20 without it.",
    transform: { try WholeNumber.parse($0, from: 1) })
  var limit = 20
  @Option(help: "Find products of this brand only; compared as words are.") var brand: String?
  @Option(help: "Find products of this category only; compared as words are.") var category: String?
  @Flag(name: .customLong("set"), help: "Find sets only.") var isSetsOnly = false
  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("A condition that products must meet, as for 'products'.", valueName: "expr"))
  var filter: String?

  func run() throws {
    if words.isEmpty { return try answerLines() }
    let results = try results(of: words.joined(separator: " "), in: store.snapshot())
    if output.json { results.forEach { $0.json.print() } } else { FoundProducts.print(results) }
    if results.isEmpty { throw Failure(.no, output.json ? "" : "no product matches") }
  }

  private func results(of text: String, in snapshot: CatalogSnapshot) throws -> [SearchResult] {
    var options = SearchOptions()
    options.limit = limit
    options.brand = brand
    options.category = category
    options.isSetsOnly = isSetsOnly
    if let filter {
      options.condition = try ExpressionArgument.parsed("--where", filter) { try snapshot.products(where: filter) }
    }
    return try snapshot.search(text, options).results
  }

  /// Answers each line of standard input.
  private func answerLines() throws {
    if isatty(STDIN_FILENO) == 1 {
      Console.say("catalogctl: each line that you type is searched; Ctrl-D ends this, and 'search WORD…' asks once")
    }
    let user = try store.userID()
    let fields = try store.fields()
    var reader = try store.reader()
    var missed = false
    try InputFile("-").forEachLine { text in
      // A line may end with CR and LF.
      let line = text.utf8.last == UInt8(ascii: "\r") ? String(text.unicodeScalars.dropLast()) : text
      // A catalogue may arrive, or change, while the command waits for lines.
      if let reader { _ = try store.orRemedies(user) { try reader.refresh() } } else { reader = try store.reader() }
      let results = try results(of: line, in: (reader?.snapshot() ?? .empty).declaring(fields))
      if results.isEmpty { missed = true }
      JSONText.object([("query", .text(line)), ("results", .array(results.map(\.json)))]).print()
    }
    if missed { throw Failure(.no) }
  }
}
