import Catalog
import DocumentFormat
import HTTPServer
import JSONFormat
import LogStore
import Platform
import RowFiles
import TextFormat
import Workspace

extension Studio {
  /// The number of commits that the first page shows.
  private static var commitLimit: Int { 60 }

  func addStore(to router: StudioRoutes) {
    add(router, .get, "studio/api/store", store)
    addExports(router, "store", ["part", "name", "value"], storeRows)
    add(router, .get, "studio/api/statistics") { call in
      let snapshot = try catalogue(call.query)
      let sets = try snapshot.setStatistics()
      return .object([
        ("sequence", .uint(snapshot.sequence)), ("sets", .int(sets.sets)),
        ("danglingComponents", .int(sets.danglingComponents)),
        ("deletedProducts", .int(try snapshot.deletedProductCount())),
      ])
    }
    add(router, .get, "studio/api/barcodes") { call in
      let snapshot = try catalogue(call.query)
      let states = try snapshot.barcodeStates()
      let first = states.compactMap { state in
        state.first.map { first in
          (state.state, JSONText.object([("id", .text(first.id)), ("barcode", .text(first.barcode))]))
        }
      }
      return .object([
        ("sequence", .uint(snapshot.sequence)), ("barcodes", .object(states.map { ($0.state, .int($0.count)) })),
        ("first", .object(first)),
      ])
    }
    add(router, .get, "studio/api/scan") { call in
      guard let code = call.query["code"] else { throw ErrorResponse.badRequest("code: what was scanned") }
      let snapshot = try catalogue(call.query)
      let match = try snapshot.match(code, options: stores.matchingOptions())
      return .object(
        [("sequence", .uint(snapshot.sequence))] + match.jsonFields(code: code, today: .today) + match.explanation)
    }
    addExports(router, "scan", ["code", "match", "id", "barcode", "name", "brand", "unit", "package"], scannedRows)
    add(router, .get, "studio/api/settings") { _ in .object([("settings", .array(try settings()))]) }
    addExports(router, "settings", ["owner", "name", "value", "known", "description"]) { _ in try settings() }
    add(router, .get, "studio/api/cache") { _ in .object([("lists", .array(try cachedLists()))]) }
    addExports(router, "cache", ["name", "pageSize", "order", "pages", "items", "bytes", "fetched", "stale"]) { _ in
      try cachedLists()
    }
  }

  /// What the page Home shows.
  private func store(_ call: ReceivedRequest) throws -> JSONText {
    let history = try stores.history()
    let snapshot = try call.query["at"] == nil ? history?.current ?? .empty : catalogue(call.query)
    let statistics = try snapshot.store?.statistics()
    let commits = try history?.commits() ?? []
    let declared = snapshot.declaring(try stores.fields())
    let orders = snapshot.orders.map(\.rawValue).sorted()
    let files = try stores.files().map { file in
      JSONText.object([
        ("name", .text(file.name)), ("bytes", .int(file.byteCount)), ("role", .text(file.role.rawValue)),
      ])
    }
    let indexes = (statistics?.indexes ?? []).map { index in
      JSONText.object([
        ("name", .text(index.name)), ("kind", .text(index.kind.rawValue)), ("entries", .int(index.entryCount)),
        ("bytes", .int(index.byteCount)),
      ])
    }
    return .object([
      ("program", .text(stores.program)), ("version", .text(stores.version)), ("user", .text(try stores.user())),
      ("editable", .bool(stores.isEditable)),
      ("productsEditable", .bool(stores.isEditable && (try? stores.isOwn(history?.current ?? .empty)) ?? false)),
      ("decidesUploads", .bool(stores.decidesUploads)),
      ("live", .bool(stores.daemon != nil)),
      ("products", .int(snapshot.productCount)), ("relations", .int(snapshot.relationCount)),
      ("codes", .int(snapshot.codeCount)),
      ("sequence", .uint(snapshot.sequence)), ("generation", .uint(snapshot.generation)),
      ("cursor", .text(snapshot.cursor)),
      ("updatedAt", .optional(snapshot.store.map { CivilTime(milliseconds: $0.time / 1000).secondsText })),
      ("fileBytes", .int(statistics?.fileByteCount ?? 0)), ("liveBytes", .int(statistics?.liveByteCount ?? 0)),
      ("deadBytes", .int(statistics?.deadByteCount ?? 0)), ("files", .array(files)), ("indexes", .array(indexes)),
      ("hasSearch", .bool(snapshot.hasSearchIndex)),
      ("orders", .array((["id"] + orders.filter { $0 != "id" }).map(JSONText.text))),
      ("fields", .array(declared.fields.names.map { Self.field($0, declared) })),
      ("commits", .array(commits.prefix(Self.commitLimit).map(\.json))),
      ("problems", stores.daemon?.problems() ?? .array([])),
    ])
  }

