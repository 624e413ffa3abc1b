#if PostgreSQL
internal import CPostgreSQL
internal import Platform

/// A connection to a PostgreSQL server. While it waits, it checks every 100 ms whether to stop.
///
/// Unsafe: the connection belongs to this value alone; texts of results are used before the result is cleared.
@safe
struct DatabaseConnection: ~Copyable {
  /// The interval in milliseconds at which it checks whether to stop.
  private static let moment: Int32 = 100
  private static let defaultConnectTimeout: Int64 = 10

  private let connection: OpaquePointer
  private let isInterrupted: @Sendable () -> Bool
  /// Whether a statement may be running.
  private var isBusy = false

  /// Starts to connect to a server.
  ///
  /// - Throws: `DatabaseError.noLibrary`; `DatabaseError.unreachable` if there is no memory.
  private init(begin url: String, isInterrupted: @escaping @Sendable () -> Bool) throws(DatabaseError) {
    // The reason is a constant text.
    if let reason = unsafe shelfmark_pq_load() { throw .noLibrary(reason: unsafe String(cString: reason)) }
    guard let connection = unsafe shelfmark_pq_start(url, "catalogctl") else {
      throw .unreachable(reason: "there is no memory for a connection")
    }
    unsafe self.connection = connection
    self.isInterrupted = isInterrupted
  }

  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - url: The address. Its `connect_timeout` limits the whole connection; the default is 10 seconds.
  ///   - isInterrupted: Returns whether to stop.
  /// - Throws: ``DatabaseError``.
  static func open(
    _ url: String, isInterrupted: @escaping @Sendable () -> Bool
  ) throws(DatabaseError) -> DatabaseConnection {
    let connection = try DatabaseConnection(begin: url, isInterrupted: isInterrupted)
    try connection.establish()
    return connection
  }

  private func establish() throws(DatabaseError) {
    let limit = max(1, option("connect_timeout").flatMap(Int64.init) ?? Self.defaultConnectTimeout)
    let deadline = ContinuousClock.now + .seconds(limit)
    if unsafe shelfmark_pq_is_bad(connection) { throw .unreachable(reason: message) }
    var events = POLLOUT
    while true {
      if isInterrupted() { throw .interrupted }
      if ContinuousClock.now > deadline { throw .connectTimeout(seconds: limit) }
      guard wait(for: events) else { continue }
      switch unsafe shelfmark_pq_connect_poll(connection) {
      case shelfmark_pq_polling_ok: return
      case shelfmark_pq_polling_reading: events = POLLIN
      case shelfmark_pq_polling_writing: events = POLLOUT
      default: throw .unreachable(reason: message)
      }
    }
  }

  deinit {
    // No other reference exists.
    unsafe shelfmark_pq_finish(connection)
  }

  /// Whether the environment names a time zone for connections.
  static var hasOwnTimeZone: Bool {
    // The environment does not change while statements are read.
    unsafe getenv("PGTZ") != nil
  }

  /// Cancels the running statement, if there is one.
  mutating func cancel() {
    if isBusy { unsafe shelfmark_pq_cancel(connection) }
    isBusy = false
  }

