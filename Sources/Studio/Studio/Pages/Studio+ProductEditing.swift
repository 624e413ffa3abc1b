import Catalog
import CatalogRows
import DocumentFormat
import HTTPServer
import HTTPTypes
import JSONFormat
import LogStore
import RowFiles
import ServerAnswers
import Workspace

// Changes of products, where no server and no source of the daemon would undo them.

extension Studio {
  func addProductEditing(to router: StudioRoutes) {
    add(router, .post, "studio/api/products") { call in try changeProducts(call) }
  }

  /// Makes changes of products in one commit, as an import of their rows with `--upsert`: all of them, or none.
  ///
  /// Rows come as texts of JSON, so that numbers of `extra` keep their digits. A change without a row deletes the
  /// product. One with `isNew` refuses all if the product is there, and one with `before` if the product is another one
  /// now. A change with `codes` gives the product these codes; `codesBefore` are those that the page has shown.
  private func changeProducts(_ call: ReceivedRequest) throws -> JSONText {
    try checkEditable()
    let changes = try Self.changes(call)
    let writer = try stores.catalogueWriter()
    defer { writer.close() }
    let snapshot = try writer.snapshot()
    guard try stores.isOwn(snapshot) else {
      throw ErrorResponse(
        .conflict, "notOwn",
        "this catalogue comes from elsewhere, and the next update would undo a change here: change it there")
    }
    var sink = EditedRows(try CatalogMerge(snapshot, deletesMissing: false))
    // A merge with codes gives all of its products those that it has of them.
    let hasCodes = changes.contains { $0["codes"] != nil }
    sink.merge.keepsCodes = !hasCodes
    for (index, change) in changes.enumerated() {
      let id = try Self.text("id", of: change, index)
      let now = try snapshot.product(id: id)
      if change["isNew"] == .bool(true), now != nil {
        throw ErrorResponse(
          .conflict, "productExists",
          "there is a product \(id.debugDescription) already; edit that one, or take another id; nothing was changed")
      }
      if case .text(let before)? = change["before"] {
        let shown = try DocumentValue(json: before)
        let isSame = try now.map { try DocumentValue(json: Self.json($0).span) == shown } ?? false
        if !isSame { throw ErrorResponse.changed("the product \(id.debugDescription) is another one now") }
      }
      let codesNow = try snapshot.codes(ofProduct: id)
      if let shown = change["codesBefore"], try Self.codes(shown, of: id, "changes[\(index)].codesBefore") != codesNow {
        throw ErrorResponse.changed("the codes of the product \(id.debugDescription) are others now")
      }
      if case .text(let row)? = change["row"] {
        try sink.take(row, of: id, index)
        if hasCodes {
          let codes = try change["codes"].map { try Self.codes($0, of: id, "changes[\(index)].codes") } ?? codesNow
          try sink.take(codes, index)
        }
      } else if var product = now {
        product.delFlag = 1
        try sink.take(String(decoding: Self.json(product), as: UTF8.self), of: id, index)
      } else {
        throw ErrorResponse.notFound(
          "changes[\(index)]: there is no product \(id.debugDescription); nothing was changed")
      }
    }
    var merge = sink.merge
    try merge.finish()
    let counts = merge.counts
    let update = try merge.commit(to: writer, cursor: nil, .open)
    return .object([
      ("sequence", .uint(update.sequence)), ("added", .int(counts.added)), ("changed", .int(counts.changed)),
      ("deleted", .int(counts.deleted)),
    ])
  }

  /// The codes that a page has sent, sorted as a catalogue has them. Their quantities are texts, so that all digits stay.
  ///
  /// - Parameters:
  ///   - list: The list of objects with `id`, `code`, `quantity`, `unit` and `kind`.
  ///   - id: The id of the product.
  ///   - place: Where the list is, for messages.
  private static func codes(_ list: DocumentValue, of id: String, _ place: String) throws -> [ProductCode] {
    guard case .array(let items) = list else {
      throw ErrorResponse.badRequest("\(place): a list of codes; nothing was changed")
    }
    return try items.enumerated().map { index, item in
      func text(_ name: String) throws -> String {
        if case .text(let text)? = item[name] { return text }
        throw ErrorResponse.badRequest("\(place)[\(index)].\(name): a text; nothing was changed")
      }
      var code = ProductCode()
      code.productId = id
      (code.id, code.code) = (try text("id"), try text("code"))
      (code.unit, code.kind) = (try text("unit"), try text("kind"))
      if code.code.allSatisfy(\.isWhitespace) {
        throw ErrorResponse.badRequest("\(place)[\(index)].code: the code is empty; nothing was changed")
      }
      if try !code.setQuantity(text("quantity")) {
        throw ErrorResponse.badRequest(
          "\(place)[\(index)].quantity: a number above 0 with at most 18 digits; nothing was changed")
      }
      return code
    }.sorted(by: ProductCode.precedes)
  }

  /// A product as a row on one line.
  private static func json(_ product: Product) -> [UInt8] {
    var json: [UInt8] = []
    JSONText.product(product).append(to: &json)
    return json
  }
}

/// Rows that a page has sent, checked as those of a person's own file.
private struct EditedRows: RowSink {
  var merge: CatalogMerge
  private var id: String?

  init(_ merge: CatalogMerge) { self.merge = merge }

  /// Takes the row of a product.
  ///
  /// - Parameter index: The number of the change, for messages.
  /// - Throws: ``ErrorResponse`` for a text that is no row of this product.
  mutating func take(_ row: String, of id: String, _ index: Int) throws {
    var rules = RowRules()
    rules.allowsEmptyIds = true
    var reader = RowFileReader(.ndjson, rules: rules)
    self.id = nil
    do throws(RowFileError) {
      // A row is one line, and so is what is in it.
      try reader.consume(Array(row.utf8.filter { $0 != 0x0A && $0 != 0x0D }).span, into: &self)
      _ = try reader.finish(into: &self)
    } catch {
      switch error {
      case .refused(let faults):
        let reasons = faults.first.map { ($0.column.map { "\($0): " } ?? "") + $0.message }
        throw ErrorResponse.badRequest("changes[\(index)]: \(reasons.joined(separator: "; ")); nothing was changed")
      case .sinkFailed(let cause, _): throw cause
      default: throw error
      }
    }
    guard self.id == id else {
      throw ErrorResponse.badRequest("changes[\(index)].row: its id is not the id of the change; nothing was changed")
    }
  }

  /// Takes the codes of the product that was taken last.
  ///
  /// - Parameter index: The number of the change, for messages.
  /// - Throws: ``ErrorResponse`` for a code that exceeds a limit of the format.
  mutating func take(_ codes: [ProductCode], _ index: Int) throws {
    var row = CodeRow()
    var check = RowSizeCheck()
    for code in codes {
      code.fill(&row)
      do { try check.code(row) } catch StoreError.tooLarge(let what, let byteCount, let limit) {
        throw ErrorResponse.badRequest(
          "changes[\(index)].codes: \(what) would take \(byteCount) bytes, and there is room for \(limit); nothing was"
            + " changed")
      }
      try merge.code(row)
    }
  }

  mutating func product(_ row: borrowing ProductRow) throws {
    id = row[.id]
    try merge.product(row)
  }

  mutating func code(_ row: borrowing CodeRow) throws { throw RowRefusal("this is a code, not a product") }

  mutating func relation(_ row: borrowing RelationRow) throws {
    throw RowRefusal("this is a relation, not a product")
  }
}