  /// A declared field of one's own: its name, its type, whether its values are codes, and whether products are read in its
  /// order.
  private static func field(_ name: String, _ snapshot: CatalogSnapshot) -> JSONText {
    let declaration = snapshot.fields[name]
    return .object([
      ("name", .text(name)), ("type", .text((declaration?.type ?? .text).rawValue)),
      ("code", .bool(declaration?.isCode ?? false)), ("ordered", .bool(snapshot.hasOrder(ofField: name))),
    ])
  }

  /// What the page Home shows, as rows: each number, file, index and problem, and the rows of each commit.
  private func storeRows(_ call: ReceivedRequest) throws -> [JSONText] {
    let store = try DocumentValue(json: store(call).bytes.span)
    var rows: [JSONText] = []
    func add(_ part: String, _ name: DocumentValue?, _ value: DocumentValue?) {
      rows.append(
        .object([
          ("part", .text(part)), ("name", .raw(Array((name ?? .null).json.utf8))),
          ("value", .raw(Array((value ?? .null).json.utf8))),
        ]))
    }
    for name in [
      "program", "version", "user", "products", "relations", "codes", "sequence", "generation", "cursor", "updatedAt",
      "fileBytes", "liveBytes", "deadBytes",
    ] {
      add("store", .text(name), store[name])
    }
    for (part, name, value) in [
      ("files", "name", "bytes"), ("indexes", "name", "bytes"), ("problems", "code", "message"),
      ("commits", "sequence", "time"),
    ] {
      guard case .array(let items)? = store[part] else { continue }
      for item in items { add(part, item[name], item[value]) }
    }
    return rows
  }

  /// The products that a code finds, each with the code and how it was found; one row without a product if it finds
  /// none.
  private func scannedRows(_ call: ReceivedRequest) throws -> [JSONText] {
    guard let code = call.query["code"] else { throw ErrorResponse.badRequest("code: what was scanned") }
    let match = try catalogue(call.query).match(code, options: stores.matchingOptions())
    let how: [(String, JSONText)] = [("code", .text(code)), ("match", .text(match.kind.rawValue))]
    if match.products.isEmpty { return [.object(how)] }
    return match.products.map { product in
      .object(
        how + [
          ("id", .text(product.id)), ("barcode", .text(product.barcode)), ("name", .text(product.name)),
          ("brand", .text(product.brand)), ("unit", .text(product.unit)),
          ("package", match.package?.packageJSON ?? .null),
        ])
    }
  }

  /// Adds exports of a short list of objects, as NDJSON, and the fields with `names` of each as CSV.
  func addExports(
    _ router: StudioRoutes, _ path: String, _ names: [String],
    _ rows: @escaping @Sendable (ReceivedRequest) throws -> [JSONText]
  ) {
    addAsync(router, .get, "studio/api/\(path).ndjson") { call in
      let bytes = try await BlockingThread.run { Self.lines(try rows(call)) }
      return Self.stream(.ndjson) { write in try await write(bytes) }
    }
    addAsync(router, .get, "studio/api/\(path).csv") { call in
      let bytes = try await BlockingThread.run {
        var csv = SheetRows.header(names)
        for row in try rows(call) { SheetRows.append(try DocumentValue(json: row.bytes.span), names, to: &csv) }
        return csv
      }
      return Self.stream(.csv) { write in try await write(bytes) }
    }
  }

  /// The settings of the user, then those of the default store.
  private func settings() throws -> [JSONText] {
    try [("user", true), ("default", false)].flatMap { owner, isUser in
      try stores.settings(ofUser: isUser).list().map { Self.json($0, owner: owner) }
    }
  }

  private func cachedLists() throws -> [JSONText] {
    (try stores.cache()?.lists() ?? []).map { list in
      let fetched = CivilTime(milliseconds: Int64(list.fetched.timeIntervalSince1970 * 1000))
      return .object([
        ("name", .text(list.name)), ("pageSize", .int(list.pageSize)), ("order", .text(list.order.rawValue)),
        ("pages", .array(list.pages.map(JSONText.int))), ("items", .int(list.itemCount)),
        ("bytes", .int(list.byteCount)), ("fetched", .text(fetched.secondsText)),
        ("stale", .bool(list.isStale(at: .now))),
      ])
    }
  }

  /// The names of settings whose values are secrets have one of these words.
  private static var secretWords: [String] { ["token", "secret", "password", "authorization"] }

  private static func json(_ setting: StoredSetting, owner: String) -> JSONText {
    let description = KnownSettings.description(of: setting.name)
    let isSecret = secretWords.contains { setting.name.lowercased().contains($0) }
    return .object([
      ("owner", .text(owner)), ("name", .text(setting.name)),
      ("value", isSecret ? .text("…") : .raw(Array(setting.value.json.utf8))),
      ("known", .bool(description != nil)), ("description", .optional(description)),
    ])
  }
}
