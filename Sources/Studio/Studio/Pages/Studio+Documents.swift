import DocumentFormat
import Documents
import HTTPServer
import JSONFormat
import Platform
import RowFiles

extension Studio {
  /// The number of documents whose field paths are offered for completion.
  private static var sampleCount: Int { 50 }

  func addDocuments(to router: StudioRoutes) {
    add(router, .get, "studio/api/collections") { _ in
      guard let store = try stores.documents() else { return .object([("collections", .array([]))]) }
      let collections = try store.snapshot().collectionNames.map { name in
        let collection = try store.untypedCollection(name)
        let indexes = try collection.indexes().map { index in
          JSONText.object([
            ("paths", .array(index.paths.map { .text("\($0)") })),
            ("kind", .text(index.isOrdered ? "ordered" : "hash")),
          ])
        }
        var paths: Set<String> = []
        _ = try collection.page(limit: Self.sampleCount) { _, document in Self.addPaths(of: document, "", to: &paths) }
        return JSONText.object([
          ("name", .text(name)), ("count", .int(try collection.count())), ("indexes", .array(indexes)),
          ("paths", .array(paths.sorted().map(JSONText.text))),
        ])
      }
      return .object([("collections", .array(collections))])
    }
    addAsync(router, .get, "studio/api/collections/{name}") { call in
      let name = call.name("name")
      if name.hasSuffix(".ndjson") { return try await export(String(name.dropLast(7)), call.query, .ndjson) }
      if name.hasSuffix(".csv") { return try await export(String(name.dropLast(4)), call.query, .csv) }
      return Response(try await BlockingThread.run { try documents(name, call.query) })
    }
    add(router, .get, "studio/api/misses") { call in
      let limit = try call.query.number("limit", in: 1...1000, standard: 100)
      return .object([("misses", .array(try misses(limit).misses.map { .raw(Array($0.json.utf8)) }))])
    }
    addAsync(router, .get, "studio/api/misses.ndjson") { _ in
      exportMisses(.ndjson, header: []) { misses in Self.lines(misses.map { .raw(Array($0.json.utf8)) }) }
    }
    addAsync(router, .get, "studio/api/misses.csv") { _ in
      let names = ["id", "count", "first", "last", "input"]
      return exportMisses(.csv, header: SheetRows.header(names)) { misses in
        var csv: [UInt8] = []
        for miss in misses { SheetRows.append(miss, names, to: &csv) }
        return csv
      }
    }
  }

  private func exportMisses(
    _ format: StreamFormat, header: [UInt8], _ lines: @escaping @Sendable ([DocumentValue]) -> [UInt8]
  ) -> Response {
    Self.stream(format) { write in
      try await write(header)
      var cursor: QueryCursor?
      repeat {
        let after = cursor
        let (bytes, next) = try await BlockingThread.run {
          let part = try misses(500, after: after)
          return (lines(part.misses), part.next)
        }
        try await write(bytes)
        cursor = next
      } while cursor != nil
    }
  }

  /// Scans that the daemon did not match, the most recent first, and where the next ones begin; `nil` after the last.
  private func misses(
    _ limit: Int, after cursor: QueryCursor? = nil
  ) throws -> (misses: [DocumentValue], next: QueryCursor?) {
    guard let store = try stores.documents() else { return ([], nil) }
    // A store without the collection has none.
    guard try store.snapshot().collectionNames.contains("scan.misses") else { return ([], nil) }
    var misses: [DocumentValue] = []
    let next = try store.untypedCollection("scan.misses").page(
      ordering: Ordering(parsing: "last desc"), limit: limit, after: cursor
    ) { _, miss in misses.append(miss) }
    return (misses, next)
  }

  /// What a request asks of a collection.
  private struct DocumentQuery: Sendable {
    let condition: Condition
    let ordering: Ordering

    init(_ query: StudioQuery) throws {
      condition = try query["where"].map { try Condition(parsing: $0) } ?? .always
      ordering = try query["order"].map { try Ordering(parsing: $0) } ?? Ordering([])
    }
  }

  private func collection(_ name: String) throws -> UntypedCollection {
    guard let store = try stores.documents(), try store.snapshot().collectionNames.contains(name) else {
      throw ErrorResponse.notFound("there is no collection \(name.debugDescription)")
    }
    return try store.untypedCollection(name)
  }

  private func documents(_ name: String, _ query: StudioQuery) throws -> JSONText {
    let collection = try collection(name)
    let documentQuery = try DocumentQuery(query)
    let limit = try query.number("limit", in: 1...1000, standard: 100)
    var cursor: QueryCursor?
    if let text = query["after"] {
      guard let known = QueryCursor(text) else { throw ErrorResponse.badRequest("after: the next of the page before") }
      cursor = known
    }
    var documents: [JSONText] = []
    let next = try collection.page(
      documentQuery.condition, ordering: documentQuery.ordering, limit: limit, after: cursor
    ) {
      (id: DocumentValue, document: DocumentValue) throws -> Void in
      let fields: [(String, JSONText)] = [
        ("id", .raw(Array(id.json.utf8))), ("document", .raw(Array(document.json.utf8))),
      ]
      documents.append(JSONText.object(fields))
    }
    let count =
      documentQuery.condition == .always ? try collection.count() : try collection.count(documentQuery.condition)
    let plan = try collection.explain(documentQuery.condition)
    return .object([
      ("documents", .array(documents)), ("next", .optional(next?.description)), ("count", .int(count)),
      ("plan", .text("\(plan)")),
    ])
  }

  private func export(_ name: String, _ query: StudioQuery, _ format: StreamFormat) async throws -> Response {
    let export = try await BlockingThread.run {
      Export(collection: try collection(name), query: try DocumentQuery(query), isCSV: format == .csv)
    }
    return Self.stream(format) { write in
      if export.isCSV { try await write(SheetRows.header(["id", "document"])) }
      var part = Export.Part(bytes: [], next: nil)
      repeat {
        let cursor = part.next
        part = try await BlockingThread.run { try export.part(after: cursor) }
        try await write(part.bytes)
      } while part.next != nil
    }
  }

  /// The documents of a query, as lines.
  private struct Export: Sendable {
    let collection: UntypedCollection
    let query: DocumentQuery
    let isCSV: Bool

    struct Part: Sendable {
      var bytes: [UInt8]
      /// Where the next part begins; `nil` after the last one.
      var next: QueryCursor?
    }

    func part(after cursor: QueryCursor?) throws -> Part {
      var bytes: [UInt8] = []
      let next = try collection.page(query.condition, ordering: query.ordering, limit: 500, after: cursor) {
        (id: DocumentValue, document: DocumentValue) throws -> Void in
        if isCSV {
          SheetRows.append([SheetRows.cell(id), .text(document.json)], to: &bytes)
        } else {
          bytes += document.json.utf8
          bytes.append(0x0A)
        }
      }
      return Part(bytes: bytes, next: next)
    }
  }

  /// Adds the paths of the fields of a document, those of nested objects with dots.
  private static func addPaths(of value: DocumentValue, _ prefix: String, to paths: inout Set<String>) {
    guard case .object(let fields) = value, paths.count < 500 else { return }
    for field in fields {
      let path = prefix.isEmpty ? field.name : prefix + "." + field.name
      paths.insert(path)
      addPaths(of: field.value, path, to: &paths)
    }
  }
}
