import HTTPServer
import Catalog
import JSONFormat
import LogStore
import ScanDaemon

extension DaemonAPI {
  var catalogueRoutes: [Route] {
    [
      Route(method: .get, path: "/v1/products/{id}", parameters: ["codes"], work: .immediate(product)),
      Route(
        method: .get, path: "/v1/products", parameters: ["barcode"] + Self.pageParameters + ["codes"],
        work: .answer(products)),
      Route(
        method: .get, path: "/v1/products-by/{order}", parameters: ["after", "limit", "columns", "codes"],
        work: .answer(productsInOrder)),
      Route(method: .get, path: "/v1/products/{id}/codes", work: .answer(codes)),
      Route(method: .get, path: "/v1/products/{id}/components", work: .answer(components)),
    ]
  }

  @Sendable private func product(_ call: RouteCall) throws -> Response {
    let catalogue = try daemon.catalogue()
    guard let product = try catalogue.product(id: call.parameter) else { throw Self.unknown(call.parameter) }
    let hasCodes = try call.query.flag("codes")
    return Response(.product(product, codes: hasCodes ? try catalogue.codes(ofProduct: product.id) : nil))
  }

  @Sendable private func products(_ call: RouteCall) async throws -> Response {
    let barcode = call.query["barcode"]
    if barcode?.isEmpty == true {
      throw ErrorResponse.badRequest("barcode: the barcode to look for, as in /v1/products?barcode=6901234567892")
    }
    let isPage = Self.pageParameters.contains { call.query[$0] != nil }
    if let barcode, !isPage { return try await barcodeAnswer(barcode, hasCodes: call.query.flag("codes")) }
    return try await pageAnswer(barcode, call.query)
  }

  /// The parameters with which an answer is a page.
  private static let pageParameters = ["where", "order", "limit", "offset", "columns", "count"]

  /// The products with a barcode; if it is no product's barcode, those that a scan of it finds.
  private func barcodeAnswer(_ barcode: String, hasCodes: Bool) async throws -> Response {
    try await aside {
      let catalogue = try daemon.catalogue()
      var products = try catalogue.products(barcode: barcode)
      if products.isEmpty { products = try catalogue.products(scannedAs: barcode) }
      let list = try products.map { product in
        JSONText.product(product, codes: hasCodes ? try catalogue.codes(ofProduct: product.id) : nil)
      }
      return Response(.object([("products", .array(list))]))
    }
  }

  private func pageAnswer(_ barcode: String?, _ query: QueryParameters) async throws -> Response {
    let catalogue = try daemon.catalogue()
    let page = BarcodePage(
      try Self.productQuery(catalogue, barcode, query), limit: try query.limit(), offset: try query.offset(),
      columns: try Self.columns(query, catalogue.fields), hasCodes: try query.flag("codes"),
      hasCount: try query.flag("count"))
    // A lookup takes microseconds, and does not wait for scans.
    if case .lookups = try page.query.plan { return try await aside(page.answer) }
    return try await daemon.queries.run(page.answer)
  }

  /// A page in the order of an index.
  @Sendable private func productsInOrder(_ call: RouteCall) async throws -> Response {
    guard let (order, isDescending) = CatalogIndexes.Order.parse(call.parameter) else {
      let orders = CatalogIndexes.Order.allCases.map(\.rawValue).joined(separator: ", ")
      throw ErrorResponse.notFound(
        "products are in order by \(orders), with - before it to reverse it; not by \(call.parameter.debugDescription)")
    }
    let query = call.query
    var cursor: ProductCursor?
    if let after = query["after"] {
      cursor = ProductCursor(after)
      if cursor == nil { throw ErrorResponse.badRequest("after: the value of next in the page before, as it is") }
    }
    let catalogue = try daemon.catalogue()
    let page = OrderedProductPage(
      catalogue: catalogue, order: order, isDescending: isDescending, cursor: cursor,
      limit: try query.limit(), columns: try Self.columns(query, catalogue.fields), hasCodes: try query.flag("codes"))
    return try await aside(page.answer)
  }

  private static func productQuery(
    _ catalogue: CatalogSnapshot, _ barcode: String?, _ query: QueryParameters
  ) throws(ErrorResponse) -> ProductQuery {
    let condition = query["where"] ?? "true"
    var found: ProductQuery
    do {
      // Alone first, so that an error has the column in what the caller wrote.
      found = try catalogue.products(where: condition)
      if let barcode {
        let quoted = barcode.flatMap { $0 == "'" || $0 == "\\" ? ["\\", $0] : [$0] }
        found = try catalogue.products(where: "(\(condition)) && barcode == '\(String(quoted))'")
      }
    } catch { throw .expression("where", error) }
    guard let order = query["order"] else { return found }
    do { return try found.order(by: order) } catch { throw .expression("order", error) }
  }

