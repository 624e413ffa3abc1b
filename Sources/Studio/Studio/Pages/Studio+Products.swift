import Catalog
import CatalogRows
import DocumentFormat
import HTTPServer
import HTTPTypes
import JSONFormat
import LogStore
import Platform
import RowFiles
import TextFormat

extension Studio {
  func addProducts(to router: StudioRoutes) {
    addAsync(router, .get, "studio/api/products") { call in
      try Self.refuse(call.query, ["columns", "offset", "limit"])
      let query = call.query
      let offset = try query.number("offset", in: 0...Int(UInt32.max), standard: 0)
      let limit = try query.number("limit", in: 1...1000, standard: 100)
      let columns = try Self.columns(query, stores.fields())
      let table = try await table(query)
      let found = try await table.rows(from: offset, count: limit, timeout: Self.timeout)
      return Response(
        try await BlockingThread.run {
          let rows = try Self.products(found.rows, in: table.snapshot).map { product in
            try columns.row(of: product, table.snapshot)
          }
          return .object([
            ("sequence", .uint(table.snapshot.sequence)), ("offset", .int(offset)), ("found", .int(found.found)),
            ("count", found.count.map(JSONText.int) ?? .null), ("rows", .array(rows)),
          ])
        })
    }
    addAsync(router, .get, "studio/api/position") { call in
      guard let id = call.query["id"] else { throw ErrorResponse.badRequest("id: the id of a product") }
      let table = try await table(call.query)
      let row = try await BlockingThread.run {
        try table.snapshot.withProduct(id: id) { (view) throws(StoreError) in view.rowID }
      }
      var offset: Int?
      if let row { offset = try await table.position(of: row, timeout: .milliseconds(200)) }
      return Response(
        .object([
          ("sequence", .uint(table.snapshot.sequence)), ("offset", offset.map(JSONText.int) ?? .null),
        ]))
    }
    add(router, .get, "studio/api/search") { call in try search(call.query) }
    addAsync(router, .get, "studio/api/facets") { call in
      let cancellation = Cancellation()
      return try await withTaskCancellationHandler {
        Response(try await BlockingThread.run { try facets(call.query, cancellation) })
      } onCancel: {
        cancellation.cancel()
      }
    }
    add(router, .get, "studio/api/products/{id}") { call in
      try product(call.name("id"), in: catalogue(call.query))
    }
    add(router, .get, "studio/api/products/{id}/history") { call in
      try history(of: call.name("id"), limit: call.query.number("limit", in: 1...1000, standard: 200))
    }
    addAsync(router, .get, "studio/api/products.ndjson") { call in try await export(call.query, isCSV: false) }
    addAsync(router, .get, "studio/api/products.csv") { call in try await export(call.query, isCSV: true) }
  }

  // MARK: Tables

  /// The longest time that a page waits for rows that a filter leaves.
  private static var timeout: Duration { .milliseconds(50) }

  /// The names of the parameters of a filter.
  private static var filterNames: [String] { ["brand", "category", "set", "deleted", "codes", "since", "where"] }

  /// The names of the parameters of a table, but for those that begin with ``ownPrefix``.
  private static var tableNames: [String] { filterNames + ["sort", "descending", "collation", "at"] }

  /// What the name of a parameter begins with that asks for a value of a field of one's own.
  private static var ownPrefix: String { "extra." }

  /// The parameters that ask for values of fields of one's own, with these, in the order of their names.
  private static func ownValues(_ query: StudioQuery) -> [(name: String, value: String)] {
    query.names.filter { $0.hasPrefix(ownPrefix) }.sorted().compactMap { name in query[name].map { (name, $0) } }
  }

  /// Refuses parameters that are not those of a table, nor among others.
  private static func refuse(_ query: StudioQuery, _ others: [String]) throws(ErrorResponse) {
    try query.refuse(butFor: tableNames + others + ownValues(query).map(\.name))
  }

  private func table(_ query: StudioQuery) async throws -> ProductTable {
    try await BlockingThread.run {
      let snapshot = try catalogue(query)
      let order = try Self.order(query, snapshot.fields)
      let filter = try filter(query, snapshot)
      let names = Self.filterNames + Self.ownValues(query).map(\.name)
      let text = names.map { "\($0)=\(query[$0]?.debugDescription ?? "")" }.joined(separator: "&")
      let key = ProductTable.Key(
        generation: snapshot.generation, sequence: snapshot.sequence, filter: text, order: order)
      return tables.table(key, snapshot, filter)
    }
  }