  /// The value of a connection option; `nil` if it has none.
  private func option(_ name: String) -> String? {
    let room = 64
    let connection = unsafe self.connection
    // The C function writes at most `room` bytes, the last of them zero.
    let text = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      let isFound = unsafe base.withMemoryRebound(to: CChar.self, capacity: room) {
        unsafe shelfmark_pq_option(connection, name, $0, room)
      }
      count = unsafe isFound ? (buffer.firstIndex(of: 0) ?? 0) : 0
    }
    return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
  }

  /// The last message of libpq, on one line.
  private var message: String {
    // The text is valid until the next call.
    let reason = Self.line(unsafe String(cString: shelfmark_pq_error_message(connection)))
    return reason.isEmpty ? "the connection was closed" : reason
  }

  /// A message of libpq on one line, without the mark that points at the position of an error.
  private static func line(_ text: String) -> String {
    let text = text.hasPrefix("ERROR:") ? text.dropFirst("ERROR:".count) : text[...]
    let parts = text.split(whereSeparator: \.isNewline).map { part in
      String(part.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
    return parts.filter { $0 != "^" }.joined(separator: "; ")
  }

  /// Waits a moment for the socket; returns whether it is ready.
  private func wait(for events: Int32) -> Bool {
    // The structure lives as long as the call.
    var entry = unsafe pollfd(fd: shelfmark_pq_socket(connection), events: Int16(events), revents: 0)
    return unsafe poll(&entry, 1, Self.moment) > 0
  }

  // MARK: Statements

  /// Sends a statement, whose results ``next(_:)`` returns.
  ///
  /// - Throws: ``DatabaseError``.
  mutating func send(_ statement: String) throws(DatabaseError) {
    isBusy = true
    guard unsafe shelfmark_pq_send(connection, statement) else { throw .unreachable(reason: message) }
    try flush()
  }

  private mutating func flush() throws(DatabaseError) {
    while true {
      let left = unsafe shelfmark_pq_flush(connection)
      if left == 0 { return }
      if left < 0 { throw .unreachable(reason: message) }
      // A server may send before it reads on.
      if wait(for: POLLIN | POLLOUT), !(unsafe shelfmark_pq_consume_input(connection)) {
        throw .unreachable(reason: message)
      }
      if isInterrupted() { throw .interrupted }
    }
  }

  /// The next result of the statement; `nil` at its end.
  ///
  /// - Parameter name: The name of the statement in messages.
  /// - Throws: ``DatabaseError``.
  mutating func next(_ name: String) throws(DatabaseError) -> DatabaseResult? {
    while unsafe shelfmark_pq_is_busy(connection) {
      if isInterrupted() { throw .interrupted }
      if wait(for: POLLIN), !(unsafe shelfmark_pq_consume_input(connection)) {
        throw .unreachable(reason: message)
      }
    }
    guard let pointer = unsafe shelfmark_pq_get_result(connection) else {
      isBusy = false
      return nil
    }
    let result = unsafe DatabaseResult(pointer)
    if unsafe shelfmark_pq_result_status(pointer) == shelfmark_pq_other {
      // The result owns both texts.
      let reason = Self.line(unsafe String(cString: shelfmark_pq_result_error(pointer)))
      guard let state = unsafe shelfmark_pq_result_state(pointer) else {
        throw .unreachable(reason: reason.isEmpty ? "\(name) has no result" : reason)
      }
      throw .refused(statement: name, state: unsafe String(cString: state), reason: reason)
    }
    return result
  }

  /// Runs a statement and ignores its rows.
  mutating func run(_ statement: String, _ name: String) throws(DatabaseError) {
    try send(statement)
    while try next(name) != nil {}
  }

  // MARK: Copies

  /// Returns the columns of a statement without running it.
  ///
  /// - Parameter name: The name of the statement in messages.
  /// - Returns: The names of the columns and the object ids of their types; empty if the statement returns no rows.
  /// - Throws: ``DatabaseError``, also for a statement that the server does not understand.
  mutating func columns(of statement: String, _ name: String) throws(DatabaseError) -> [(name: String, type: UInt32)] {
    isBusy = true
    guard unsafe shelfmark_pq_send_prepare(connection, statement) else { throw .unreachable(reason: message) }
    try flush()
    while try next(name) != nil {}
    isBusy = true
    guard unsafe shelfmark_pq_send_describe(connection) else { throw .unreachable(reason: message) }
    try flush()
    var columns: [(name: String, type: UInt32)] = []
    while let result = try next(name) { columns = result.columns }
    return columns
  }

  /// Starts to read all rows of a statement with COPY, which creates no result object for each row.
  ///
  /// - Parameter copy: The COPY statement.
  /// - Returns: Whether the server sends rows; `false` if it cannot copy such a statement, which has no effect then.
  /// - Throws: ``DatabaseError``.
  mutating func beginCopy(_ copy: String, _ name: String) throws(DatabaseError) -> Bool {
    // An error would end the transaction.
    try run("SAVEPOINT rows", "the transaction")
    isBusy = true
    guard unsafe shelfmark_pq_send_copy(connection, copy) else { throw .unreachable(reason: message) }
    try flush()
    do throws(DatabaseError) {
      // The rows come next; the statement's end after them.
      return try next(name) != nil
    } catch .refused(let statement, let state, let reason) {
      // SQLSTATE: a syntax error, or a feature that is not supported.
      guard ["42601", "0A000"].contains(state) else {
        throw .refused(statement: statement, state: state, reason: reason)
      }
    }
    while try next(name) != nil {}
    try run("ROLLBACK TO SAVEPOINT rows", "the transaction")
    return false
  }

  /// Calls `body` with each row that COPY sends, in its text format with the line feed, until it returns `false`.
  ///
  /// - Returns: Whether there may be more rows.
  /// - Throws: ``DatabaseError``.
  mutating func copyRows(_ name: String, _ body: (Span<UInt8>) -> Bool) throws(DatabaseError) -> Bool {
    if isInterrupted() { throw .interrupted }
    while true {
      var row: UnsafeMutablePointer<CChar>?
      let length = unsafe shelfmark_pq_get_copy_data(connection, &row)
      if length > 0, let bytes = unsafe row {
        // The library has allocated as many bytes, which are freed once.
        defer { unsafe shelfmark_pq_free(bytes) }
        let text = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(length)).bindMemory(to: UInt8.self)
        if unsafe !body(text.span) { return true }
        continue
      }
      if length == 0 {
        if isInterrupted() { throw .interrupted }
        if wait(for: POLLIN), !(unsafe shelfmark_pq_consume_input(connection)) { throw .unreachable(reason: message) }
        continue
      }
      let reason = message
      // An error of the statement is its result.
      while try next(name) != nil {}
      if length < -1 { throw .unreachable(reason: reason) }
      return false
    }
  }
}

