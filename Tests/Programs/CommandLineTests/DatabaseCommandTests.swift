import Foundation
import Testing

/// `import` and `serve` with a PostgreSQL database, which runs beside the test.
@Suite(.enabled(if: DatabaseServer.programs != nil, "PostgreSQL is not installed"), .timeLimit(.minutes(10)))
struct DatabaseCommandTests {
  private static let tables = """
    CREATE TABLE products(
      productid bigint PRIMARY KEY, ean text, title text, price numeric(12,3), weight double precision, on_sale boolean,
      tags jsonb, updated_at timestamptz, note text);
    INSERT INTO products
      SELECT i, lpad((4000000000000 + i)::text, 13, '0'), E'Größe "' || i || E'"\\n空调', i * 1.10, i / 4.0, i % 2 = 0,
        '{"a": [1, 2.50, null], "b": "x"}', timestamptz '2026-01-01 00:00:00+00' + i * interval '1 hour',
        CASE WHEN i % 3 = 0 THEN NULL ELSE 'n' END
      FROM generate_series(1, 1000) i;
    CREATE TABLE parts(set_id bigint, part_id bigint, quantity int);
    INSERT INTO parts VALUES (1, 2, 1), (1, 3, 2);
    """

  private let server: DatabaseServer
  private let root: TestRoot

  init() throws {
    server = try DatabaseServer(Self.tables)
    root = try TestRoot(answers: [])
  }

  private func importing(_ options: String...) throws -> ProgramRun {
    try root.run(["import", server.url, "--json"] + options)
  }

  private func product(_ id: String) throws -> [String: Any] { try root.run("get", "--id", id, "--json").object() }

  // MARK: Import

  @Test func `rows come with their types, as from one state of the database`() throws {
    let statements = [
      "--products",
      "SELECT *, current_setting('transaction_isolation') AS brand, current_setting('transaction_read_only') AS unit FROM products;",
      "--relations", "SELECT * FROM parts",
    ]
    let run = try root.run(["import", server.url, "--unknown", "keep"] + statements)
    #expect(run.code == 0, "\(run.words)")
    #expect(run.text.contains("1,000 products, 2 relations"), "\(run.text)")
    #expect(run.words.contains("productid → id (by its common name)"), "\(run.words)")
    let second = try product("2")
    #expect(second.text("barcode") == "4000000000002" && second.text("name") == "Größe \"2\"\n空调")
    #expect(second["isSaleProduct"] as? Bool == true && second["weight"] as? Double == 0.5)
    #expect(second.text("brand") == "repeatable read" && second.text("unit") == "on")
    #expect(second.text("updateTime") == "2026-01-01 02:00:00+00")
    let text = try root.run("get", "--id", "2", "--json").text
    #expect(text.contains(#""extra":{"note":"n","price":2.200,"tags":{"a":[1,2.50,null],"b":"x"}}"#), "\(text)")
    // SQL's NULL is no field.
    #expect(try product("3").object("extra").keys.sorted() == ["note", "price", "tags"])
    let parts = try root.run("components", "1", "--json").text
    #expect(parts.contains("\"2\"") && parts.contains("\"3\""), "\(parts)")
    #expect(try importing("--table", "products", "--unknown", "ignore").object().number("rowsRead") == 1000)
  }

  @Test func `special numbers, dates and other types are what the server writes`() throws {
    let statement = """
      SELECT 1 AS id, 'NaN'::float8 AS a, 'Infinity'::numeric AS b, 1e300::float8 AS c, -0.5::float4 AS d,
        '007'::varchar AS e, date '2026-02-03' AS f, ARRAY[1,2] AS g, 12345678901234567890123.4500::numeric AS h,
        E'[1,\\n 2]'::json AS i, E'tab\\t"\\\\'::text AS j, NULL::text AS k, true AS l
      """
    let run = try importing("--products", statement, "--unknown", "keep")
    #expect(run.code == 0, "\(run.words)")
    let text = try root.run("get", "--id", "1", "--json").text
    for part in [
      #""a":"NaN""#, #""b":"Infinity""#, #""c":1e+300"#, #""d":-0.5"#, #""e":"007""#, #""f":"2026-02-03""#,
      #""g":"{1,2}""#, #""h":12345678901234567890123.4500"#, #""i":[1,2]"#, #""j":"tab\t\"\\""#, #""l":true"#,
    ] {
      #expect(text.contains(part), "\(part) in \(text)")
    }
  }

