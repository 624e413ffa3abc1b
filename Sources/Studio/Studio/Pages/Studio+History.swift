import Catalog
import DocumentFormat
import HTTPServer
import JSONFormat
import LogStore
import Platform
import RowFiles
import Synchronization

extension Studio {
  func addHistory(to router: StudioRoutes) {
    add(router, .get, "studio/api/history") { _ in .object([("commits", .array(try commits().map(\.json)))]) }
    addAsync(router, .get, "studio/api/history.ndjson") { _ in
      let bytes = try await BlockingThread.run { Self.lines(try commits().map(\.json)) }
      return Self.stream(.ndjson) { write in try await write(bytes) }
    }
    addAsync(router, .get, "studio/api/history.csv") { _ in
      let bytes = try await BlockingThread.run {
        var csv = SheetRows.header(["sequence", "generation", "time", "mode", "products", "cursor", "bytes"])
        for commit in try commits() {
          SheetRows.append(
            [
              .number("\(commit.commit.sequence)"), .number("\(commit.commit.generation)"), .text(commit.timeText),
              .text(commit.state.mode.name), .number("\(commit.products)"), .text(commit.state.cursor),
              .number("\(commit.commit.byteCount)"),
            ], to: &csv)
        }
        return csv
      }
      return Self.stream(.csv) { write in try await write(bytes) }
    }
    add(router, .get, "studio/api/changes") { call in
      let changes = try differences(call.query)
      let offset = try call.query.number("offset", in: 0...Int(UInt32.max), standard: 0)
      let limit = try call.query.number("limit", in: 1...1000, standard: 200)
      let end = min(changes.rowCount, offset + limit)
      return .object([
        ("sequence", .uint(changes.later.sequence)), ("from", .uint(changes.earlier.sequence)),
        ("to", .uint(changes.later.sequence)), ("products", Self.counts(changes.productCounts)),
        ("relations", Self.counts(changes.relations.counts)), ("codes", Self.counts(changes.codes.counts)),
        ("rows", .array(try (min(offset, end)..<end).map { try changes.row($0).json })),
        ("more", .bool(end < changes.rowCount)),
      ])
    }
    addAsync(router, .get, "studio/api/changes.ndjson") { call in
      let changes = try await BlockingThread.run { try differences(call.query) }
      return Self.stream(.ndjson) { write in
        for start in stride(from: 0, to: changes.rowCount, by: 500) {
          let end = min(start + 500, changes.rowCount)
          try await write(
            BlockingThread.run { Self.lines(try (start..<end).map { try changes.row($0).json }) })
        }
      }
    }
    addAsync(router, .get, "studio/api/changes.csv") { call in
      let changes = try await BlockingThread.run { try differences(call.query) }
      return Self.stream(.csv) { write in
        try await write(SheetRows.header(["kind", "change", "id", "name", "fields"]))
        for start in stride(from: 0, to: changes.rowCount, by: 500) {
          let end = min(start + 500, changes.rowCount)
          try await write(
            BlockingThread.run {
              var csv: [UInt8] = []
              for index in start..<end {
                let row = try changes.row(index)
                let fields = String(decoding: JSONText.array(row.difference.fields).bytes, as: UTF8.self)
                SheetRows.append(
                  [.text(row.kind), .text(row.difference.change), .text(row.id), .text(row.name), .text(fields)],
                  to: &csv)
              }
              return csv
            })
        }
      }
    }
    add(router, .post, "studio/api/rollback") { call in
      try checkEditable()
      let body = try DocumentValue(json: call.body.span)
      guard case .integer(let number)? = body["sequence"], let sequence = UInt64(exactly: number) else {
        throw ErrorResponse.badRequest("sequence: the number of a commit")
      }
      guard case .text("\(sequence)")? = body["confirmation"] else {
        throw ErrorResponse.badRequest("confirmation: the number of the commit again, as a text")
      }
      let writer = try stores.catalogueWriter()
      defer { writer.close() }
      guard let report = try writer.rollback(to: sequence) else { throw ErrorResponse.unknownCommit(sequence) }
      return .object([("sequence", .uint(report.sequence))])
    }
  }