  /// The order of a request.
  private static func order(_ query: StudioQuery, _ declared: DeclaredFields) throws -> ProductTableOrder {
    let field: ProductQueryField
    do {
      field = try ProductQueryField(parsing: query["sort"] ?? "id", declared: declared)
      try field.checkIsSingle()
    } catch { throw ErrorResponse.badRequest("sort: \(error)") }
    let collation = query["collation"]
    if let collation, collation != "pinyin" {
      throw ErrorResponse.badRequest("collation: pinyin, or leave it out")
    }
    return ProductTableOrder(
      field, isDescending: try query.bool("descending") ?? false, isPinyin: collation != nil)
  }

  /// The filter of a request.
  private func filter(_ query: StudioQuery, _ snapshot: CatalogSnapshot) throws -> ProductFilter {
    var filter = ProductFilter()
    filter.brand = query["brand"]
    filter.category = query["category"]
    filter.isSet = try query.bool("set")
    filter.isDeleted = try query.bool("deleted")
    filter.hasCodes = try query.bool("codes")
    let own = try Self.ownValues(query).map { try Self.condition($0.name, $0.value, snapshot.fields) }
    if let text = query["where"] {
      // Alone, so that an error has the column in what the caller wrote.
      filter.condition = try snapshot.products(where: text)
      if !own.isEmpty {
        filter.condition = try snapshot.products(where: .and([try Condition(parsing: text)] + own))
      }
    } else if !own.isEmpty {
      filter.condition = try snapshot.products(where: .and(own))
    }
    if let since = try query.sequence("since"), since > 0 {
      if since >= snapshot.sequence {
        // Commits after the one that is shown are known; later ones are not.
        if since > snapshot.sequence, since > (try stores.history()?.current.sequence ?? 0) {
          throw ErrorResponse.unknownEarlierCommit(since)
        }
        filter.changedSince = snapshot
      } else if let earlier = try snapshot.at(since) ?? stores.history()?.at(since) {
        filter.changedSince = earlier
      } else {
        throw ErrorResponse.unknownEarlierCommit(since)
      }
    }
    return filter
  }

  /// The condition that a field of one's own has a value, which is written as ``FacetValue`` has it.
  private static func condition(
    _ name: String, _ value: String, _ declared: DeclaredFields
  ) throws -> Condition {
    guard case .extra(let field) = try ProductQueryField(parsing: name, declared: declared) else {
      throw ErrorResponse.badRequest("\(name): extra.NAME is for fields of one's own")
    }
    let constant: DocumentValue
    switch declared[field]?.type {
    case .bool:
      guard let flag = Bool(value) else { throw ErrorResponse.badRequest("\(name): true or false") }
      constant = .bool(flag)
    case .int, .decimal:
      // As it is written in a condition.
      guard case .compare(_, _, let number)? = try? Condition(parsing: "a == \(value)"), number.kind == .number else {
        throw ErrorResponse.badRequest("\(name): a number")
      }
      constant = number
    case .text, .date, nil: constant = .text(value)
    }
    return .compare(try FieldPath(names: ["extra", field]), .equal, constant)
  }

  /// The columns of a request, with the id.
  private static func columns(_ query: StudioQuery, _ declared: DeclaredFields) throws -> TableColumns {
    guard let text = query["columns"] else { return TableColumns() }
    let columns = try ProductColumns(parsing: text, declared: declared)
    return TableColumns(
      columns: columns.fields.contains(.id) ? columns : try ProductColumns(parsing: "id," + text, declared: declared))
  }

  private static func products(_ rows: [RowID], in snapshot: CatalogSnapshot) throws -> [Product] {
    var products: [Product] = []
    for row in rows {
      let product = try snapshot.withProduct(row) { (view) throws(StoreError) in try snapshot.copy(view) }
      if let product { products.append(product) }
    }
    return products
  }

  // MARK: Search and facets

