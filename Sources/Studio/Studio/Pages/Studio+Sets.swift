import Catalog
import DocumentFormat
import HTTPServer
import JSONFormat
import LogStore
import Platform
import RowFiles

extension Studio {
  /// The maximum number of codes in one series of scans.
  private static var codeLimit: Int { 10_000 }
  /// The depth at which a tree of components ends.
  private static var treeDepth: Int { 8 }

  func addSets(to router: StudioRoutes) {
    add(router, .get, "studio/api/sets") { call in
      let snapshot = try catalogue(call.query)
      let offset = try call.query.number("offset", in: 0...Int(UInt32.max), standard: 0)
      let limit = try call.query.number("limit", in: 1...1000, standard: 100)
      let ids = try sets.ids(snapshot)
      var rows: [SetRow] = []
      var count = ids.count
      if try call.query.bool("missing") == true {
        let found = try ids.map { try SetRow($0, snapshot) }.filter { $0.missing > 0 }
        count = found.count
        rows = Array(found.dropFirst(offset).prefix(limit))
      } else {
        rows = try ids.dropFirst(offset).prefix(limit).map { try SetRow($0, snapshot) }
      }
      return .object([
        ("sequence", .uint(snapshot.sequence)), ("offset", .int(offset)), ("count", .int(count)),
        ("rows", .array(rows.map(\.json))),
      ])
    }
    addAsync(router, .get, "studio/api/sets.ndjson") { call in
      try await exportSets(call.query, .ndjson, []) { Self.lines($0.map(\.json)) }
    }
    addAsync(router, .get, "studio/api/sets.csv") { call in
      let header = SheetRows.header(["id", "name", "barcode", "components", "missing"])
      return try await exportSets(call.query, .csv, header) { rows in
        var csv: [UInt8] = []
        for row in rows {
          SheetRows.append(
            [
              .text(row.id), .text(row.name), .text(row.barcode), .number("\(row.components)"),
              .number("\(row.missing)"),
            ], to: &csv)
        }
        return csv
      }
    }
    addExports(router, "set", ["level", "productId", "subProductId", "name", "barcode", "groupNum", "missing"]) {
      call in
      guard let id = call.query["id"] else { throw ErrorResponse.badRequest("id: the id of a set") }
      return try Self.rows(id, [], catalogue(call.query))
    }
    add(router, .get, "studio/api/sets/{id}") { call in
      let snapshot = try catalogue(call.query)
      let id = call.name("id")
      guard try snapshot.containsProduct(id: id) || !snapshot.relations(ofSet: id).isEmpty else {
        throw ErrorResponse.notFound("the catalogue has no set \(id.debugDescription)")
      }
      let product = try snapshot.product(id: id)
      return .object([
        ("sequence", .uint(snapshot.sequence)), ("id", .text(id)), ("name", .optional(product?.name)),
        ("product", product.map(JSONText.product) ?? .null), ("components", .array(try Self.tree(id, [], snapshot))),
      ])
    }
    add(router, .post, "studio/api/sets/complete") { call in
      guard case .array(let values)? = try DocumentValue(json: call.body.span)["codes"] else {
        throw ErrorResponse.badRequest("codes: a list of texts")
      }
      if values.count > Self.codeLimit { throw ErrorResponse.badRequest("codes: at most \(Self.codeLimit)") }
      let codes = try values.map { value in
        guard case .text(let code) = value else { throw ErrorResponse.badRequest("codes: a list of texts") }
        return code
      }
      let snapshot = try catalogue(call.query)
      let result = try snapshot.complete(codes, options: stores.matchingOptions())
      var ids = Set(result.products.keys).union(result.complete.keys).union(result.incomplete.keys)
      for missing in result.incomplete.values { ids.formUnion(missing.keys) }
      var names: [ProductID: String] = [:]
      for id in ids { names[id] = try snapshot.product(id: id.text)?.name }
      var json = result.json
      if case .object(let fields) = json { json = .object(fields + [("names", .byId(names, JSONText.text))]) }
      return json
    }
  }

  private func exportSets(
    _ query: StudioQuery, _ format: StreamFormat, _ header: [UInt8],
    _ lines: @escaping @Sendable ([SetRow]) -> [UInt8]
  ) async throws -> Response {
    let (snapshot, ids) = try await BlockingThread.run {
      let snapshot = try catalogue(query)
      return (snapshot, try sets.ids(snapshot))
    }
    let isMissingOnly = try query.bool("missing") == true
    return Self.stream(format) { write in
      try await write(header)
      for start in stride(from: 0, to: ids.count, by: 500) {
        let part = ids[start..<min(start + 500, ids.count)]
        try await write(
          BlockingThread.run {
            lines(try part.map { try SetRow($0, snapshot) }.filter { !isMissingOnly || $0.missing > 0 })
          })
      }
    }
  }

  /// The components of a set as rows, each before its own components.
  private static func rows(_ id: String, _ parents: [String], _ snapshot: CatalogSnapshot) throws -> [JSONText] {
    let path = parents + [id]
    var rows: [JSONText] = []
    for component in try snapshot.components(of: id) {
      let child = component.relation.subProductId
      rows.append(
        .object([
          ("level", .int(path.count)), ("productId", .text(id)), ("subProductId", .text(child)),
          ("name", .optional(component.product?.name)), ("barcode", .optional(component.product?.barcode)),
          ("groupNum", .raw(Array("\(component.relation.groupNum)".utf8))),
          ("missing", .bool(component.product == nil)),
        ]))
      if path.count < treeDepth, !path.contains(where: { $0.utf8.elementsEqual(child.utf8) }) {
        rows += try self.rows(child, path, snapshot)
      }
    }
    return rows
  }

  /// The components of a set, with theirs.
  private static func tree(_ id: String, _ parents: [String], _ snapshot: CatalogSnapshot) throws -> [JSONText] {
    let path = parents + [id]
    return try snapshot.components(of: id).map { component in
      guard case .object(var fields) = component.json else { return component.json }
      let child = component.relation.subProductId
      if path.contains(where: { $0.utf8.elementsEqual(child.utf8) }) {
        fields += [("components", .array([])), ("cycle", .bool(true))]
      } else {
        let components = path.count < treeDepth ? try tree(child, path, snapshot) : []
        fields.append(("components", .array(components)))
      }
      return .object(fields)
    }
  }
}

/// A set as a row of a table.
private struct SetRow: Sendable {
  let id: String
  let name: String
  let barcode: String
  let components: Int
  /// The number of components that the catalogue lacks, or that the server sent as deleted.
  let missing: Int

  init(_ id: String, _ snapshot: CatalogSnapshot) throws(StoreError) {
    let product = try snapshot.product(id: id)
    let components = try snapshot.components(of: id)
    self.id = id
    name = product?.name ?? ""
    barcode = product?.barcode ?? ""
    self.components = components.count
    missing = components.count { $0.product == nil }
  }

  var json: JSONText {
    .object([
      ("id", .text(id)), ("name", .text(name)), ("barcode", .text(barcode)), ("components", .int(components)),
      ("missing", .int(missing)),
    ])
  }
}
