package import Platform

/// The address of a PostgreSQL database with a catalogue, and the statements that read the catalogue's rows.
package struct DatabaseQuery: Sendable, Equatable {
  /// The address in the form of libpq: `postgresql://user@host/database?sslmode=verify-full`. Missing parts come from
  /// libpq's environment variables, service file and password file.
  package var url: String
  /// A statement that returns a row for each product, with the columns of a file.
  package var products: String
  /// A statement that returns a row for each relation; `nil` if there are none.
  package var relations: String?
  /// A statement that returns a row for each code of a table of codes; `nil` if there is none.
  package var codes: String?
  /// The columns of ``codes``, in the order in which they are looked for.
  package var codeColumns: [CodeColumn] = []

  /// A field of a code, and the columns that it may come from.
  package struct CodeColumn: Sendable, Equatable {
    /// The name of the field.
    package var field: String
    /// The column that has to be there; `nil` to take one of ``names``.
    package var exact: String?
    /// The names of columns, in lower case and without punctuation; the first one that there is counts.
    package var names: [String] = []
    /// The value of all rows as JSON; `nil` if a column has it.
    package var constant: String?
    /// Whether a code needs it.
    package var isRequired: Bool

    /// Creates a column.
    package init(_ field: String, isRequired: Bool) {
      self.field = field
      self.isRequired = isRequired
    }
  }

  /// A column of ``products`` that grows with every change of a row: a time, a number, or a time as text. `nil` to read
  /// all rows.
  package var since: String?
  /// The value of ``since`` up to which rows were read before; `nil` to read all rows.
  package var lastSeen: String?
  /// The interval before ``lastSeen`` that is read again if the column is a time: transactions may commit their rows in
  /// another order than that of the column.
  package var overlap: Duration = .seconds(300)
  /// The time after which the server ends a statement; `nil` for the server's own limit.
  package var statementTimeout: Duration?

  /// Creates a query. Opens no connection.
  package init(url: String, products: String, relations: String? = nil) {
    self.url = url
    self.products = products
    self.relations = relations
  }

  /// Whether a text is the address of a database, and not the name of a file.
  package static func isURL(_ text: String) -> Bool {
    text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
  }

  /// A statement for all rows of a table.
  ///
  /// - Parameter name: The table's name, after that of its schema and a point if there is one, in its exact case.
  package static func rows(ofTable name: String) -> String {
    "SELECT * FROM "
      + name.split(separator: ".", omittingEmptySubsequences: false).map(identifier).joined(separator: ".")
  }

  /// The address for messages: without user, password and options.
  package var name: String {
    let end = url.firstIndex(of: "?") ?? url.endIndex
    guard let start = url.firstRange(of: "://")?.upperBound, start <= end else { return "the database" }
    let place = url[start..<end]
    if let sign = place.lastIndex(of: "@") { return "postgresql://" + place[place.index(after: sign)...] }
    // The question mark may belong to a password.
    return "postgresql://" + (url[end...].contains("@") ? "" : place)
  }

  // MARK: Statements

  private static func identifier(_ name: some StringProtocol) -> String {
    "\"" + String(name).replacing("\"", with: "\"\"") + "\""
  }

  /// A statement as a table.
  static func table(_ statement: String) -> String { inParentheses(statement) + " AS \"rows\"" }

  /// A statement in parentheses, without a semicolon at its end.
  private static func inParentheses(_ statement: String) -> String {
    var text = statement[...]
    while let last = text.last, last.isWhitespace || last == ";" { text.removeLast() }
    // The statement may end with a comment.
    return "(\(text)\n)"
  }

  /// The column ``since`` in a statement.
  var sinceColumn: String? { since.map { "\"rows\"." + Self.identifier($0) } }

  /// The statement for the products.
  func productsStatement(_ cursor: DatabaseCursor?) -> String {
    guard let condition = cursor?.condition else { return products }
    return "SELECT \"rows\".* FROM \(Self.table(products)) WHERE \(condition)"
  }

  /// A statement that copies the rows of another one to the client.
  static func copy(_ statement: String) -> String { "COPY \(inParentheses(statement)) TO STDOUT" }

  /// A text as a literal, whatever the server does with backslashes.
  static func literal(_ text: String) -> String {
    "E'" + text.replacing("\\", with: "\\\\").replacing("'", with: "''") + "'"
  }
}

/// The object ids of PostgreSQL's own types, which never change.
enum ColumnType {
  static let bool: UInt32 = 16
  static let int8: UInt32 = 20
  static let int2: UInt32 = 21
  static let int4: UInt32 = 23
  static let text: UInt32 = 25
  static let json: UInt32 = 114
  static let float4: UInt32 = 700
  static let float8: UInt32 = 701
  static let bpchar: UInt32 = 1042
  static let varchar: UInt32 = 1043
  static let date: UInt32 = 1082
  static let timestamp: UInt32 = 1114
  static let timestamptz: UInt32 = 1184
  static let numeric: UInt32 = 1700
  static let jsonb: UInt32 = 3802
}

