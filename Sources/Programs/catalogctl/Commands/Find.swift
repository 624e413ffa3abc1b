import ArgumentParser
import Catalog
import CatalogRows
import JSONFormat
import LogStore

struct Find: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "List the products whose name, or another field, contains a text.",
    discussion: """
      Upper and lower case are the same, in every script that has them; accents are not left out, and ß is not ss. \
      Exit code 1 if no product is listed. Products that the server sent as deleted are listed too, and marked. \
      'search' finds products by words, best first.

      With --field barcode, a whole code finds its products too: a barcode or a code of the table of codes or of a \
      declared field (see 'fields'), and a GTIN with any number of digits. Parts of codes other \
      than the barcode are not found.

      If the catalogue has the index of words (setting search.index), a text with three ASCII letters or digits in a \
      row is looked up in it for the fields name, brand, skuCode and barcode. Otherwise the whole catalogue is read.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The text.") var text: String
  @Option(help: "The field to look into.") var field: SearchableField = .name
  @OptionGroup var most: LimitOption
  @Flag(help: "Tell upper case from lower case.") var caseSensitive = false
  // Accepted for compatibility: it is the default.
  @Flag(name: [.customShort("i"), .long], help: .hidden) var ignoreCase = false

  func validate() throws {
    if caseSensitive, ignoreCase { throw ValidationError("give --case-sensitive or --ignore-case, one of them") }
  }

  func run() throws {
    var found: [Product] = []
    var row = ProductRow()
    let wanted = caseSensitive ? text : text.lowercased()
    let snapshot = try store.snapshot()
    try snapshot.forEachProduct(possiblyContaining: text, in: field.productField) { (view) throws(StoreError) in
      let product = try snapshot.copy(view)
      product.fill(&row)
      let value = row[field.text]
      if Self.contains(caseSensitive ? value : value.lowercased(), wanted) { found.append(product) }
    }
    if field.text == .barcode {
      let further =
        try snapshot.products(scannedAs: text, distinguishingCase: caseSensitive)
        + snapshot.products(furtherCode: text, distinguishingCase: caseSensitive)
      for product in further where !found.contains(where: { $0.id == product.id }) { found.append(product) }
    }
    found.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    if let limit = most.limit { found = Array(found.prefix(limit)) }
    if output.json { found.forEach { JSONText.product($0).print() } } else { FoundProducts.print(found) }
    if found.isEmpty { throw Failure(.no, output.json ? "" : "no product has it in its \(field)") }
  }

  /// Whether `text` contains `part`, compared by code points.
  private static func contains(_ text: String, _ part: String) -> Bool {
    let part = Array(part.utf8)
    if part.isEmpty { return true }
    var text = Array(text.utf8)[...]
    while text.count >= part.count {
      if text.starts(with: part) { return true }
      text = text.dropFirst()
    }
    return false
  }
}

/// A field that contains text.
struct SearchableField: ExpressibleByArgument, CustomStringConvertible {
  static let name = SearchableField(text: .name)
  static let allValueStrings = ProductText.allCases.map { "\($0)" }
  static let defaultCompletionKind = CompletionKind.list(allValueStrings)

  let text: ProductText

  /// The field among all fields of a product.
  var productField: ProductField { ProductField(text) }

  var description: String { "\(text)" }
}

extension SearchableField {
  init?(argument: String) {
    guard let text = ProductText.allCases.first(where: { "\($0)" == argument }) else { return nil }
    self.text = text
  }
}
