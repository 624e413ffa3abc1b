/// The column that shows newer rows, as one snapshot of a database has it: the next cursor, and the rows to read.
///
/// The cursor is never after the server's time of the snapshot: a single row with a date in 2062, or `infinity`, would
/// otherwise hide every later change. Rows after that time are greater than the cursor, so each run reads them again.
struct DatabaseCursor {
  /// The next cursor: the greatest value that is not after the server's time. `nil` if no row has such a value.
  var newest: String?
  /// The condition of the rows to read; `nil` for all rows.
  var condition: String?
  /// What a person should know: rows after the server's time, and a former cursor that could not be used.
  var notices: [String] = []
}

#if PostgreSQL
/// The server's time after the snapshot was taken, so that no visible row was written after it.
struct ServerClock {
  /// The time with its zone.
  var zoned: String
  /// The time in the server's own time zone.
  var local: String
  /// The whole seconds since 1970, rounded up.
  var seconds: Int

  /// Asks for the time. As the first statement of a transaction, it takes the snapshot.
  ///
  /// - Throws: ``DatabaseError``.
  init(_ connection: inout DatabaseConnection) throws(DatabaseError) {
    let row = try connection.values(
      "SELECT CAST(t AS text), CAST(CAST(t AS timestamp) AS text),"
        + " CAST(CAST(floor(extract(epoch FROM t)) AS bigint) + 1 AS text)"
        + " FROM (SELECT clock_timestamp() AS t) AS \"clock\"", "the server's time")
    (zoned, local) = (row.first.flatMap(\.self) ?? "", row.dropFirst().first.flatMap(\.self) ?? "")
    seconds = row.last.flatMap(\.self).flatMap { Int($0) } ?? 0
  }
}

extension DatabaseQuery {
  /// The name of the column ``since`` in messages about statements.
  private static let name = "the column of --since"

  /// Finds the next cursor and the rows to read.
  ///
  /// - Parameters:
  ///   - clock: The server's time in this transaction.
  ///   - connection: The connection, in a transaction that sees one snapshot.
  /// - Returns: The cursor; `nil` without a column for newer rows.
  /// - Throws: ``DatabaseError``, also for a column whose order is not that of changes.
  func cursor(
    _ clock: ServerClock, _ connection: inout DatabaseConnection
  ) throws(DatabaseError) -> DatabaseCursor? {
    guard let since, let column = sinceColumn else { return nil }
    var type: UInt32?
    try connection.send("SELECT \(column) FROM \(Self.table(products)) LIMIT 0")
    while let result = try connection.next(Self.name) { type = result.columns.first?.type }
    switch type {
    case ColumnType.timestamptz:
      return try times("timestamptz", as: "timestamptz", clock.zoned, clock, &connection)
    case ColumnType.timestamp: return try times("timestamp", as: "timestamp", clock.local, clock, &connection)
    case ColumnType.date: return try times("date", as: "timestamp", clock.local, clock, &connection)
    case ColumnType.int2: return try numbers(below: "\(Int16.max)", clock, &connection)
    case ColumnType.int4: return try numbers(below: "\(Int32.max)", clock, &connection)
    case ColumnType.int8: return try numbers(below: "\(Int64.max)", clock, &connection)
    // Infinity and NaN are greater than all numbers.
    case ColumnType.numeric, ColumnType.float4, ColumnType.float8:
      return try numbers(below: type == ColumnType.float4 ? "1e38" : "1e100", clock, &connection)
    case ColumnType.text, ColumnType.varchar, ColumnType.bpchar: return try texts(clock, &connection)
    default: throw .sinceType(column: since)
    }
  }

  /// The parts that all types share.
  ///
  /// - Parameters:
  ///   - value: The column as it is compared.
  ///   - isPast: The condition of the values that the cursor may have.
  ///   - isFuture: The condition of the values after these.
  ///   - now: The server's time for messages; `nil` if the values are not times.
  private func cursor(
    of value: String, isPast: String, isFuture: String, now: String?, _ connection: inout DatabaseConnection
  ) throws(DatabaseError) -> DatabaseCursor {
    let table = Self.table(products)
    var cursor = DatabaseCursor()
    // Two statements, because an index on the column answers each of them.
    let past = "SELECT CAST(max(\(value)) AS text) FROM \(table) WHERE \(isPast)"
    cursor.newest = try connection.values(past, Self.name).first.flatMap(\.self)
    let future = try connection.values(
      "SELECT CAST(count(*) AS text), CAST(max(\(value)) AS text) FROM \(table) WHERE \(isFuture)", Self.name)
    if let count = future.first.flatMap(\.self), count != "0", let greatest = future.last.flatMap(\.self) {
      let isOne = count == "1"
      // The time itself is left out, so that the next run says the same.
      let limit = now == nil ? "that no counter reaches" : "after the server's time"
      cursor.notices.append(
        "\(count) \(isOne ? "row has" : "rows have") a value in the column \"\(since ?? "")\" of --since \(limit), up to"
          + " \(greatest); the cursor does not follow \(isOne ? "it, and the row is" : "them, and these rows are") read"
          + " each time; correct \(isOne ? "the value" : "the values")")
      // Without any other row the time itself is a cursor, unless it has none.
      if cursor.newest == nil { cursor.newest = now }
    }
    return cursor
  }