  @Test func `what COPY escapes comes as it is`() throws {
    let statement = """
      SELECT 'a\tb' AS id, E'\\b\\f\\n\\r\\t\\x0B|\\\\N|\\\\.|\\\\\\\\' AS name, E'\\\\N' AS brand, '' AS unit, NULL AS category
      UNION ALL SELECT '\\.', '', NULL, '-- no comment', 'x'; -- the end
      """
    for comment in ["", " -- the end"] {
      let run = try importing("--products", statement.replacing(" -- the end", with: comment))
      #expect(run.code == 0, "\(run.words)")
      let first = try product("a\tb")
      #expect(first.text("name") == "\u{8}\u{C}\n\r\t\u{B}|\\N|\\.|\\\\" && first.text("brand") == "\\N")
      #expect(first.text("unit") == "" && first.text("category") == "")
      #expect(try product("\\.").text("unit") == "-- no comment")
    }
  }

  @Test func `a statement that the server cannot copy is read row by row`() throws {
    let options = [
      "--products", "SHOW ALL", "--column", "id=name", "--column", "name=description", "--unknown", "keep",
    ]
    let run = try root.run(["import", server.url, "--json"] + options)
    #expect(try run.code == 0 && run.object().number("rowsRead") ?? 0 > 100, "\(run.words)")
    #expect(try product("DateStyle").object("extra").text("setting") == "ISO, MDY")
  }

  @Test func `a cursor is a value, whatever it contains`() throws {
    let options = [
      "--json", "--products", "SELECT 'p' AS id, now() AS version", "--since", "version", "--unknown", "ignore",
    ]
    func run(_ cursor: String) throws -> ProgramRun {
      let rows = try root.folder.file("p.ndjson", Data("{\"id\":\"p\"}\n".utf8)).path
      #expect(try root.run("import", rows, "--cursor", cursor).code == 0)
      return try root.run(["import", server.url] + options)
    }
    for cursor in ["it's \\", "'); DROP TABLE products; --", "later"] {
      let refused = try run(cursor)
      #expect(refused.code == 65 && refused.words.contains("--delete-missing reads all"), "\(refused.words)")
      #expect(try root.run(["import", server.url, "--delete-missing"] + options).code == 0)
      #expect(try root.run(["import", server.url] + options).object().number("unchanged") == 1)
    }
  }

  @Test func `newer rows are read from the cursor on, and a difference finds deletions`() throws {
    let options = ["--table", "products", "--since", "updated_at", "--unknown", "ignore", "--json"]
    func run(_ more: String...) throws -> [String: Any] {
      let run = try root.run(["import", server.url] + options + more)
      #expect(run.code == 0, "\(run.words)")
      return try run.object()
    }
    #expect(try run().text("mode") == "full")
    #expect(try root.cursor() == "2026-02-11 16:00:00+00")
    try server.execute(
      """
      UPDATE products SET title = 'newer', updated_at = timestamptz '2026-03-01 00:00:00+00' WHERE productid = 7;
      INSERT INTO products(productid, title, updated_at) VALUES (5000, 'late', timestamptz '2026-02-11 15:58:00+00');
      DELETE FROM products WHERE productid = 9
      """)
    // The row that was committed late has a time before the cursor; 300 seconds are read again.
    let second = try run()
    #expect(second.number("rowsRead") == 3 && second.number("added") == 1 && second.number("changed") == 1)
    #expect(try product("7").text("name") == "newer" && product("5000").text("name") == "late")
    #expect(try root.cursor() == "2026-03-01 00:00:00+00")
    #expect(try root.run("get", "--id", "9").code == 0)
    #expect(try run("--delete-missing").number("deleted") == 1)
    #expect(try root.run("get", "--id", "9").code == 1)
    #expect(try run("--overlap", "0").number("rowsRead") == 1)
    let dry = try run("--dry-run")
    #expect(dry.number("rowsRead") == 1 && dry.number("unchanged") == 1)
  }