  private func commits() throws -> [CatalogCommit] { try stores.history()?.commits() ?? [] }

  private func differences(_ query: StudioQuery) throws -> CatalogDifferences {
    let to = try query.sequence("to").map(catalogue(at:)) ?? stores.snapshot()
    return try differenceLists.differences(from: catalogue(at: query.sequence("from") ?? 0), to: to)
  }

  private static func counts(_ counts: (added: Int, removed: Int, changed: Int)) -> JSONText {
    .object([("added", .int(counts.added)), ("removed", .int(counts.removed)), ("changed", .int(counts.changed))])
  }
}

/// The differences between the two commits that were compared last.
final class DifferenceLists: Sendable {
  private let last = Mutex<CatalogDifferences?>(nil)

  /// Returns the differences between two commits.
  ///
  /// - Complexity: As `CatalogSnapshot.differences(since:)`, unless the same two commits were compared before.
  func differences(from earlier: CatalogSnapshot, to later: CatalogSnapshot) throws -> CatalogDifferences {
    let known = last.withLock { $0 }
    if let known, Self.isSame(known.earlier, earlier), Self.isSame(known.later, later) { return known }
    let new = try later.differences(since: earlier)
    last.withLock { $0 = new }
    return new
  }

  private static func isSame(_ a: CatalogSnapshot, _ b: CatalogSnapshot) -> Bool {
    switch (a.store, b.store) {
    case (nil, nil): true
    case (let first?, let second?): first.isSameGeneration(as: second) && first.sequence == second.sequence
    default: false
    }
  }
}

extension [CatalogChange<Relation>] {
  fileprivate var counts: (added: Int, removed: Int, changed: Int) { rowCounts(of: self) }
}

extension [CatalogChange<ProductCode>] {
  fileprivate var counts: (added: Int, removed: Int, changed: Int) { rowCounts(of: self) }
}

private func rowCounts<Row>(of changes: [CatalogChange<Row>]) -> (added: Int, removed: Int, changed: Int) {
  let added = changes.count { $0.before == nil }
  let removed = changes.count { $0.after == nil }
  return (added, removed, changes.count - added - removed)
}

/// The differences as rows: products, then relations, then codes.
extension CatalogDifferences {
  fileprivate struct Row {
    let kind: String
    let id: String
    let name: String
    let difference: RowDifference

    var json: JSONText {
      .object([("kind", .text(kind)), ("id", .text(id)), ("name", .text(name))] + difference.jsonFields)
    }
  }

  fileprivate var rowCount: Int { productCount + relations.count + codes.count }

  fileprivate func row(_ index: Int) throws -> Row {
    if index < productCount {
      let change = try product(index)
      let product = change.after ?? change.before
      return row(
        "product", product?.id, product?.name, change.before.map(JSONText.product), change.after.map(JSONText.product))
    }
    if index >= productCount + relations.count {
      let change = codes[index - productCount - relations.count]
      let code = change.after ?? change.before
      return row(
        "code", code?.productId, code?.code, change.before.map(JSONText.code), change.after.map(JSONText.code))
    }
    let change = relations[index - productCount]
    let relation = change.after ?? change.before
    return row(
      "relation", relation?.id, relation.map { "\($0.productId) → \($0.subProductId)" },
      change.before.map(JSONText.relation), change.after.map(JSONText.relation))
  }

  private func row(_ kind: String, _ id: String?, _ name: String?, _ before: JSONText?, _ after: JSONText?) -> Row {
    // Rows that are equal are no difference.
    let difference = RowDifference(before, after) ?? RowDifference(change: "changed", fields: [])
    return Row(kind: kind, id: id ?? "", name: name ?? "", difference: difference)
  }
}
