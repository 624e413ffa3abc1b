import ArgumentParser
import CatalogSources
import RowSources

/// The options of a database as the source of rows, beside the statements.
struct DatabaseOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "All rows of a table, in place of --products; its schema and a point may stand before it.", valueName: "name"))
  var table: String?
  @Option(
    help: ArgumentHelp(
      "A time or number that grows with every change of a row, such as updated_at: read newer rows only.",
      valueName: "column"))
  var since: String?
  @Option(
    help: ArgumentHelp(
      "How far back to read again with --since, as transactions may commit late; 300 if nothing is said.",
      valueName: "seconds"))
  var overlap: Int?
  @Option(
    help: ArgumentHelp("End a statement of the database that takes longer.", valueName: "seconds"))
  var statementTimeout: Int?

  func validate() throws {
    if let overlap, !(0...2_592_000).contains(overlap) {
      throw ValidationError("--overlap is 0 to 2592000 seconds, a month")
    }
    if overlap != nil, since == nil { throw ValidationError("--overlap belongs to --since") }
    if let statementTimeout, !(1...86_400).contains(statementTimeout) {
      throw ValidationError("--statement-timeout is 1 to 86400 seconds")
    }
    if let table, table.isEmpty || table.hasPrefix(".") || table.hasSuffix(".") {
      throw ValidationError("--table names a table, such as products or shop.products")
    }
  }

  /// Whether one of the options was given.
  var areGiven: Bool { table != nil || since != nil || statementTimeout != nil }

  /// The query of a database.
  ///
  /// - Parameters:
  ///   - url: The address of the database.
  ///   - products: The statement for products; `nil` for that of the mapping, or the table.
  ///   - relations: The statement for relations; `nil` for that of the mapping, if there is one.
  ///   - map: The mapping, which may have statements.
  /// - Throws: `Failure` with exit code 64 if nothing says what to ask.
  func query(_ url: String, products: String?, relations: String?, _ map: MappingFile) throws -> DatabaseQuery {
    if products != nil, table != nil { throw Failure(.usage, "give --products or --table, one of them") }
    guard let products = products ?? table.map(DatabaseQuery.rows(ofTable:)) ?? map.products else {
      throw Failure(
        .usage,
        "the database needs a statement: --products 'SELECT …', or --table NAME; a mapping may have \"products\" too")
    }
    for (name, statement) in [("--products", products), ("--relations", relations ?? map.relations)]
    where statement?.allSatisfy({ $0.isWhitespace || $0 == ";" }) ?? false {
      throw Failure(.usage, "\(name) is empty; give a SELECT")
    }
    var query = DatabaseQuery(url: url, products: products, relations: relations ?? map.relations)
    query.since = since ?? map.since
    query.overlap = .seconds(overlap ?? 300)
    query.statementTimeout = statementTimeout.map { .seconds($0) }
    return query
  }
}