  @Test(arguments: [
    ("timestamptz", "now() - i * interval '1 hour'", "'2062-01-01'"),
    ("timestamptz", "now() - i * interval '1 hour'", "'infinity'"),
    ("timestamp", "now() - i * interval '1 hour'", "'infinity'"), ("date", "current_date - i", "'2062-01-01'"),
    ("bigint", "extract(epoch FROM now())::bigint - i", "2903040000"), ("int", "i", "2147483647"),
    ("bigint", "(extract(epoch FROM now()) * 1000)::bigint - i", "2903040000000"), ("numeric", "i", "'NaN'"),
    ("float8", "i", "'infinity'"),
    ("text", "to_char(now() - i * interval '1 hour', 'YYYY-MM-DD HH24:MI:SS')", "'2062-01-01 00:00:00'"),
    (
      "text", "to_char((now() AT TIME ZONE 'UTC') - i * interval '1 hour', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
      "'2062-01-01T00:00:00Z'"
    ),
    ("text", "to_char(now() - i * interval '1 hour', 'YYYYMMDDHH24MISS')", "'20620101000000'"),
    (
      "text",
      "to_char(now() AT TIME ZONE INTERVAL '+05:30' - i * interval '1 hour', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS') || '+05:30'",
      "'2062-01-01T00:00:00.000+05:30'"
    ),
  ])
  func `one row after the server's time stops nothing`(type: String, value: String, future: String) throws {
    try server.execute(
      """
      CREATE TABLE changes(id text, name text, v \(type));
      INSERT INTO changes SELECT i, 'a', \(value) FROM generate_series(2, 10) i;
      INSERT INTO changes VALUES ('future', 'a', \(future)), ('null', 'a', NULL);
      """)
    let options = ["--table", "changes", "--since", "v", "--unknown", "ignore", "--json", "--overlap", "0"]
    func run(_ more: String...) throws -> ProgramRun {
      let run = try root.run(["import", server.url] + options + more)
      #expect(run.code == 0, "\(run.words)")
      return run
    }
    let first = try run()
    #expect(try first.object().number("rowsRead") == 11)
    #expect(first.words.contains("1 row has a value in the column \"v\" of --since"), "\(first.words)")
    let expected = try server.execute(
      "SET TimeZone TO 'UTC'; SELECT max(v) FROM changes WHERE id NOT IN ('future', 'null')")
    #expect(try root.cursor() == expected)
    // The row with the greatest time, the one after now, and the one without a time are read each time.
    #expect(try run().object().number("rowsRead") == 3)
    try server.execute(
      "UPDATE changes SET name = 'b', v = \(value.replacing("- i", with: "- 1").replacing("i * ", with: "1 * ").replacing(/^i$/, with: "11")) WHERE id = '5'"
    )
    try server.execute("UPDATE changes SET name = 'c' WHERE id IN ('future', 'null')")
    #expect(try run().object().number("changed") == 3)
    for id in ["5", "future", "null"] { #expect(try product(id).text("name") != "a") }
  }

  @Test func `a cursor after the server's time leads to one full comparison`() throws {
    let options = ["--table", "products", "--since", "updated_at", "--unknown", "ignore", "--json"]
    let rows = try root.folder.file("p.ndjson", Data("{\"id\":\"1\"}\n{\"id\":\"gone\"}\n".utf8)).path
    for cursor in ["2062-01-01 00:00:00+00", "infinity"] {
      #expect(try root.run("import", rows, "--cursor", cursor).code == 0)
      let run = try root.run(["import", server.url] + options)
      #expect(
        run.code == 0 && run.words.contains("the catalogue's cursor \(cursor) is after the server's time"),
        "\(run.words)")
      #expect(try run.object().number("rowsRead") == 1000 && run.object().number("deleted") == 1)
      #expect(try root.cursor() == "2026-02-11 16:00:00+00")
      let again = try root.run(["import", server.url] + options)
      #expect(try again.object().number("rowsRead") == 1 && !again.words.contains("cursor"), "\(again.words)")
    }
  }