  private func results(
    _ query: StudioQuery, _ snapshot: CatalogSnapshot, limit: Int, after cursor: SearchCursor?
  ) throws -> (results: [SearchResult], next: SearchCursor?) {
    let filter = try filter(query, snapshot)
    // A search leaves out products that the server sent as deleted.
    if filter.isDeleted == true { return ([], nil) }
    var options = SearchOptions()
    options.limit = limit
    options.cursor = cursor
    options.brand = filter.brand
    options.category = filter.category
    options.isSetsOnly = filter.isSet == true
    options.condition = filter.condition
    let page = try snapshot.search(query["q"] ?? "", options)
    var results = page.results
    if filter.isSet == false { results.removeAll { $0.product.isGroupedProduct } }
    if let hasCodes = filter.hasCodes {
      results = try results.filter { try (snapshot.codeCount(ofProduct: $0.product.id) > 0) == hasCodes }
    }
    if let earlier = filter.changedSince {
      results = try results.filter { try snapshot.hasChanged(product: $0.product.id, since: earlier) }
    }
    return (results, page.next)
  }

  private func search(_ query: StudioQuery) throws -> JSONText {
    let snapshot = try catalogue(query)
    var cursor: SearchCursor?
    if let text = query["after"] {
      guard let known = SearchCursor(text) else { throw ErrorResponse.badRequest("after: the next of the page before") }
      cursor = known
    }
    let limit = try query.number("limit", in: 1...200, standard: 50)
    let page = try results(query, snapshot, limit: limit, after: cursor)
    let needsCodes = try Self.columns(query, snapshot.fields).columns?.needCodes ?? false
    let found = try page.results.map { result in
      result.json(codes: needsCodes ? try snapshot.codes(ofProduct: result.product.id) : nil)
    }
    return .object([
      ("sequence", .uint(snapshot.sequence)), ("results", .array(found)),
      ("next", .optional(page.next.map { "\($0)" })),
    ])
  }

  private func facets(_ query: StudioQuery, _ cancellation: Cancellation) throws -> JSONText {
    let snapshot = try catalogue(query)
    let fields: [String: ProductQueryField] = [
      "brand": .brand, "category": .category, "delFlag": .delFlag, "isSet": .isGroupedProduct,
    ]
    let name = query["field"] ?? ""
    let isAboutCodes = name == "hasCodes"
    let own = try? ProductQueryField(parsing: name, declared: snapshot.fields)
    let ownField = if case .extra = own { own } else { ProductQueryField?.none }
    guard let field = isAboutCodes ? .delFlag : fields[name] ?? ownField else {
      throw ErrorResponse.badRequest("field: brand, category, delFlag, isSet, hasCodes, or extra.NAME")
    }
    let limit = try query.number("limit", in: 1...1000, standard: 50)
    var filter = try filter(query, snapshot)
    var rows: [RowID]?
    var isWhole = true
    if query["q"] != nil {
      let page = try results(query, snapshot, limit: Self.countedResults, after: nil)
      rows = try Self.rows(of: page.results, in: snapshot)
      isWhole = page.next == nil
      // The results passed it.
      filter = ProductFilter()
    }
    func values(_ filter: ProductFilter) throws -> [FacetValue] {
      guard
        let values = try snapshot.facets(of: field, filter, among: rows, shouldStop: { cancellation.isCancelled })
      else { throw CancellationError() }
      return values
    }
    let values: [FacetValue] =
      try isAboutCodes
      ? [true, false].compactMap { hasCodes in
        var filter = filter
        filter.hasCodes = hasCodes
        let count = try values(filter).reduce(0) { $0 + $1.count }
        return count > 0 ? FacetValue(value: "\(hasCodes)", count: count) : nil
      } : values(filter)
    let shown = values.prefix(limit).map { value in
      JSONText.object([("value", .optional(value.value)), ("count", .int(value.count))])
    }
    return .object([
      ("sequence", .uint(snapshot.sequence)), ("values", .array(shown)),
      ("complete", .bool(isWhole && values.count <= limit)),
    ])
  }

  /// The number of results of a search whose values are counted, the best ones.
  private static var countedResults: Int { 5000 }

  /// The rows of products that were found, in the order of the file.
  private static func rows(of results: [SearchResult], in snapshot: CatalogSnapshot) throws -> [RowID] {
    var rows: [RowID] = []
    for result in results {
      let row = try snapshot.withProduct(id: result.product.id) { (view) throws(StoreError) in view.rowID }
      if let row { rows.append(row) }
    }
    return rows.sorted()
  }

  // MARK: One product

