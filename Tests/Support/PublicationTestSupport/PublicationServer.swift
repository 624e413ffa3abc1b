import Catalog
import CatalogRows
package import Cryptography
import Foundation
import HTTPServer
import HTTPTypes
import Logging
import ObjectStores
package import PublicationFormat
package import Publisher
import Synchronization
import TextFormat
import WaitingTestSupport
import Workspace

/// A publisher, and a web server that serves what it has published, as a static host would.
package final class PublicationServer: Sendable {
  package struct Request: Sendable, Equatable {
    package var name: String
    package var status: Int

    package init(name: String, status: Int) {
      self.name = name
      self.status = status
    }
  }

  private struct State {
    var requests: [Request] = []
    var isDown = false
    /// How many requests for objects are answered with 503.
    var busyCount = 0
    /// What is served in place of a file.
    var replaced: [String: [UInt8]] = [:]
    var removed: Set<String> = []
    var port = 0
  }

  private let root = WorkspaceDirectory(
    root: FileManager.default.temporaryDirectory.appending(path: "publication-\(UUID().uuidString)").path)
  private let state = Mutex(State())
  package let key: SignifySecretKey

  package init() throws { key = try SignifySecretKey.new("test") }

  deinit { try? FileManager.default.removeItem(atPath: root.root) }

  package var folder: String { root.root + "/public" }
  package var url: String { "http://127.0.0.1:\(state.withLock { $0.port })" }
  /// The requests since the last call.
  package func requests() -> [Request] {
    state.withLock { state in
      defer { state.requests = [] }
      return state.requests
    }
  }

  package var isDown: Bool {
    get { state.withLock { $0.isDown } }
    set { state.withLock { $0.isDown = newValue } }
  }

  package func beBusy(_ count: Int) { state.withLock { $0.busyCount = count } }
  package func replace(_ name: String, _ bytes: [UInt8]?) { state.withLock { $0.replaced[name] = bytes } }
  package func remove(_ names: Set<String>) { state.withLock { $0.removed = names } }

  package func file(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(filePath: folder + "/" + name)))
  }

  package func head() throws -> PublicationHead { try PublicationHead(json: file(PublicationHead.name)) }

  /// Publishes products with the numbers of a range; the names have the text.
  @discardableResult
  package func publish(
    _ numbers: Range<Int>, _ text: String, change: (inout PublisherOptions) -> Void = { _ in }
  ) async throws -> PublishReport {
    let writer = try CatalogWriter(root.makeStore("catalogue", of: "source"), lockTimeout: .seconds(5))
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    var row = ProductRow()
    for number in numbers {
      var product = Product()
      product.id = "\(number)"
      product.barcode = "690\(number)"
      product.name = "\(number) \(text)"
      product.fill(&row)
      try update.product(row)
    }
    _ = try update.commit(cursor: text)
    var options = PublisherOptions(key: key, publisher: "test")
    options.level = 3
    change(&options)
    let publisher = Publisher(
      try root.makeStore("catalogue", of: "publisher"), to: DirectoryStore(folder), options)
    return try await publisher.publish(writer.snapshot())
  }

  /// Serves while `body` runs.
  package func serving(_ body: () async throws -> Void) async throws {
    var options = Server.Options(address: .host("127.0.0.1", port: 0))
    options.onListening = { [self] port in state.withLock { $0.port = port ?? 0 } }
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let server = Server(options, logger: logger) { [self] request, _, writer, _ in
      try await writer.send(response(to: request))
    }
    let task = Task { try await server.run() }
    defer { task.cancel() }
    try await eventually("the server listens") { state.withLock { $0.port } != 0 }
    try await body()
  }

  private func response(to request: HTTPRequest) throws -> Response {
    let name = String((request.path ?? "").dropFirst())
    let response = try answer(name, request)
    state.withLock { $0.requests.append(Request(name: name, status: response.status.code)) }
    return response
  }

  private func answer(_ name: String, _ request: HTTPRequest) throws -> Response {
    let (isDown, isBusy, replaced, removed) = state.withLock { state in
      defer { state.busyCount = max(0, state.busyCount - (name.hasPrefix("objects/") ? 1 : 0)) }
      return (state.isDown, state.busyCount > 0, state.replaced[name], state.removed)
    }
    if isBusy, name.hasPrefix("objects/") { return Response(status: .serviceUnavailable) }
    if isDown { return Response(status: .init(code: 500)) }
    guard !removed.contains(name), var bytes = replaced ?? (try? file(name)) else {
      return Response(status: .notFound)
    }
    let etag = "\"" + Hexadecimal.text(try Hash.sha256(of: bytes), .lowercase) + "\""
    if request.headerFields[.ifNoneMatch] == etag { return Response(status: .notModified, headers: [.eTag: etag]) }
    var headers: HTTPFields = [.eTag: etag]
    var status = HTTPResponse.Status.ok
    if let range = request.headerFields[.range], range.hasPrefix("bytes=") {
      let ends = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      let first = ends.first.flatMap { $0 } ?? 0
      let last = min(ends.last.flatMap { $0 } ?? bytes.count - 1, bytes.count - 1)
      headers[.contentRange] = "bytes \(first)-\(last)/\(bytes.count)"
      bytes = Array(bytes[first...last])
      status = .partialContent
    }
    return Response(status: status, headers: headers, body: .bytes(bytes))
  }
}