  @Test func `a text that does not sort as time is refused, and the remedy works`() throws {
    try server.execute(
      "CREATE TABLE dated AS SELECT 1 AS id, '27.11.2025 10:00:00' AS at UNION ALL SELECT 2, '01.12.2025 10:00:00'")
    let run = try root.run("import", server.url, "--table", "dated", "--since", "at", "--unknown", "ignore")
    #expect(run.code == 64 && run.words.contains("order is not that of time"), "\(run.words)")
    let remedy = try #require(run.words.firstMatch(of: /--products "(.*) FROM …"/)).output.1
    let tried = try root.run(
      "import", server.url, "--products", remedy + " FROM dated", "--since", "changed_at", "--unknown", "ignore")
    #expect(try tried.code == 0 && root.cursor() == "2025-12-01 10:00:00+00", "\(tried.words)")
    for statement in [
      "SELECT 1 AS id, '2025-11-27 10:00:00' AS at UNION ALL SELECT 2, '2025-11-27T10:00:00'",
      "SELECT 1 AS id, '2025-11-27T10:00:00+01:00' AS at UNION ALL SELECT 2, '2025-11-27T10:00:00+02:00'",
      "SELECT 1 AS id, '2025-11-27T10:00:00Z' AS at UNION ALL SELECT 2, '2025-11-27T10:00:00.5Z'",
      "SELECT 1 AS id, 'v10' AS at",
    ] {
      let run = try root.run("import", server.url, "--products", statement, "--since", "at", "--unknown", "ignore")
      #expect(run.code == 64 && run.words.contains("order is not that of time"), "\(statement): \(run.words)")
    }
  }

  @Test func `the exact name of a column wins, and a fixed length has no padding`() throws {
    for columns in ["'111' ean, '222' barcode", "'222' barcode, '111' ean"] {
      let run = try importing("--products", "SELECT 'a'::char(6) AS id, \(columns)", "--unknown", "ignore")
      #expect(try run.code == 0 && product("a").text("barcode") == "222", "\(run.words)")
      #expect(try run.object().number("paddedIds") == 0)
    }
    let statement = "SELECT 'a'::char(6) AS set_id, 'b'::char(4) AS part_id, 'a'::char(6) AS \"productId\", 2 AS qty"
    let run = try importing(
      "--products", "SELECT 'a' AS id UNION ALL SELECT 'b'", "--relations", statement, "--unknown", "ignore")
    #expect(run.code == 0, "\(run.words)")
    #expect(try String(decoding: root.dump(), as: UTF8.self).contains(#""id":"a:b""#))
  }

  @Test func `a conflict with recovery says to try again`() throws {
    try server.execute(
      """
      CREATE FUNCTION conflict() RETURNS text LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'canceling statement due to conflict with recovery' USING ERRCODE = '40001'; END $$
      """)
    let run = try root.run("import", server.url, "--products", "SELECT conflict() AS id")
    #expect(run.code == 75 && run.words.contains("try again") && run.words.contains("40001"), "\(run.words)")
  }