/// An error of a database, or of the connection to it.
package enum DatabaseError: Error, Sendable, Equatable {
  /// This program was built without the trait PostgreSQL.
  case notBuilt
  /// libpq cannot be used.
  case noLibrary(reason: String)
  /// The connection cannot be opened, or broke.
  case unreachable(reason: String)
  /// The connection was not opened in time.
  case connectTimeout(seconds: Int64)
  /// The server refused a statement: its name, the SQLSTATE, and the server's message.
  case refused(statement: String, state: String, reason: String)
  /// A statement returns no rows.
  case noRows(statement: String)
  /// Two columns of a statement have the same name.
  case columnTwice(statement: String, column: String)
  /// The statement for relations does not return a column that it needs.
  case columnMissing(column: String, names: [String])
  /// The statement for codes does not return a column that it needs.
  case codeColumnMissing(column: String, names: [String])
  /// The column for newer rows has a type without an ascending order.
  case sinceType(column: String)
  /// The column for newer rows has texts, examples of which are `values`, whose order is not that of time.
  case sinceText(column: String, values: [String])
  /// The catalogue's cursor is no value of the column for newer rows.
  case sinceCursor(column: String, cursor: String)
  /// The query was interrupted.
  case interrupted
}

extension DatabaseError: CustomStringConvertible {
  /// The error and its remedy, for people.
  package var description: String {
    switch self {
    case .notBuilt: "this program was built without PostgreSQL; build it with --traits PostgreSQL"
    case .noLibrary(let reason): reason
    case .unreachable(let reason): reason
    case .connectTimeout(let seconds):
      "no connection within \(seconds) s; check the address, or allow more with connect_timeout=SECONDS in it"
    case .refused(let statement, let state, let reason):
      "the server refused \(statement): \(reason) (SQLSTATE \(state))"
        + (Self.isTemporary(state) ? "; nothing was changed, try again" : "")
        + (state == "57014" ? "; --statement-timeout allows more" : "")
    case .noRows(let statement): "\(statement) returns no rows at all; give a SELECT"
    case .columnTwice(let statement, let column):
      "\(statement) returns two columns \"\(column)\"; name one of them with AS"
    case .columnMissing(let column, let names):
      "the statement of --relations returns no column \(column); it has \(names.joined(separator: ", ")): name one with"
        + " AS \"\(column)\""
    case .codeColumnMissing(let column, let names):
      "the statement of --codes returns no column \(column); it has \(names.joined(separator: ", ")): name one with"
        + " AS \"\(column)\""
    case .sinceType(let column):
      "the column \"\(column)\" of --since has neither a time, a number nor a text, so rows have no order in it; name"
        + " another one, or convert it in the statement, as in CAST(CAST(xmin AS text) AS bigint) AS version"
    case .sinceText(let column, let values):
      "the column \"\(column)\" of --since has texts whose order is not that of time, such as"
        + " \(values.map { "\"\($0.prefix(60))\"" }.joined(separator: " and ")); make a time of it in the statement, as in"
        + " --products \"SELECT *, to_timestamp(\(column), 'DD.MM.YYYY HH24:MI:SS') AS changed_at FROM …\", with --since"
        + " changed_at and --unknown ignore; texts like 2026-01-31T12:00:00Z, all written alike, are taken as they are"
    case .sinceCursor(let column, let cursor):
      "the catalogue's cursor \"\(cursor)\" is no value of the column \"\(column)\" of --since; --delete-missing reads all"
        + " rows once, and sets it anew"
    case .interrupted: "interrupted; nothing was changed"
    }
  }
}

extension DatabaseError: ProgramError {
  /// Whether a SQLSTATE stands for a conflict with what others do at the moment: a transaction that was rolled back, as
  /// on a standby whose recovery needs the rows, and a lock that another one holds.
  private static func isTemporary(_ state: String) -> Bool { state.hasPrefix("40") || state == "55P03" }

  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    switch self {
    case .notBuilt, .noRows, .columnTwice, .columnMissing, .codeColumnMissing, .sinceType, .sinceText: .usage
    case .sinceCursor: .data
    case .refused(_, let state, _):
      switch state.prefix(2) {
      // A faulty statement, something the server cannot do, a statement that writes.
      case "42", "0A", "25": .usage
      // A faulty value, as in a division by zero.
      case "22": .data
      default: Self.isTemporary(state) ? .temporary : .unavailable
      }
    case .noLibrary, .unreachable, .connectTimeout: .unavailable
    case .interrupted: .temporary
    }
  }
}
