import Catalog
import CatalogWire
import DocumentFormat
import Hummingbird
import JSONFormat
import LogStore
import Storage

extension Studio {
  func addHistory(to router: Router<BasicRequestContext>) {
    add(router, .get, "studio/api/history") { _ in .object([("commits", .array(try commits().map(\.json)))]) }
    addAsync(router, .get, "studio/api/history.ndjson") { _ in
      let bytes = try await BlockingThread.run { Self.lines(try commits().map(\.json)) }
      return Self.stream(.ndjson) { write in try await write(bytes) }
    }
    addAsync(router, .get, "studio/api/history.csv") { _ in
      let bytes = try await BlockingThread.run {
        var csv: [UInt8] = []
        RowCSV.append(["sequence", "generation", "time", "mode", "products", "cursor", "bytes"], to: &csv)
        for commit in try commits() {
          RowCSV.append(
            [
              "\(commit.commit.sequence)", "\(commit.commit.generation)", commit.timeText, commit.state.mode.name,
              "\(commit.products)", commit.state.cursor, "\(commit.commit.byteCount)",
            ], to: &csv)
        }
        return csv
      }
      return Self.stream(.csv) { write in try await write(bytes) }
    }
    add(router, .get, "studio/api/changes") { asked in
      let changes = try differences(asked.query)
      let offset = try asked.query.number("offset", in: 0...Int(UInt32.max), standard: 0)
      let limit = try asked.query.number("limit", in: 1...1000, standard: 200)
      let end = min(changes.rowCount, offset + limit)
      return .object([
        ("sequence", .uint(changes.to)), ("from", .uint(changes.from)), ("to", .uint(changes.to)),
        ("products", Self.counts(changes.changes.products)), ("relations", Self.counts(changes.changes.relations)),
        ("rows", .array((min(offset, end)..<end).map(changes.row).map(\.json))),
        ("more", .bool(end < changes.rowCount)),
      ])
    }
    addAsync(router, .get, "studio/api/changes.ndjson") { asked in
      let changes = try await BlockingThread.run { try differences(asked.query) }
      return Self.stream(.ndjson) { write in
        for start in stride(from: 0, to: changes.rowCount, by: 500) {
          try await write(Self.lines((start..<min(start + 500, changes.rowCount)).map { changes.row($0).json }))
        }
      }
    }
    addAsync(router, .get, "studio/api/changes.csv") { asked in
      let changes = try await BlockingThread.run { try differences(asked.query) }
      return Self.stream(.csv) { write in
        var csv: [UInt8] = []
        RowCSV.append(["kind", "change", "id", "name", "fields"], to: &csv)
        for index in 0..<changes.rowCount {
          let row = changes.row(index)
          let fields = String(decoding: JSONText.array(row.difference.fields).bytes, as: UTF8.self)
          RowCSV.append([row.kind, row.difference.change, row.id, row.name, fields], to: &csv)
          if csv.count > 1 << 16 {
            try await write(csv)
            csv.removeAll(keepingCapacity: true)
          }
        }
        try await write(csv)
      }
    }
    add(router, .post, "studio/api/rollback") { asked in
      try checkEditable()
      let body = try DocumentValue(json: asked.body.span)
      guard case .integer(let number)? = body["sequence"], let sequence = UInt64(exactly: number) else {
        throw StudioError.badRequest("sequence: the number of a commit")
      }
      guard case .text("\(sequence)")? = body["confirmation"] else {
        throw StudioError.badRequest("confirmation: the number of the commit again, as a text")
      }
      let writer = try stores.catalogueWriter()
      defer { writer.close() }
      guard let report = try writer.rollback(to: sequence) else { throw StudioError.unknownCommit(sequence) }
      return .object([("sequence", .uint(report.sequence))])
    }
  }

  private func commits() throws -> [CatalogCommit] { try stores.history()?.commits() ?? [] }

  private func differences(_ query: StudioQuery) throws -> Differences {
    let to = try query.sequence("to").map(catalogue(at:)) ?? stores.snapshot()
    let from = try catalogue(at: query.sequence("from") ?? 0)
    return Differences(from: from.sequence, to: to.sequence, changes: try to.changes(since: from))
  }

  private static func counts<Row>(_ changes: [CatalogChange<Row>]) -> JSONText {
    func count(_ name: String) -> JSONText { .int(changes.count { $0.name == name }) }
    return .object([("added", count("added")), ("removed", count("removed")), ("changed", count("changed"))])
  }
}

/// The differences between two commits, as rows: products, then relations.
private struct Differences: Sendable {
  let from: UInt64
  let to: UInt64
  let changes: CatalogChanges

  struct Row {
    let kind: String
    let id: String
    let name: String
    let difference: RowDifference

    var json: JSONText {
      .object([("kind", .text(kind)), ("id", .text(id)), ("name", .text(name))] + difference.jsonFields)
    }
  }

  var rowCount: Int { changes.products.count + changes.relations.count }

  func row(_ index: Int) -> Row {
    if index < changes.products.count {
      let change = changes.products[index]
      let product = change.after ?? change.before
      return row(
        "product", product?.id, product?.name, change.before.map(JSONText.product), change.after.map(JSONText.product))
    }
    let change = changes.relations[index - changes.products.count]
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
