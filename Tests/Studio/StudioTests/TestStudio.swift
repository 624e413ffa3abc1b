import Catalog
import CatalogRows
import Foundation
import HTTPServer
import HTTPSupport
import HTTPTypes
import Synchronization
import Testing
import Workspace

@testable import Studio

/// A studio on stores in a directory of its own, asked without a socket.
final class TestStudio {
  static let token = "0123456789abcdefghijkl"
  let root: String
  let workspace: WorkspaceDirectory
  let stores: StudioStores
  let studio: Studio
  private let responder: StudioResponder

  init(isEditable: Bool = false, signsIn: Bool = true, names: Set<String> = []) throws {
    root = NSTemporaryDirectory() + "studio-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    let workspace = WorkspaceDirectory(root: root)
    self.workspace = workspace
    if signsIn { try workspace.signIn("ana") }
    stores = StudioStores(
      workspace, version: "test", isEditable: isEditable,
      user: {
        guard let user = try workspace.currentUser() else { throw WorkspaceError.notSignedIn }
        return user
      })
    studio = Studio(stores, access: StudioAccess(token: BearerToken(Self.token), names: HostNames(names)))
    responder = studio.responder()
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  /// Commits an increment, or a full update.
  @discardableResult
  func commit(_ products: [Product], _ relations: [Relation] = [], isFull: Bool = false) throws -> UInt64 {
    let writer = try workspace.catalogueWriter(of: "ana", lockTimeout: .seconds(2))
    defer { writer.close() }
    if isFull {
      var update = try writer.beginFullUpdate(.open)
      try update.take(products, relations)
      return try update.commit(cursor: "full").sequence
    }
    var increment = writer.beginIncrement()
    try increment.take(products, relations)
    return try writer.commit(increment, cursor: "increment").sequence
  }

  /// An answer.
  struct Answer {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    /// The body as a JSON object.
    var json: [String: Any] {
      get throws { try #require(JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]) }
    }
    var lines: [String] { text.split(whereSeparator: \.isNewline).map(String.init) }
  }

  func ask(
    _ path: String, method: HTTPRequest.Method = .get, host: String? = "127.0.0.1:9000", origin: String? = nil,
    token: String? = TestStudio.token, body: String = "", headers: HTTPFields = [:]
  ) async throws -> Answer {
    var fields = headers
    if let origin { fields[.origin] = origin }
    if let token { fields[.authorization] = "Bearer " + token }
    let head = HTTPRequest(method: method, scheme: "http", authority: host, path: path, headerFields: fields)
    let response = try await responder.respond(to: head, RequestBody(Array(body.utf8)))
    let bytes: [UInt8]
    switch response.body {
    // The server writes no body in response to `HEAD`.
    case _ where method == .head: bytes = []
    case .bytes(let whole): bytes = whole
    case .stream(let write):
      let parts = Mutex<[UInt8]>([])
      try await write(BodyWriter { part in parts.withLock { $0 += part } })
      bytes = parts.withLock { $0 }
    }
    return Answer(status: response.status, headers: response.headers, body: bytes)
  }

  /// A JSON answer with status 200.
  func json(_ path: String) async throws -> [String: Any] {
    let answer = try await ask(path)
    try #require(answer.status == .ok, "\(path): \(answer.text)")
    return try answer.json
  }
}

extension TestStudio {
  /// A page of the table of products, asked for until all rows of the table are known.
  func table(_ query: String) async throws -> [String: Any] {
    while true {
      let page = try await json("/studio/api/products?\(query)")
      if page["count"] is Int { return page }
    }
  }
}

func product(
  _ id: String, _ name: String, barcode: String = "", brand: String = "", category: String = "",
  delFlag: Int64 = 0
) -> Product {
  var product = Product()
  product.id = id
  product.name = name
  product.barcode = barcode
  product.brand = brand
  product.category = category
  product.delFlag = delFlag
  return product
}

extension [String: Any] {
  func rows(_ name: String = "rows") throws -> [[String: Any]] { try #require(self[name] as? [[String: Any]]) }
}

extension RowSink {
  fileprivate mutating func take(_ products: [Product], _ relations: [Relation]) throws {
    var productRow = ProductRow()
    for product in products {
      product.fill(&productRow)
      try self.product(productRow)
    }
    var relationRow = RelationRow()
    for relation in relations {
      relation.fill(&relationRow)
      try self.relation(relationRow)
    }
  }
}

func relation(_ set: String, _ component: String, count: Int64 = 1) -> Relation {
  var relation = Relation()
  relation.id = set + "-" + component
  relation.productId = set
  relation.subProductId = component
  relation.groupNum = count
  return relation
}