  private func product(_ id: String, in snapshot: CatalogSnapshot) throws -> JSONText {
    guard let product = try snapshot.product(id: id), let raw = try snapshot.rawRecord(ofProduct: id) else {
      throw ErrorResponse.notFound("the catalogue has no product \(id.debugDescription)")
    }
    let commit = try snapshot.commit(ofRowAt: raw.offset)
    let components = try snapshot.components(of: id)
    let codes = try snapshot.codes(ofProduct: id)
    let sets = try snapshot.sets(with: id).map { set in
      let product = try snapshot.product(id: set)
      return JSONText.object([
        ("id", .text(set)), ("name", .optional(product?.name)), ("barcode", .optional(product?.barcode)),
      ])
    }
    let indexes = raw.positions.map { position in
      JSONText.object([
        ("name", .text(position.name)), ("position", .text("\(position.position + 1) of \(position.count)")),
      ])
    }
    let record = JSONText.object([
      ("offset", .int(raw.offset)), ("bytes", .int(raw.bytes.count)),
      ("hex", .text(Hexadecimal.text(Array(raw.bytes.prefix(2048)), .lowercase))), ("indexes", .array(indexes)),
    ])
    return .object([
      ("sequence", .uint(snapshot.sequence)), ("product", .product(product)),
      (
        "commit",
        commit.map { .object([("sequence", .uint($0.commit.sequence)), ("time", .text($0.timeText))]) } ?? .null
      ), ("codes", .array(codes.map(\.json))), ("components", .array(components.map(\.json))), ("sets", .array(sets)),
      ("record", record),
    ])
  }

  /// A product with its codes, as a commit has it; `nil` if it has none.
  private static func entry(_ id: String, in snapshot: CatalogSnapshot?) throws -> JSONText? {
    guard let snapshot, let product = try snapshot.product(id: id) else { return nil }
    return .product(product, codes: try snapshot.codes(ofProduct: id))
  }

  private func history(of id: String, limit: Int) throws -> JSONText {
    guard let history = try stores.history() else {
      return .object([("history", .array([])), ("complete", .bool(true))])
    }
    let commits = try history.commits()
    var entries: [JSONText] = []
    for (index, commit) in commits.prefix(limit).enumerated() {
      let after = try Self.entry(id, in: history.at(commit.commit.sequence))
      // Without an earlier commit, the one before is not known, and the product may have been the same.
      guard index + 1 < commits.count || commit.commit.sequence == 1 else { break }
      let before =
        index + 1 < commits.count ? try Self.entry(id, in: history.at(commits[index + 1].commit.sequence)) : nil
      guard let change = RowDifference(before, after) else { continue }
      entries.append(
        .object(
          [("sequence", .uint(commit.commit.sequence)), ("time", .text(commit.timeText))] + change.jsonFields))
    }
    let isComplete = commits.count <= limit && commits.last?.commit.sequence == 1
    return .object([("history", .array(entries)), ("complete", .bool(isComplete))])
  }

  // MARK: Exports

  private func export(_ query: StudioQuery, isCSV: Bool) async throws -> Response {
    try Self.refuse(query, ["columns", "q"])
    let columns = try Self.columns(query, stores.fields())
    // The page keeps the order of its table while it shows the results of a search, which come best first.
    _ = try Self.order(query, stores.fields())
    if query["q"] != nil {
      let snapshot = try await BlockingThread.run { try catalogue(query) }
      return Self.stream(isCSV ? .csv : .ndjson) { write in
        if isCSV { try await write(columns.header) }
        var cursor: SearchCursor?
        repeat {
          let after = cursor
          let page = try await BlockingThread.run { try results(query, snapshot, limit: 200, after: after) }
          try await write(
            BlockingThread.run { try columns.lines(page.results.map(\.product), snapshot, isCSV: isCSV) })
          cursor = page.next
        } while cursor != nil
      }
    }
    let table = try await table(query)
    // An order that is not possible is refused before the answer begins.
    _ = try await table.rows(from: 0, count: 1)
    return Self.stream(isCSV ? .csv : .ndjson) { write in
      if isCSV { try await write(columns.header) }
      var offset = 0
      while true {
        let found = try await table.rows(from: offset, count: 1000).rows
        if found.isEmpty { return }
        offset += found.count
        try await write(
          BlockingThread.run {
            try columns.lines(Self.products(found, in: table.snapshot), table.snapshot, isCSV: isCSV)
          })
      }
    }
  }
}
