internal import JSONFormat

/// The rows of a database as NDJSON, read piece by piece: an object on each line, the products first.
///
/// Both statements run in one transaction that only reads and sees one state of the database. Values keep their types:
/// numbers their digits, `boolean` is true or false, `json` is what it contains, and all others are texts as the server
/// writes them, times in the time zone UTC unless `PGTZ` names another. A relation without an id gets one of its two ids.
/// Line `n` is row `n`. Memory: one row, and one piece of about 256 KiB.
public struct DatabaseRows: ~Copyable {
  private static let pieceByteCount = 256 << 10

  #if PostgreSQL
  private var connection: DatabaseConnection
  #endif
  private let query: DatabaseQuery
  private var statement = Statement.products
  private var columns: [Column] = []
  /// The columns with the two ids of a relation, if it has no id of its own.
  private var pair: (set: Int, part: Int)?
  /// The greatest value of the column ``DatabaseQuery/since``, as text; `nil` without the column or without rows.
  public private(set) var newest: String?

  private enum Statement { case products, relations, over }

  private struct Column {
    /// The name as a JSON string, and a colon.
    var key: [UInt8]
    var kind: DatabaseValue
  }

  /// Connects, and sends the first statement.
  ///
  /// - Parameters:
  ///   - query: Where to connect to, and what to ask.
  ///   - isInterrupted: Whether to stop; asked about ten times a second.
  /// - Throws: ``DatabaseError``.
  public init(_ query: DatabaseQuery, isInterrupted: @escaping @Sendable () -> Bool = { false }) throws(DatabaseError) {
    #if PostgreSQL
    var connection = try DatabaseConnection.open(query.url, isInterrupted: isInterrupted)
    do throws(DatabaseError) { newest = try Self.begin(query, &connection) } catch {
      connection.cancel()
      throw error
    }
    self.connection = connection
    self.query = query
    #else
    throw .notBuilt
    #endif
  }

  /// The next lines; `nil` at the end.
  ///
  /// - Throws: ``DatabaseError``. A statement that runs has then been cancelled.
  public mutating func next() throws(DatabaseError) -> [UInt8]? {
    #if PostgreSQL
    do throws(DatabaseError) { return try read() } catch {
      connection.cancel()
      throw error
    }
    #else
    return nil
    #endif
  }

  #if PostgreSQL
  private var statementName: String {
    statement == .relations ? "the statement for relations" : "the statement for products"
  }

  /// Begins the transaction, and sends the first statement.
  ///
  /// - Returns: The greatest value of the column that shows newer rows.
  private static func begin(
    _ query: DatabaseQuery, _ connection: inout DatabaseConnection
  ) throws(DatabaseError) -> String? {
    if !DatabaseConnection.hasOwnTimeZone { try connection.run("SET TimeZone TO 'UTC'", "the time zone") }
    try connection.run("SET DateStyle TO 'ISO'", "the form of dates")
    if let timeout = query.statementTimeout {
      try connection.run("SET statement_timeout TO \(timeout.components.seconds * 1000)", "the time-out")
    }
    try connection.run("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", "the transaction")
    var newest: String?
    var type: DatabaseQuery.SinceType?
    if let text = query.sinceTypeStatement, let newestStatement = query.newestStatement, let column = query.since {
      let name = "the column of --since"
      try connection.send(text)
      while let result = try connection.next(name) {
        guard let found = result.columns.first.flatMap({ DatabaseQuery.SinceType($0.type) }) else {
          throw .sinceType(column: column)
        }
        type = found
      }
      try connection.send(newestStatement)
      while let result = try connection.next(name) {
        if result.isRow { newest = result.text(0) }
      }
    }
    let (text, parameter) = query.productsStatement(type)
    try connection.send(text, parameter)
    return newest
  }

  private mutating func read() throws(DatabaseError) -> [UInt8]? {
    var piece: [UInt8] = []
    while statement != .over {
      guard let result = try connection.next(statementName) else {
        guard statement == .products, let relations = query.relations else {
          statement = .over
          try connection.run("COMMIT", "the end of the transaction")
          break
        }
        statement = .relations
        columns = []
        try connection.send(relations)
        continue
      }
      guard result.hasColumns else { throw .noRows(statement: statementName) }
      if columns.isEmpty { try prepare(result.columns) }
      if result.isRow { append(result, to: &piece) }
      if piece.count >= Self.pieceByteCount { return piece }
    }
    return piece.isEmpty ? nil : piece
  }

  private func append(_ result: borrowing DatabaseResult, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "{"))
    if statement == .relations { json += #""type":"relation","#.utf8 }
    for index in columns.indices {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      json += columns[index].key
      result.withValue(index) { columns[index].kind.append($0, to: &json) }
    }
    if let (set, part) = pair {
      json += #","id":"#.utf8
      JSONWriter.append(text: "\(result.text(set) ?? ""):\(result.text(part) ?? "")", to: &json)
    }
    json += [UInt8(ascii: "}"), 0x0A]
  }

  // MARK: Columns

  private mutating func prepare(_ found: [(name: String, type: UInt32)]) throws(DatabaseError) {
    var names = found.map(\.name)
    if statement == .relations {
      names = try Self.relationNames(names)
      if !names.contains("id"), let set = names.firstIndex(of: "productId"),
        let part = names.firstIndex(of: "subProductId")
      {
        pair = (set, part)
      }
    }
    for (index, name) in names.enumerated() where names[..<index].contains(name) {
      throw .columnTwice(statement: statementName, column: name)
    }
    columns = zip(names, found).map { name, column in
      var key: [UInt8] = []
      JSONWriter.append(text: name, to: &key)
      key.append(UInt8(ascii: ":"))
      return Column(key: key, kind: DatabaseValue(type: column.type))
    }
  }

  /// The columns of relations under the names of their fields. PostgreSQL writes names without quotes in lower case, so
  /// case and underscores do not matter, and some common names are known.
  private static func relationNames(_ names: [String]) throws(DatabaseError) -> [String] {
    var fields = names
    for (field, known) in [
      ("productId", ["productid", "setid", "parentid", "parentproductid"]),
      ("subProductId", ["subproductid", "partid", "componentid", "childid", "componentproductid"]),
      ("groupNum", ["groupnum", "quantity", "qty", "count", "amount"]), ("id", ["id"]),
    ] {
      let plain = names.map { $0.lowercased().filter { $0 != "_" } }
      if let index = known.lazy.compactMap({ plain.firstIndex(of: $0) }).first {
        fields[index] = field
      } else if field == "productId" || field == "subProductId" {
        throw .columnMissing(column: field, names: names)
      }
    }
    return fields
  }
  #endif
}