  @Test func `what cannot be asked is refused in the server's words`() throws {
    for (statement, code, word) in [
      ("selec 1", 64, "syntax error at or near \"selec\""), ("SELECT 1/0 AS id", 65, "division by zero"),
      ("DELETE FROM products RETURNING *", 64, "read-only"), ("SELECT 1 AS id; SELECT 2", 64, "multiple commands"),
      ("COMMIT", 64, "give a SELECT"), (" ;", 64, "--products is empty"), ("SELECT * FROM nothere", 64, "nothere"),
      ("SELECT 1 AS id, 2 AS id", 64, "two columns \"id\""), ("SELECT 'x' AS name", 65, "Line 1"),
      ("SELECT 1 AS id, 'x' AS \"barcod\"", 65, "barcod"),
    ] {
      let run = try root.run("import", server.url, "--products", statement)
      #expect(run.code == code && run.words.contains(word), "\(statement): \(run.code) \(run.words)")
    }
    for (options, code, word) in [
      ([], 64, "--products"), (["--table", "products", "--products", "SELECT 1"], 64, "one of them"),
      (["--table", "products", "--since", "tags"], 64, "no order"),
      (["--table", "products", "--since", "nothere"], 64, "nothere"),
      (["--table", "products", "--relations", "SELECT 1 AS a"], 64, "AS \"productId\""),
      (["--products", "SELECT pg_sleep(100), 1 AS id", "--statement-timeout", "1"], 69, "--statement-timeout"),
      (["--table", "products", "--format", "csv"], 64, "not for a database"),
    ] {
      let run = try root.run(["import", server.url] + options)
      #expect(run.code == code && run.words.contains(word), "\(options): \(run.code) \(run.words)")
    }
    #expect(try root.run("get", "--id", "1").code == 1)
    let closed = try root.run("import", "postgresql://ana:geheim@127.0.0.1:1/x?password=geheim", "--table", "x")
    #expect(closed.code == 69 && closed.words.contains("postgresql://127.0.0.1:1/x"), "\(closed.words)")
    #expect(!closed.words.contains("geheim"))
    #expect(try root.run("import", "a.csv", "--table", "x").code == 64)
  }

