import ArgumentParser
import Barcodes
import Catalog
import JSONFormat
import Workspace

struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Tell how a code is read, what is tried, and what is found.",
    discussion: """
      Prints how the code was read, what its label states and what is wrong with it, the rule for a weight or price \
      inside the number below its digits, and each form that was looked up. With --json, what 'scan' prints, and \
      'reading' (how the code was read) and 'attempts' (each form that was tried). Exit code 1 if nothing was found.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The code as the reader sends it.") var code: String

  func run() throws {
    let match = try store.snapshot().match(code, options: store.matchingOptions())
    if output.json {
      JSONText.object(match.jsonFields(code: code, today: .today) + match.explanation).print()
      if match.isEmpty { throw Failure(.no) }
      return
    }
    let scan = match.scan
    var table = Table("READ AS", "")
    table.add("text", visible(scan.text))
    if let symbology = scan.symbology { table.add("symbology", "\(symbology)") }
    table.add("payload", visible(scan.payload))
    table.add("kind", match.codeKind.rawValue)
    if let gtin = scan.gtin { table.add("GTIN", gtin.digits) }
    if let gtin = scan.upcE { table.add("UPC-E of", gtin.digits) }
    if scan.checkDigit != .none { table.add("check digit", "\(scan.checkDigit)") }
    if let addOn = scan.addOn { table.add("add-on", addOn) }
    if let folded = scan.folded { table.add("folded", visible(folded.payload)) }
    table.print()
    Console.print("")
    printContent(match)
    if let explanation = (match.measure ?? match.unmatchedMeasure)?.explanation ?? match.measureRefusal?.explanation {
      Console.print(explanation)
      Console.print("")
    }
    printAttempts(match)
    printCandidates(match)
    if match.isEmpty { throw Failure(.no) }
  }

  /// Prints what the label states, element by element, and what is wrong with it.
  private func printContent(_ match: Match) {
    let content = match.reading.content(today: .today)
    let elements = (match.reading.elements?.elements ?? []) + (match.reading.label?.elements ?? [])
    guard !elements.isEmpty || !content.issues.isEmpty else { return }
    var table = Table("LABEL", "VALUE", "TITLE")
    for element in elements {
      // A label that is not GS1's may use the same letters and digits for something else.
      let title = match.reading.label == nil ? ApplicationIdentifier(element.ai)?.title ?? "unknown" : ""
      table.add("(\(element.ai))", visible(element.value), title)
    }
    table.print()
    Console.print("")
    if !content.data.isEmpty {
      var data = Table("DATA", "")
      for field in content.data.fields { data.add(field.name, visible(field.value.words)) }
      if let expiry = content.data.expiry, expiry < .today { data.add("expired", "since \(expiry)") }
      data.print()
      Console.print("")
    }
    if content.issues.isEmpty { return }
    var issues = Table("ISSUE", ">AT BYTE", "")
    for issue in content.issues {
      issues.add(issue.ai.map { "(\($0))" } ?? "", String(issue.position), visible(issue.reason))
    }
    issues.print()
    Console.print("")
  }

  private func printAttempts(_ match: Match) {
    var table = Table("TRIED", "TEXT", ">FOUND", "")
    for attempt in match.attempts {
      table.add(attempt.kind.rawValue, visible(attempt.text), String(attempt.productCount), attempt.note ?? "")
    }
    if match.attempts.isEmpty { Console.print("nothing was looked up") }
    table.print()
    Console.print("")
  }

  private func printCandidates(_ match: Match) {
    guard !match.isEmpty else {
      Console.print("\(Console.styled("no match", .red)): \(match.reason ?? "")")
      match.suggestionLines.forEach(Console.print)
      printContents(match)
      return
    }
    Console.print(
      "\(Console.styled("match", .green)): \(match.kind.rawValue)"
        + (match.key.map { ", barcode \($0.shown)" } ?? "") + (match.rest.map { ", rest \(visible($0))" } ?? "")
        + (match.package.map { "; " + $0.words } ?? ""))
    FoundProducts.print(match.products)
    printContents(match)
  }

  private func printContents(_ match: Match) {
    guard let contents = match.contents else { return }
    Console.print("contains \(contents.gtin.digits), which the catalogue has (packaging level \(contents.level))")
  }

  /// The text with control characters as names, so that a separator is visible.
  private func visible(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x1D: shown += "<GS>"
      case 0..<0x20, 0x7F, 0xA0, 0x200B, 0xFEFF: shown += "<\(String(scalar.value, radix: 16, uppercase: true))>"
      default: shown.unicodeScalars.append(scalar)
      }
    }
    return Table.cell(shown, limit: 72)
  }
}

/// A table of products, one per line. Products that the server marked as deleted, which no scan finds, are labelled.
enum FoundProducts {
  static func print(_ products: [Product]) {
    var table = Table("ID", "BARCODE", "NAME", "BRAND", "UNIT")
    for product in products {
      table.add(
        Table.cell(product.id, limit: 28), Table.cell(product.barcode, limit: 24),
        Table.cell(product.delFlag == 0 ? product.name : "[deleted] " + product.name, limit: 56),
        Table.cell(product.brand, limit: 20),
        Table.cell(product.unit, limit: 12))
    }
    table.print()
  }

  /// Prints the results of a search with the parts that match highlighted. The SKU has a column if a match is in one. So
  /// does what was meant if results rest on a corrected mistake, and the code of the table of codes that was searched.
  static func print(_ results: [SearchResult]) {
    let hasSKU = results.contains { $0.matched.contains { $0.field == "skuCode" } }
    let hasNote = results.contains { $0.isApproximate || $0.package != nil }
    var table = Table(
      ["ID", "BARCODE"] + (hasSKU ? ["SKU"] : []) + ["NAME", "BRAND", "UNIT"] + (hasNote ? ["NOTE"] : []))
    for result in results {
      let product = result.product
      func cell(_ field: String, _ text: String, limit: Int) -> String {
        let ranges = result.matched.first { $0.field == field }?.ranges ?? []
        return Table.cell(text, highlighting: ranges, limit: limit)
      }
      table.add(
        [Table.cell(product.id, limit: 28), cell("barcode", product.barcode, limit: 24)]
          + (hasSKU ? [cell("skuCode", product.skuCode, limit: 24)] : [])
          + [
            cell("name", product.name, limit: 56), cell("brand", product.brand, limit: 20),
            Table.cell(product.unit, limit: 12),
          ]
          + (hasNote
            ? [result.package?.words ?? Table.cell(result.meant.map { "meant: " + $0 } ?? "", limit: 40)] : []))
    }
    table.print()
  }
}