/// A row of a statement, or its end.
///
/// Unsafe: the result belongs to this value alone, and so do its texts.
@safe
struct DatabaseResult: ~Copyable {
  private let result: OpaquePointer

  @unsafe init(_ result: OpaquePointer) { unsafe self.result = result }

  deinit {
    // No other reference exists.
    unsafe shelfmark_pq_clear(result)
  }

  /// Whether this is a row, and not the end.
  var isRow: Bool { unsafe shelfmark_pq_row_count(result) > 0 }

  /// The names of the columns and the object ids of their types.
  var columns: [(name: String, type: UInt32)] {
    let count = unsafe shelfmark_pq_field_count(result)
    return (0..<count).map { field in
      // The result owns the name.
      let name = unsafe shelfmark_pq_field_name(result, field).map { unsafe String(cString: $0) } ?? ""
      return (name, unsafe shelfmark_pq_field_type(result, field))
    }
  }

  /// A value of the row; `nil` for SQL's NULL.
  func text(_ column: Int) -> String? {
    withValue(column) { value -> String? in
      guard let value else { return nil }
      return String(decoding: value.indices.map { value[$0] }, as: UTF8.self)
    }
  }

  /// Calls `body` with the text of a value of the row; `nil` for SQL's NULL.
  func withValue<Result>(_ column: Int, _ body: (Span<UInt8>?) -> Result) -> Result {
    var length = 0
    guard let text = unsafe shelfmark_pq_value(result, 0, Int32(column), &length) else { return body(nil) }
    // The result owns as many bytes.
    return unsafe body(UnsafeRawBufferPointer(start: text, count: length).bindMemory(to: UInt8.self).span)
  }
}
#endif