  /// The condition of the rows from a bound on, and of those without a value.
  private func condition(_ value: String, from bound: String) -> String {
    "\(value) >= \(bound) OR \(value) IS NULL"
  }

  /// What is said about a former cursor that later rows would never reach.
  private func unusable(_ lastSeen: String, _ reason: String) -> String {
    "the catalogue's cursor \(lastSeen) is \(reason), so all rows are read and compared this once"
  }

  // MARK: Times

  private func times(
    _ type: String, as bound: String, _ now: String, _ clock: ServerClock, _ connection: inout DatabaseConnection
  ) throws(DatabaseError) -> DatabaseCursor {
    let column = sinceColumn ?? ""
    let limit = "CAST(\(Self.literal(now)) AS \(type))"
    var cursor = try cursor(
      of: column, isPast: "\(column) <= \(limit)", isFuture: "\(column) > \(limit)",
      now: type == "date" ? String(now.prefix(10)) : now, &connection)
    guard let lastSeen else { return cursor }
    let former = "CAST(\(Self.literal(lastSeen)) AS \(type))"
    if try isTrue("\(former) > \(limit)", lastSeen, &connection) {
      cursor.notices.append(unusable(lastSeen, "after the server's time \(now)"))
      cursor.newest = cursor.newest ?? now
      return cursor
    }
    let seconds = overlap.components.seconds
    cursor.condition = condition(
      column, from: "CAST(\(Self.literal(lastSeen)) AS \(bound)) - CAST('\(seconds) seconds' AS interval)")
    return cursor
  }

  /// Asks the server about the former cursor.
  ///
  /// - Throws: ``DatabaseError/sinceCursor(column:cursor:)`` if it is no value of the column's type.
  private func isTrue(
    _ condition: String, _ lastSeen: String, _ connection: inout DatabaseConnection
  ) throws(DatabaseError) -> Bool {
    do throws(DatabaseError) {
      return try connection.values("SELECT \(condition)", Self.name).first.flatMap(\.self) == "t"
    } catch .refused(_, let state, _) where state.hasPrefix("22") {
      throw .sinceCursor(column: since ?? "", cursor: lastSeen)
    }
  }

  // MARK: Numbers

  /// A number is a counter, or a time in seconds, milliseconds, microseconds or nanoseconds since 1970.
  ///
  /// It counts as a time if no fewer rows are between the years 2000 and now than after now. A counter that is taken for
  /// a time loses nothing, as rows after the bound are read each time.
  private func numbers(
    below top: String, _ clock: ServerClock, _ connection: inout DatabaseConnection
  ) throws(DatabaseError) -> DatabaseCursor {
    let column = sinceColumn ?? ""
    let table = Self.table(products)
    let most = try connection.values(
      "SELECT CAST(max(\(column)) AS text) FROM \(table) WHERE \(column) < \(top)", Self.name
    ).first.flatMap(\.self)
    var limit: (isPast: String, isFuture: String, now: String?) = ("\(column) < \(top)", "\(column) >= \(top)", nil)
    // Smaller numbers are no times after now, whatever their unit.
    if let most, let value = Double(most), value > Double(clock.seconds) {
      let units = [1, 1000, 1_000_000, 1_000_000_000]
      let year2000 = 946_684_800
      let counts = units.map { unit in
        "CAST(count(CASE WHEN \(column) BETWEEN \(year2000 * unit) AND \(clock.seconds * unit) THEN 1 END) AS text),"
          + " CAST(count(CASE WHEN \(column) > \(clock.seconds * unit) THEN 1 END) AS text)"
      }
      let row = try connection.values("SELECT \(counts.joined(separator: ", ")) FROM \(table)", Self.name)
      let found = row.map { $0.flatMap { Int($0) } ?? 0 }
      for (index, unit) in units.enumerated() where found.count == 2 * units.count {
        let (past, future) = (found[2 * index], found[2 * index + 1])
        guard past > 0, past >= future else { continue }
        let now = "\(clock.seconds * unit)"
        limit = ("\(column) <= \(now)", "\(column) > \(now)", now)
        break
      }
    }
    var cursor = try cursor(
      of: column, isPast: limit.isPast, isFuture: limit.isFuture, now: limit.now, &connection)
    guard let lastSeen else { return cursor }
    let former = "CAST(\(Self.literal(lastSeen)) AS numeric)"
    if let newest = cursor.newest {
      if try isTrue("\(former) > CAST(\(Self.literal(newest)) AS numeric)", lastSeen, &connection) {
        cursor.notices.append(unusable(lastSeen, "greater than every number up to now"))
        return cursor
      }
    }
    cursor.condition = condition(column, from: former)
    return cursor
  }

