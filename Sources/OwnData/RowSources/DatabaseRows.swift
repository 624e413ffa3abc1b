internal import JSONFormat

/// The rows of a database as NDJSON, read piece by piece: an object on each line, the products first, the codes last.
///
/// All statements run in one transaction that only reads and sees one state of the database. Rows come by COPY, or one
/// by one if the server cannot copy a statement. Values keep their types: numbers their digits, `boolean` is true or
/// false, `json` is what it contains, and all others are texts as the server writes them, times in the time zone UTC
/// unless `PGTZ` names another. A relation without an id gets one of its two ids. Line `n` is row `n`. Memory: one row,
/// and one piece of about 256 KiB.
package struct DatabaseRows: ~Copyable {
  private static let pieceByteCount = 256 << 10

  #if PostgreSQL
  private var connection: DatabaseConnection
  #endif
  private let query: DatabaseQuery
  private var statement = Statement.products
  private var isCopying: Bool
  private var format: RowFormat
  private var copied = CopiedRow()
  /// The greatest value of the column ``DatabaseQuery/since`` that is not after the server's time, as text; `nil` without
  /// the column or without such rows.
  package let newest: String?
  /// Whether only rows from the former cursor on are read. Without a usable one, all rows are.
  package let hasNewerOnly: Bool
  /// What a person should know about the column ``DatabaseQuery/since``.
  package let notices: [String]

  private enum Statement {
    case products, relations, codes, over

    /// Its name in messages.
    var name: String {
      switch self {
      case .relations: "the statement for relations"
      case .codes: "the statement for codes"
      case .products, .over: "the statement for products"
      }
    }
  }

  /// Connects, and sends the first statement.
  ///
  /// - Parameters:
  ///   - query: The address and the statements.
  ///   - isInterrupted: Returns whether to stop; called about ten times a second.
  /// - Throws: ``DatabaseError``.
  package init(_ query: DatabaseQuery, isInterrupted: @escaping @Sendable () -> Bool = { false }) throws(DatabaseError)
  {
    #if PostgreSQL
    var connection = try DatabaseConnection.open(query.url, isInterrupted: isInterrupted)
    let cursor: DatabaseCursor?
    let begun: (format: RowFormat, isCopying: Bool)
    do throws(DatabaseError) {
      cursor = try Self.begin(query, &connection)
      begun = try Self.begin(.products, query.productsStatement(cursor), query, &connection)
    } catch {
      connection.cancel()
      throw error
    }
    self.connection = connection
    self.query = query
    newest = cursor?.newest
    hasNewerOnly = cursor?.condition != nil
    notices = cursor?.notices ?? []
    (format, isCopying) = begun
    #else
    throw .notBuilt
    #endif
  }

  /// Returns the next lines; `nil` at the end.
  ///
  /// - Throws: ``DatabaseError``. A running statement is cancelled.
  package mutating func next() throws(DatabaseError) -> [UInt8]? {
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
  /// Begins the transaction.
  ///
  /// - Returns: The column that shows newer rows; `nil` without one.
  private static func begin(
    _ query: DatabaseQuery, _ connection: inout DatabaseConnection
  ) throws(DatabaseError) -> DatabaseCursor? {
    try connection.run("SET DateStyle TO 'ISO'", "the form of dates")
    if let timeout = query.statementTimeout {
      try connection.run("SET statement_timeout TO \(timeout.components.seconds * 1000)", "the time-out")
    }
    try connection.run("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", "the transaction")
    // The server's own time zone is that of times without one.
    let clock = query.since == nil ? nil : try ServerClock(&connection)
    if !DatabaseConnection.hasOwnTimeZone { try connection.run("SET TimeZone TO 'UTC'", "the time zone") }
    if let clock { return try query.cursor(clock, &connection) }
    return nil
  }

  private mutating func read() throws(DatabaseError) -> [UInt8]? {
    var piece: [UInt8] = []
    piece.reserveCapacity(Self.pieceByteCount + Self.pieceByteCount / 8)
    while statement != .over, piece.count < Self.pieceByteCount {
      switch statement {
      case .products, .relations, .codes:
        if try isCopying ? readCopied(&piece) : readRow(&piece) { continue }
        if statement == .products, let relations = query.relations {
          statement = .relations
          (format, isCopying) = try Self.begin(statement, relations, query, &connection)
        } else if statement != .codes, let codes = query.codes {
          statement = .codes
          (format, isCopying) = try Self.begin(statement, codes, query, &connection)
        } else {
          statement = .over
          try connection.run("COMMIT", "the end of the transaction")
        }
      case .over: break
      }
    }
    return piece.isEmpty ? nil : piece
  }

  /// Sends a statement.
  ///
  /// - Returns: The form of its rows, and whether they are copied.
  private static func begin(
    _ statement: Statement, _ text: String, _ query: DatabaseQuery, _ connection: inout DatabaseConnection
  ) throws(DatabaseError) -> (format: RowFormat, isCopying: Bool) {
    let columns = try connection.columns(of: text, statement.name)
    if columns.isEmpty { throw .noRows(statement: statement.name) }
    let format =
      statement == .codes
      ? try RowFormat(columns, query.codeColumns, statement.name)
      : try RowFormat(columns, isRelation: statement == .relations, statement.name)
    let isCopying = try connection.beginCopy(DatabaseQuery.copy(text), statement.name)
    if !isCopying { try connection.send(text) }
    return (format, isCopying)
  }

  /// Reads the next row; returns `false` at the end.
  private mutating func readRow(_ piece: inout [UInt8]) throws(DatabaseError) -> Bool {
    guard let result = try connection.next(statement.name) else { return false }
    if result.isRow { format.append(to: &piece) { column, body in result.withValue(column, body) } }
    return true
  }

  /// Reads rows up to the size of a piece; returns `false` at the end.
  private mutating func readCopied(_ piece: inout [UInt8]) throws(DatabaseError) -> Bool {
    let format = format
    var row = CopiedRow()
    swap(&row, &copied)
    defer { swap(&row, &copied) }
    var isWhole = true
    let hasMore = try connection.copyRows(statement.name) { bytes in
      row.split(bytes)
      isWhole = row.count == format.columns.count
      if !isWhole { return false }
      format.append(to: &piece) { column, body in row.withValue(column, body) }
      return piece.count < Self.pieceByteCount
    }
    guard isWhole else {
      throw .unreachable(
        reason: "a row of \(statement.name) has \(row.count) values instead of \(format.columns.count)")
    }
    return hasMore
  }
  #endif
}

/// The format in which the rows of a statement are written as JSON.
private struct RowFormat {
  struct Column {
    /// The name as a JSON string, and a colon.
    var key: [UInt8]
    var kind: DatabaseValue
  }

  private(set) var columns: [Column] = []
  private var isRelation = false
  /// What a row of a code begins with.
  private var prefix: [UInt8] = []
  /// The columns of the statement that are written, in their order.
  private var written: [Int] = []
  /// The columns with the two ids of a relation, if it has no id of its own.
  private var pair: (set: Int, part: Int)?

  /// - Parameters:
  ///   - found: The names of the columns and the object ids of their types.
  ///   - statement: The name of the statement in messages.
  /// - Throws: ``DatabaseError/columnTwice(statement:column:)``, ``DatabaseError/columnMissing(column:names:)``.
  init(_ found: [(name: String, type: UInt32)], isRelation: Bool, _ statement: String) throws(DatabaseError) {
    self.isRelation = isRelation
    var names = found.map(\.name)
    if isRelation {
      names = try Self.relationNames(names)
      if !names.contains("id"), let set = names.firstIndex(of: "productId"),
        let part = names.firstIndex(of: "subProductId")
      {
        pair = (set, part)
      }
    }
    for (index, name) in names.enumerated() where names[..<index].contains(name) {
      throw .columnTwice(statement: statement, column: name)
    }
    written = Array(names.indices)
    columns = zip(names, found).map { name, column in
      var key: [UInt8] = []
      JSONWriter.append(text: name, to: &key)
      key.append(UInt8(ascii: ":"))
      return Column(key: key, kind: DatabaseValue(type: column.type))
    }
  }

  /// The format of codes, which have the columns of their fields and no others.
  ///
  /// - Parameters:
  ///   - found: The names of the columns and the object ids of their types.
  ///   - fields: The fields of a code.
  ///   - statement: The name of the statement in messages.
  /// - Throws: ``DatabaseError/columnTwice(statement:column:)``, ``DatabaseError/codeColumnMissing(column:names:)``.
  init(
    _ found: [(name: String, type: UInt32)], _ fields: [DatabaseQuery.CodeColumn], _ statement: String
  ) throws(DatabaseError) {
    let names = found.map(\.name)
    for (index, name) in names.enumerated() where names[..<index].contains(name) {
      throw .columnTwice(statement: statement, column: name)
    }
    let plain = names.map { $0.lowercased().filter { $0.isLetter || $0.isNumber } }
    prefix = Array(#""type":"code","#.utf8)
    var uses = [String?](repeating: nil, count: names.count)
    for field in fields {
      if let constant = field.constant {
        prefix += "\"\(field.field)\":\(constant),".utf8
        continue
      }
      var index = field.exact.flatMap { names.firstIndex(of: $0) }
      if field.exact == nil {
        index =
          field.names.lazy.compactMap { name in plain.indices.first { plain[$0] == name && uses[$0] == nil } }.first
      }
      if let index {
        uses[index] = field.field
      } else if field.isRequired || field.exact != nil {
        throw .codeColumnMissing(column: field.exact ?? field.field, names: names)
      }
    }
    written = uses.indices.filter { uses[$0] != nil }
    columns = zip(uses, found).map { use, column in
      var key: [UInt8] = []
      JSONWriter.append(text: use ?? column.name, to: &key)
      key.append(UInt8(ascii: ":"))
      return Column(key: key, kind: DatabaseValue(type: column.type))
    }
  }

  /// Appends a row as JSON.
  ///
  /// - Parameter withValue: Calls its second argument with the value of a column; `nil` for NULL.
  func append(to json: inout [UInt8], _ withValue: (Int, (Span<UInt8>?) -> Void) -> Void) {
    json.append(UInt8(ascii: "{"))
    if isRelation { json += #""type":"relation","#.utf8 }
    json += prefix
    for (number, index) in written.enumerated() {
      if number > 0 { json.append(UInt8(ascii: ",")) }
      json += columns[index].key
      withValue(index) { columns[index].kind.append($0, to: &json) }
    }
    if let (set, part) = pair {
      var id: [UInt8] = []
      for (column, isFirst) in [(set, true), (part, false)] {
        if !isFirst { id.append(UInt8(ascii: ":")) }
        withValue(column) { value in
          if let value { id.append(copying: value.extracting(0..<columns[column].kind.byteCount(value))) }
        }
      }
      json += #","id":"#.utf8
      JSONWriter.append(text: id.span, to: &json)
    }
    json += [UInt8(ascii: "}"), 0x0A]
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
      // The exact name goes before all others, wherever it stands.
      if names.contains(field) { continue }
      let plain = names.map { $0.lowercased().filter { $0 != "_" } }
      if let index = known.lazy.compactMap({ plain.firstIndex(of: $0) }).first {
        fields[index] = field
      } else if field == "productId" || field == "subProductId" {
        throw .columnMissing(column: field, names: names)
      }
    }
    return fields
  }
}