  private static func columns(
    _ query: QueryParameters, _ declared: DeclaredFields
  ) throws(ErrorResponse) -> ProductColumns? {
    guard let columns = query["columns"] else { return nil }
    do { return try ProductColumns(parsing: columns, declared: declared) } catch { throw .expression("columns", error) }
  }

  @Sendable private func codes(_ call: RouteCall) async throws -> Response {
    let id = call.parameter
    return try await aside {
      let catalogue = try daemon.catalogue()
      let codes = try catalogue.codes(ofProduct: id)
      if codes.isEmpty, try !catalogue.containsProduct(id: id) { throw Self.unknown(id) }
      return Response(.codes(codes, ofProduct: id))
    }
  }

  @Sendable private func components(_ call: RouteCall) async throws -> Response {
    let id = call.parameter
    return try await aside {
      let catalogue = try daemon.catalogue()
      let components = try catalogue.components(of: id)
      if components.isEmpty, try !catalogue.containsProduct(id: id) { throw Self.unknown(id) }
      return Response(components.json(ofSet: id))
    }
  }

  private static func unknown(_ id: String) -> ErrorResponse {
    .notFound("no product has the id \(id.debugDescription); GET /v1/products?barcode= finds products by barcode")
  }
}

/// A page of the products that meet a condition.
private struct BarcodePage: Sendable {
  /// The query without offset and limit.
  let query: ProductQuery
  let limit: Int
  let offset: Int
  /// The fields of each product; `nil` for all of them.
  let columns: ProductColumns?
  /// Whether each product has its codes of the table of codes.
  let hasCodes: Bool
  /// Whether to count all products that meet the condition, which reads the whole catalogue.
  let hasCount: Bool

  init(
    _ query: ProductQuery, limit: Int, offset: Int, columns: ProductColumns?, hasCodes: Bool, hasCount: Bool
  ) {
    self.query = query
    self.limit = limit
    self.offset = offset
    self.columns = columns
    self.hasCodes = hasCodes
    self.hasCount = hasCount
  }

  /// The page as JSON. It ends early if it has more than ``DaemonAPI/listByteLimit`` bytes; more products exist then.
  @Sendable func answer() throws -> Response {
    var bytes = Array("{\"products\":[".utf8)
    var count = 0
    var hasMore = false
    // One more than the limit says whether more exist.
    try query.offset(offset).limit(limit + 1).forEach { (view) throws(StoreError) in
      if count == limit || bytes.count > DaemonAPI.listByteLimit {
        hasMore = true
        return false
      }
      if count > 0 { bytes.append(UInt8(ascii: ",")) }
      let product = try query.snapshot.copy(view)
      try JSONText.product(product, columns, hasCodes: hasCodes, in: query.snapshot).append(to: &bytes)
      count += 1
      return true
    }
    bytes += "],\"more\":\(hasMore),\"sequence\":\(query.snapshot.sequence)".utf8
    if hasCount {
      let all = try query.count()
      bytes += ",\"count\":\(all)".utf8
    }
    bytes.append(UInt8(ascii: "}"))
    return Response(json: bytes)
  }
}

/// A page of all products in the order of an index.
private struct OrderedProductPage: Sendable {
  let catalogue: CatalogSnapshot
  let order: CatalogIndexes.Order
  let isDescending: Bool
  /// Where the page begins.
  let cursor: ProductCursor?
  let limit: Int
  /// The fields of each product; `nil` for all of them.
  let columns: ProductColumns?
  /// Whether each product has its codes of the table of codes.
  let hasCodes: Bool

  /// The number of products that are read at a time.
  private static let step = 50

  /// The page as JSON. It ends early after ``DaemonAPI/listByteLimit`` bytes.
  @Sendable func answer() throws -> Response {
    var bytes = Array("{\"products\":[".utf8)
    var next = cursor
    var count = 0
    repeat {
      let page = try catalogue.products(
        inOrderOf: order, after: next, descending: isDescending, limit: min(Self.step, limit - count))
      for product in page.products {
        if count > 0 { bytes.append(UInt8(ascii: ",")) }
        try JSONText.product(product, columns, hasCodes: hasCodes, in: catalogue).append(to: &bytes)
        count += 1
      }
      next = page.next
    } while next != nil && count < limit && bytes.count <= DaemonAPI.listByteLimit
    bytes += "],\"next\":".utf8
    JSONText.optional(next?.description).append(to: &bytes)
    bytes += ",\"sequence\":\(catalogue.sequence)}".utf8
    return Response(json: bytes)
  }
}