  @Test func `SIGINT ends the statement at the server`() throws {
    let conversation = try Conversation(
      ["import", server.url, "--products", "SELECT pg_sleep(1000), 1 AS id"], root: root.path)
    let running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'COPY (SELECT pg_sleep%'"
    let deadline = ContinuousClock.now + .seconds(300)
    while try server.execute(running) != "1", ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.05) }
    kill(conversation.process.processIdentifier, SIGINT)
    #expect(conversation.end() == 75)
    while try server.execute(running) != "0", ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.05) }
    #expect(try server.execute(running) == "0")
  }

  // MARK: Serve

  @Test func `a database is served, polled, reconciled, and outlived`() throws {
    let map = try root.folder.file(
      "map.json",
      Data(
        #"{"products": "SELECT * FROM products", "relations": "SELECT * FROM parts", "since": "updated_at", "unknown": "keep"}"#
          .utf8))
    let words = try root.folder.file("words")
    func serve() throws -> (Conversation, url: String) {
      let serving = try Conversation(
        ["serve", "--from", server.url, "--map", map.path, "--port", "0", "--watch", "0.2", "--reconcile", "1"],
        root: root.path, words: words)
      return (serving, String(try #require(serving.line()?.split(separator: " ").last)))
    }
    var (serving, url) = try serve()
    /// Fetches until something came.
    func sync() throws -> [String: Any] {
      let deadline = ContinuousClock.now + .seconds(300)
      while ContinuousClock.now < deadline {
        let report = try root.run("sync", "--url", url, "--json").object()
        let products = report.object("products")
        if products.number("upserted") != 0 || products.number("deleted") != 0 { return report }
        Thread.sleep(forTimeInterval: 0.1)
      }
      return [:]
    }
    let first = try sync()
    #expect(first.text("mode") == "full" && first.object("products").number("upserted") == 1000)
    #expect(first.object("relations").number("written") == 2)
    try server.execute("UPDATE products SET title = 'newer', updated_at = now() WHERE productid = 20")
    #expect(try sync().object("products").number("upserted") == 1)
    #expect(try product("20").text("name") == "newer")
    try server.execute("DELETE FROM products WHERE productid = 21")
    #expect(try sync().object("products").number("deleted") == 1)
    server.stop()
    let deadline = ContinuousClock.now + .seconds(300)
    func said(_ text: String) throws -> Bool { try String(contentsOf: words, encoding: .utf8).contains(text) }
    while try !said("the former rows are served"), ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.1) }
    #expect(try root.run("sync", "--url", url).code == 0)
    try server.start()
    while try !said("reload succeeds again"), ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.1) }
    #expect(try said("reload succeeds again"))
    serving.process.terminate()
    #expect(serving.end() == 0)
    // What is deleted while nobody serves is known after a restart.
    try server.execute("DELETE FROM products WHERE productid = 22")
    (serving, url) = try serve()
    let last = try sync()
    #expect(last.text("mode") == "incremental" && last.object("products").number("deleted") == 1)
    serving.process.terminate()
    #expect(serving.end() == 0)
  }

  // MARK: The condition of rows

  @Test func `newer rows of which none is taken are nothing to write, and the cursor moves on`() throws {
    try server.execute(
      "CREATE TABLE changes(id text, ean text, n int); INSERT INTO changes VALUES ('a', '4006381333931', 1)")
    let map = try root.folder.file("map.json", Data(#"{"rows": "id != 'x'", "unknown": "ignore"}"#.utf8)).path
    let options = ["--table", "changes", "--since", "n", "--map", map]
    #expect(try root.run(["import", server.url] + options).code == 0)
    try server.execute("INSERT INTO changes VALUES ('x', '036000291452', 2)")
    let run = try root.run(["import", server.url, "--json"] + options)
    #expect(run.code == 0, "\(run.words)")
    #expect(try run.object().number("rowsLeftOut") == 1 && root.cursor() == "2")
    let again = try root.run(["import", server.url] + options)
    #expect(again.code == 0 && again.text.contains("nothing to write"), "\(again.text) \(again.words)")
    #expect(again.words.contains("1 row left out by the condition"), "\(again.words)")
    #expect(try root.run(["import", server.url, "--dry-run"] + options).code == 0)
    // The same for barcodes that no product has.
    let matched = try root.run([
      "import", server.url, "--table", "changes", "--since", "n", "--upsert", "--match", "barcode", "--unknown",
      "ignore",
    ])
    #expect(matched.code == 0 && matched.words.contains("no product has the barcode"), "\(matched.words)")
    // The first time all rows are read, and if none is taken, the cursor stays where it was.
    let other = ["--user", "other"]
    #expect(
      try root.run(["import", server.url, "--products", "SELECT 'q' AS id, '96385074' AS ean"] + other).code == 0)
    let first = try root.run(
      [
        "import", server.url, "--table", "changes", "--since", "n", "--upsert", "--match", "barcode", "--unknown",
        "ignore",
      ]
        + other)
    #expect(first.code == 65 && first.words.contains("nothing was changed"), "\(first.words)")
    #expect(try root.run(["stat", "--json"] + other).object().text("cursor") == "")
    // All rows are another matter.
    let whole = try root.run(
      "import", server.url, "--products", "SELECT * FROM changes WHERE id = 'x'", "--unknown", "ignore", "--map", map)
    #expect(whole.code == 65 && whole.words.contains("its only row is not taken"), "\(whole.words)")
  }

  @Test func `relations of a database are not subject to the condition, and its numbers keep their points`() throws {
    let map = try root.folder.file(
      "map.json",
      Data(
        #"""
        {"products": "SELECT productid AS id, title AS name, weight FROM products WHERE productid < 5",
         "relations": "SELECT * FROM parts", "rows": "id < 4", "decimal": ",",
         "fields": {"weight": {"columns": "weight", "steps": ["trim"]}}}
        """#.utf8)
    ).path
    let run = try root.run("import", server.url, "--map", map, "--json")
    #expect(run.code == 0, "\(run.words)")
    #expect(try run.object().object("relations").number("written") == 2 && run.object().number("rowsLeftOut") == 1)
    #expect(try product("3")["weight"] as? Double == 0.75)
  }

  // MARK: The daemon

  @Test func `a daemon takes newer rows of a database at once, and deletions when it reads all`() throws {
    let map = try root.folder.file(
      "map.json",
      Data(
        #"""
        {"products": "SELECT productid AS id, ean AS barcode, title AS name, updated_at FROM products",
         "relations": "SELECT * FROM parts", "since": "updated_at"}
        """#.utf8)
    ).path
    let log = root.folder.url("daemon.log")
    let daemon = try DaemonProcess(
      [
        "--sync-from", server.url, "--sync-map-file", map, "--sync-interval-seconds", "1", "--sync-jitter", "0",
        "--sync-first-retry-seconds", "1", "--sync-reconcile-seconds", "3", "--http-enabled", "false",
      ], root: root.path, log: log)
    let deadline = ContinuousClock.now + .seconds(300)
    func wait(_ what: String, until isThere: () throws -> Bool) throws {
      while try !isThere(), ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.1) }
      #expect(try isThere(), "\(what)")
    }
    func said(_ text: String) throws -> Bool { try String(contentsOf: log, encoding: .utf8).contains(text) }
    try wait("the first import") { try root.run("stat", "--json").object().number("products") == 1000 }
    #expect(try root.run("stat", "--json").object().number("relations") == 2)
    try server.execute("UPDATE products SET title = 'newer', updated_at = now() WHERE productid = 20")
    try wait("the newer row") { try product("20").text("name") == "newer" }
    try server.execute("DELETE FROM products WHERE productid = 21")
    try wait("the deletion") { try root.run("get", "--id", "21").code == 1 }
    server.stop()
    try wait("the problem") { try said("source_failing") }
    #expect(try root.run("get", "--id", "20").code == 0)
    try server.start()
    try server.execute("UPDATE products SET title = 'newest', updated_at = now() WHERE productid = 20")
    try wait("the newest row") { try product("20").text("name") == "newest" }
    try wait("the end of the problem") { try said("problem ended") }
    #expect(daemon.end() == 0)
    // One commit for each change.
    #expect(try root.run("log", "--json").objects().count == 4)
  }

  @Test func `codes of columns stay with their product where a table of codes has another join`() throws {
    try server.execute(
      "CREATE TABLE packed(id text, sku text, ean text, case_ean text); "
        + "INSERT INTO packed VALUES ('1', 'A', '4006381333931', '14006381333938'), ('2', '1', '96385074', null); "
        + "CREATE TABLE labels(item text, code text, quantity int); INSERT INTO labels VALUES ('A', 'LABEL-7', 6)")
    let map = try root.folder.file(
      "map.json",
      Data(
        #"""
        {"fields": {"id": "id", "skuCode": "sku", "barcode": "ean"},
         "codes": [{"column": "case_ean", "quantity": 24}],
         "codesFrom": {"query": "SELECT * FROM labels", "join": "skuCode", "columns": {"productId": "item"}}}
        """#.utf8)
    ).path
    for rehearses in [true, false] {
      let options = rehearses ? ["--dry-run"] : []
      let run = try root.run(["import", server.url, "--table", "packed", "--map", map] + options)
      #expect(run.code == 0 && !run.words.contains("left out"), "\(run.words)")
    }
    // The sku of product 2 is the id of product 1.
    #expect(try root.run("codes", "1").text.contains("14006381333938"))
    #expect(try root.run("codes", "1").text.contains("LABEL-7"))
    #expect(try root.run("codes", "2").text.contains("14006381333938") == false)
  }
}