  // MARK: Texts

  /// Times as ISO 8601 writes them, with or without separators.
  private static let timeText =
    "^[0-9]{4}-?(0[1-9]|1[0-2])-?(0[1-9]|[12][0-9]|3[01])([Tt ]?([01][0-9]|2[0-4]):?[0-5][0-9](:?[0-6][0-9]([.,][0-9]+)?)?"
    + "([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)?)?$"

  /// The zone at the end of such a text.
  private static let zoneText = "[Tt :][0-9:.,]*([Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)$"

  /// A text has the order of time if all values are written alike, in one zone.
  private func texts(
    _ clock: ServerClock, _ connection: inout DatabaseConnection
  ) throws(DatabaseError) -> DatabaseCursor {
    let column = "CAST(\(sinceColumn ?? "") AS text)"
    let value = "\(column) COLLATE \"C\""
    let form = "regexp_replace(\(column), '[0-9]', '0', 'g') COLLATE \"C\""
    let zone =
      "(CASE WHEN \(column) IS NOT NULL THEN coalesce(substring(\(column) from '\(Self.zoneText)'), '') END) COLLATE \"C\""
    let row = try connection.values(
      "SELECT min(\(form)), max(\(form)), min(\(zone)), max(\(zone)),"
        + " min(CASE WHEN \(column) ~ '\(Self.timeText)' THEN NULL ELSE \(value) END), min(\(value)), max(\(value))"
        + " FROM \(Self.table(products))", Self.name)
    guard row.count == 7, let form = row[0], let zone = row[2] else {
      // No row has a value.
      return DatabaseCursor(condition: lastSeen.map { condition(value, from: Self.literal($0)) })
    }
    if let other = row[4] { throw .sinceText(column: since ?? "", values: [other]) }
    let isWithoutZone = zone.isEmpty && (form.contains("+") || form.last == "Z" || form.last == "z")
    guard row[1] == form, row[3] == zone, !isWithoutZone else {
      throw .sinceText(column: since ?? "", values: [row[5], row[6]].compactMap(\.self))
    }
    var time = clock.local
    if !zone.isEmpty {
      let there = try connection.values(
        "SELECT CAST(CAST(\(Self.literal(clock.zoned)) AS timestamptz) AT TIME ZONE CAST('\(Self.interval(zone))' AS interval)"
          + " AS text)", Self.name)
      time = there.first.flatMap(\.self) ?? time
    }
    let now = Self.filled(form, zone, time)
    var cursor = try cursor(
      of: value, isPast: "\(value) <= \(Self.literal(now))", isFuture: "\(value) > \(Self.literal(now))", now: now,
      &connection)
    guard let lastSeen else { return cursor }
    let formerForm = String(lastSeen.map { $0.isASCII && $0.isNumber ? "0" : $0 })
    if formerForm != form || !lastSeen.hasSuffix(zone) {
      cursor.notices.append(unusable(lastSeen, "written in another way than the column \"\(since ?? "")\""))
    } else if lastSeen > now {
      cursor.notices.append(unusable(lastSeen, "after the server's time \(now)"))
    } else {
      cursor.condition = condition(value, from: Self.literal(lastSeen))
    }
    return cursor
  }

  /// The offset of a zone as an interval: `+02:00` of `+0200`.
  private static func interval(_ zone: String) -> String {
    let digits = zone.filter(\.isNumber)
    if digits.count < 2 { return "00:00" }
    return String(zone.prefix(1)) + digits.prefix(2) + ":" + (digits.count < 4 ? "00" : String(digits.suffix(2)))
  }

  /// A time in the form of texts, whose digits are zeros in `form`.
  private static func filled(_ form: String, _ zone: String, _ time: String) -> String {
    var digits = time.filter { $0.isASCII && $0.isNumber }[...]
    return String(form.dropLast(zone.count).map { $0 == "0" ? digits.popFirst() ?? "9" : $0 }) + zone
  }
}

extension DatabaseConnection {
  /// The values of the only row of a statement; `nil` for NULL.
  ///
  /// - Throws: ``DatabaseError``.
  fileprivate mutating func values(_ statement: String, _ name: String) throws(DatabaseError) -> [String?] {
    try send(statement)
    var values: [String?] = []
    while let result = try next(name) {
      if result.isRow { values = result.columns.indices.map { result.text($0) } }
    }
    return values
  }
}
#endif
