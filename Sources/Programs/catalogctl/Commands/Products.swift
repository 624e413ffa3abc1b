import ArgumentParser
import Bytes
import Catalog
import CatalogRows
import DocumentFormat
import JSONFormat
import LogStore
import TextFormat

struct Products: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "products",
    abstract: "List, count or group the products that meet a condition.",
    discussion: """
      catalogctl products --where "weight > 10 && isSaleProduct" --order name --limit 50 --columns id,name
      catalogctl products --where "name like '%lamp%' nocase" --group-by brand --sum weight --csv

      The condition is written as for 'documents query', over the 25 fields that 'get' prints: == != < <= > >=, in [a, \
      b], contains, like 'A%_', hasprefix 'A'; nocase after the text of contains, like and hasprefix ignores case; a \
      field alone, such as isSaleProduct, means == true; && (and), || (or), ! (not) and parentheses join them. Times \
      are texts: updateTime >= '2026-01-31'. A product has every field, so none is null: compare with '' or 0. A field \
      that no product has, and a constant of another kind than its field, are errors.

      codeCount is the number of a product's further codes, as in codeCount > 0, and a column, an order and a group too. \
      codes.code, codes.quantity, codes.unit, codes.kind and codes.id are their fields: a comparison such as \
      codes.code == '14006381333938' holds if it holds for one of the codes. The column codes has them, in JSON as a list.

      Products that the server sent as deleted are listed too, as by 'find' and 'dump', and marked; delFlag == 0 \
      leaves them out.

      Products that equal an id, a barcode or a codes.code, also with in, are looked up. Comparisons of updateTime and id, equal \
      brands and categories, and beginnings of barcodes use the ordered indexes of the catalogue, and so does --order \
      id or updateTime with a limit. Any other condition reads the catalogue once, and without --order stops at the \
      limit. --explain says which it is. Products come in the order of the file, which is the same for every run on \
      one commit; --order gives them another one, and --order id that of 'dump'.

      catalogctl products --in-order-of brand --limit 50

      --in-order-of reads the products in the order of an index, which takes no longer for the last page of a large \
      catalogue than for the first: by id, barcode, name, category, brand or updateTime, as far as ordered.indexes has \
      them. Names, categories and brands are in the order of their folded texts, without case and accents; products \
      that the server sent as deleted are left out. With --limit the next page begins after the cursor that is printed \
      on standard error, as 'next page: --after CURSOR'.

      Groups have a column for each field, count, and one for each value, such as sum(weight); --order, --columns, \
      --limit and --offset then refer to these columns and to the groups. With --json a group is \
      {"group":{"brand":"GREE"},"count":3,"sum":{"weight":23.75}}.

      Exit code 1 if no product or group is listed, 64 if the condition is wrong. A count is an answer: 0 is printed, \
      and the exit code is 0; so are the sums of all products, without --group-by.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var window: WindowOptions
  @Option(
    name: .customLong("where"), help: ArgumentHelp("The condition; without it, all products.", valueName: "expr"))
  var filter: String?
  // A minus sign may begin the value.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Fields to order by: name, or name desc, or -name; several with commas.", valueName: "fields"))
  var order: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "List all products in the order of an index: id, barcode, name, category, brand or updateTime; - before it "
        + "reverses it.", valueName: "index"))
  var inOrderOf: String?
  @Option(help: ArgumentHelp("With --in-order-of: list the page after this cursor.", valueName: "cursor"))
  var after: String?
  @Option(help: ArgumentHelp("The columns to print, in this order; without it, all fields.", valueName: "fields"))
  var columns: String?
  @Flag(help: "Print the number of products. Groups always have it.") var count = false
  @Option(
    help: ArgumentHelp("Print a line for each group of products that are equal in these fields.", valueName: "fields"))
  var groupBy: String?
  @Option(help: ArgumentHelp("Sum up a number, over each group or over all products.", valueName: "fields"))
  var sum: [String] = []
  @Option(help: ArgumentHelp("The least value of a field.", valueName: "fields")) var min: [String] = []
  @Option(help: ArgumentHelp("The greatest value of a field.", valueName: "fields")) var max: [String] = []
  @Option(help: ArgumentHelp("The average of a number.", valueName: "fields")) var avg: [String] = []
  @Flag(help: "Print CSV with a header (RFC 4180).") var csv = false
  @Flag(help: "Say how the products are found, and how many were read, instead of the products.") var explain = false
  @Option(help: ArgumentHelp("The state at an earlier commit.", valueName: "sequence")) var at: UInt64?

  func validate() throws {
    if csv, output.json { throw ValidationError("give --csv or --json, one of them") }
    if explain, csv { throw ValidationError("--explain prints words or, with --json, JSON") }
    if explain, count || isGrouped {
      throw ValidationError("--explain is for a list of products; leave out --count and what makes groups")
    }
    if count, !isGrouped, columns != nil {
      throw ValidationError("a count has no columns; leave out --columns or --count")
    }
    if inOrderOf != nil {
      if filter != nil || order != nil || count || explain || isGrouped || window.offset > 0 {
        throw ValidationError("--in-order-of lists all products; only --limit, --after, --columns and --at go with it")
      }
    } else if after != nil {
      throw ValidationError("--after is for the pages of --in-order-of")
    }
  }

  /// Whether groups are printed. Aggregates without `--group-by` are those of one group.
  private var isGrouped: Bool { groupBy != nil || !(sum + min + max + avg).isEmpty }

  func run() throws {
    let snapshot = try at.map(store.commit) ?? store.snapshot()
    if let inOrderOf { return try printProducts(of: snapshot, inOrderOf: inOrderOf) }
    let text = filter ?? "true"
    let query = try ExpressionArgument.parsed("--where", text) { try snapshot.products(where: text) }
    let found: Int
    if isGrouped {
      found = try printGroups(of: query)
    } else if count {
      // A count of 0 is an answer.
      if try printCount(of: windowed(query)) == 0, !output.json, !nullHint.isEmpty {
        Console.say("catalogctl: no product meets that" + nullHint)
      }
      return
    } else {
      found = try printProducts(of: windowed(ordered(query)))
    }
    if found == 0 { throw Failure(.no, output.json ? "" : "no product meets that" + window.hint + nullHint) }
  }

  /// Advice if nothing was found because the condition asks for a value that no field has.
  private var nullHint: String {
    guard let filter, let condition = try? Condition(parsing: filter), condition.asksForNull else { return "" }
    return "; a product has every field, so none is null: compare with '' or 0"
  }

  private func ordered(_ query: ProductQuery) throws -> ProductQuery {
    guard let order else { return query }
    return try ExpressionArgument.parsed("--order", order) { try query.order(by: order) }
  }

  private func windowed(_ query: ProductQuery) -> ProductQuery {
    let query = query.offset(window.offset)
    return window.limit.map(query.limit) ?? query
  }

  private func shownColumns(_ declared: DeclaredFields) throws -> ProductColumns? {
    try columns.map { text in
      try ExpressionArgument.parsed("--columns", text) { try ProductColumns(parsing: text, declared: declared) }
    }
  }

  /// The fields of groups.
  private func groupFields(_ text: String, _ declared: DeclaredFields) throws -> [ProductQueryField] {
    try ExpressionArgument.parsed("--group-by", text) {
      let fields = try ProductColumns(parsing: text, declared: declared).fields
      for field in fields { try field.checkIsSingle() }
      return fields
    }
  }

  // MARK: Printing

  private var format: RowPrinter.Format { csv ? .csv : output.json ? .json : .table }

  private func printProducts(of query: ProductQuery) throws -> Int {
    let columns = try shownColumns(query.snapshot.fields)
    if explain { return try printPlan(of: query) }
    var printer = ProductPrinter(format, columns, query.snapshot)
    var found = 0
    try query.forEach { (view) throws(StoreError) in
      found += 1
      try printer.add(try query.snapshot.copy(view))
      return true
    }
    printer.end()
    return found
  }

  /// Prints the products in the order of an index: a page of them with a limit, otherwise all.
  private func printProducts(of snapshot: CatalogSnapshot, inOrderOf text: String) throws {
    guard let (order, isDescending) = CatalogIndexes.Order.parse(text) else {
      let known = CatalogIndexes.Order.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure(.usage, "--in-order-of \(text.shown): the orders are \(known), each with - before it or not")
    }
    var cursor = try after.map { text in
      guard let cursor = ProductCursor(text) else {
        throw Failure(.usage, "--after: take the cursor that the page before has printed, as it is")
      }
      return cursor
    }
    var printer = ProductPrinter(format, try shownColumns(snapshot.fields), snapshot)
    var found = 0
    repeat {
      let page = try snapshot.products(
        inOrderOf: order, after: cursor, descending: isDescending,
        limit: Swift.min(Self.pageLength, window.limit.map { $0 - found } ?? .max))
      for product in page.products { try printer.add(product) }
      found += page.products.count
      cursor = page.next
    } while cursor != nil && found < window.limit ?? .max
    printer.end()
    if let cursor { Console.say("next page: --after \(cursor)") }
    if found == 0 { throw Failure(.no, output.json ? "" : "there is no product" + (after == nil ? "" : " after that")) }
  }

  /// The number of products that are read at a time.
  private static let pageLength = 1000

  private func printPlan(of query: ProductQuery) throws -> Int {
    var found = 0
    var read = 0
    try query.forEach(countingInto: &read) { _ in
      found += 1
      return true
    }
    let plan = try query.plan
    if output.json {
      var keys: Int?
      if case .lookups(let ids, let barcodes, let codes) = plan { keys = ids + barcodes + codes }
      JSONText.object([
        ("plan", .text(plan.description)), ("scan", .bool(plan == .scan)),
        ("indexes", .array(plan.indexes.map(JSONText.text))), ("keys", keys.map(JSONText.int) ?? .null),
        ("productsRead", .int(read)), ("productsFound", .int(found)),
      ]).print()
    } else {
      Console.print(plan.description)
      Console.print("\(Quantity.of(read, "product")) read, \(Quantity.count(found)) found")
    }
    return found
  }

  private func printCount(of query: ProductQuery) throws -> Int {
    let count = try query.count()
    switch format {
    case .json: JSONText.object([("count", .int(count))]).print()
    case .table: Console.print(String(count))
    case .csv:
      var printer = RowPrinter(.csv, ["count"])
      printer.add([.integer(Int64(count))])
      printer.end()
    }
    return count
  }

  private func printGroups(of query: ProductQuery) throws -> Int {
    let declared = query.snapshot.fields
    let fields = try groupBy.map { try groupFields($0, declared) } ?? []
    let aggregates =
      try list("--sum", sum, declared, ProductAggregate.sum) + list("--min", min, declared, ProductAggregate.minimum)
      + list("--max", max, declared, ProductAggregate.maximum) + list("--avg", avg, declared, ProductAggregate.average)
    let all = fields.map { GroupColumn.key($0.key) } + [.count] + aggregates.map(\.column)
    let names = all.map(\.name)
    let order = try order.map { try ColumnOrder(parsing: $0, names) }
    let shown = try columns.map { try indexes(parsing: $0, names) } ?? Array(names.indices)
    let groups = try query.grouped(by: fields, aggregates).map { $0.key + [.integer(Int64($0.count))] + $0.values }
    let rows = (order?.sorted(groups) ?? groups).dropFirst(window.offset).prefix(window.limit ?? .max)
    if format == .json {
      for row in rows { GroupColumn.json(shown.map { all[$0] }, shown.map { row[$0] }).print() }
      return rows.count
    }
    var printer = RowPrinter(format, shown.map { names[$0] })
    for row in rows { printer.add(shown.map { row[$0] }) }
    printer.end()
    return rows.count
  }

  /// The indexes of the columns in the value of `--columns`, for groups.
  ///
  /// - Throws: `Failure` if it names something that is not a column, or a column twice.
  private func indexes(parsing text: String, _ names: [String]) throws -> [Int] {
    var indexes: [Int] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let name = part.trimmed
      guard let index = names.firstIndex(of: name) else {
        throw Failure(.usage, "--columns: " + ColumnOrder.unknown(name, names))
      }
      if indexes.contains(index) { throw Failure(.usage, "--columns: \(name) is in the list twice") }
      indexes.append(index)
    }
    return indexes
  }

  private func list(
    _ option: String, _ texts: [String], _ declared: DeclaredFields,
    _ aggregate: (ProductQueryField) -> ProductAggregate
  ) throws -> [ProductAggregate] {
    var aggregates: [ProductAggregate] = []
    for text in texts {
      try ExpressionArgument.parsed(option, text) {
        for field in try ProductColumns(parsing: text, declared: declared).fields {
          let new = aggregate(field)
          try new.check(declared)
          if aggregates.contains(new) { throw ProductQueryError.repeatedField(field, column: nil) }
          aggregates.append(new)
        }
      }
    }
    return aggregates
  }
}

extension Condition {
  /// Whether a part of it compares with null.
  fileprivate var asksForNull: Bool {
    switch self {
    case .isNull: true
    case .compare(_, _, let value): value.kind == .null
    case .isIn(_, let values): values.contains { $0.kind == .null }
    case .and(let parts), .or(let parts): parts.contains(where: \.asksForNull)
    case .not(let part): part.asksForNull
    case .contains, .like, .hasPrefix: false
    }
  }
}

extension ProductAggregate {
  fileprivate var column: GroupColumn {
    switch self {
    case .sum(let field): .aggregate("sum", of: field.key)
    case .minimum(let field): .aggregate("min", of: field.key)
    case .maximum(let field): .aggregate("max", of: field.key)
    case .average(let field): .aggregate("avg", of: field.key)
    }
  }
}
