import Catalog
import CatalogRows
import CatalogSync
import DocumentFormat
import Documents
import Foundation
import JSONFormat
import LogStore
import Logging
import ScanInputs
import ServiceLifecycle
import Synchronization
import Testing
import UploadQueue
import WaitingTestSupport
import Workspace

@testable import ScanDaemon

/// A root directory that goes with its last reference, and daemons in it.
final class TestRoot: Sendable {
  let path = NSTemporaryDirectory() + "scan-daemon-" + UUID().uuidString

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var directory: WorkspaceDirectory { WorkspaceDirectory(root: path) }

  /// A daemon, which stands for a process of its own.
  func daemon(
    user: String? = "ana", _ environment: DaemonEnvironment = DaemonEnvironment(),
    _ change: (inout DaemonOptions) -> Void = { _ in }
  ) throws -> Daemon {
    var options = DaemonOptions(root: path)
    options.user = user
    options.drainTimeout = .seconds(2)
    // What happens to this machine's network is nothing of a test.
    options.watchesNetwork = false
    change(&options)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    return try Daemon(options, logger: logger, environment: environment)
  }

  /// Gives a user a catalogue: the products 0 to 9 with the barcodes 6900 to 6909, and a set of 1 and 2.
  func fill(_ id: String?, cursor: String = "monday") throws {
    let writer = try CatalogWriter(directory.makeStore("catalogue", of: id), lockTimeout: .seconds(5))
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    var row = ProductRow()
    for number in 0..<10 {
      var product = Product()
      product.id = "\(number)"
      product.barcode = "690\(number)"
      product.name = "\(number) of \(id ?? "nobody")"
      product.fill(&row)
      try update.product(row)
    }
    var relationRow = RelationRow()
    for component in 1...2 {
      var relation = Relation()
      relation.id = "r\(component)"
      relation.productId = "9"
      relation.subProductId = "\(component)"
      relation.groupNum = 1
      relation.fill(&relationRow)
      try update.relation(relationRow)
    }
    _ = try update.commit(cursor: cursor)
  }

  /// Gives the product 1 of a user's catalogue a code of several pieces.
  func addCode(_ text: String, _ quantity: String, _ id: String? = "ana") throws {
    let writer = try CatalogWriter(directory.makeStore("catalogue", of: id), lockTimeout: .seconds(5))
    defer { writer.close() }
    var increment = writer.beginIncrement()
    var row = ProductRow()
    try #require(try writer.snapshot().product(id: "1")).fill(&row)
    try increment.product(row)
    var code = ProductCode()
    (code.productId, code.code, code.unit) = ("1", text, "case")
    let isTaken = code.setQuantity(quantity)
    #expect(isTaken)
    var codeRow = CodeRow()
    code.fill(&codeRow)
    try increment.code(codeRow)
    _ = try increment.commit(cursor: "tuesday")
  }

  /// The uploads of a user in the order in which they were enqueued, as another process sees them.
  func uploads(_ user: String? = "ana") throws -> [Upload] {
    guard let location = try directory.store("documents", of: user) else { return [] }
    let store = try DocumentStore.inspect(location)
    defer { store.close() }
    return try UploadQueue(in: store, isReadOnly: true).uploads()
  }

  /// The commits that a user's documents ever had.
  func documentCommitCount(_ user: String? = "ana") throws -> UInt64 {
    guard let location = try directory.store("documents", of: user) else { return 0 }
    let store = try DocumentStore.inspect(location)
    defer { store.close() }
    return try store.snapshot().sequence
  }

  func codes(_ user: String? = "ana") throws -> [String] { try uploads(user).map(\.code) }
}

extension Upload {
  var document: DocumentValue { payload.document ?? .null }
  var code: String { document["code"]?.text ?? "" }
}

extension DocumentValue {
  var text: String? { if case .text(let text) = self { text } else { nil } }
  var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  var elements: [DocumentValue]? { if case .array(let elements) = self { elements } else { nil } }
}

extension ScanAnswer {
  var isFailed: Bool { if case .failed = recording { true } else { false } }
}

extension Daemon {
  /// The documents of the signed-in user, as the daemon has opened them.
  func userDocuments() throws -> UserDocuments? {
    try context.userDocuments.documents(of: context.access.stores(), creates: false)
  }

  /// The problems that the status tells, as `CODE` or `CODE ABOUT`.
  func problemNames() throws -> [String] {
    try status().value["problems"]?.elements?.map { problem in
      [problem["code"]?.text, problem["about"]?.text].compactMap(\.self).joined(separator: " ")
    } ?? []
  }
}

extension JSONText {
  /// What a program reads from it.
  var value: DocumentValue {
    get throws { try DocumentValue(json: String(decoding: bytes, as: UTF8.self)) }
  }
}

extension DaemonEvent {
  var value: DocumentValue { (try? DocumentValue(json: String(decoding: data, as: UTF8.self))) ?? .null }
}

/// Servers in memory behind all webhooks, which answer as a test says, and write down what they got.
final class Receiver: Sendable {
  struct Request: Sendable, Equatable {
    let webhook: String
    let order: String
    let user: String
    let code: String
    let id: String
    /// What the transport is to send.
    let json: UploadJSON?
  }

  private let state = Mutex<(log: [Request], status: Int)>(([], 200))

  var log: [Request] { state.withLock { $0.log } }
  var codes: [String] { log.map(\.code) }

  /// What is answered from now on; 0 for no answer.
  func answer(_ status: Int) { state.withLock { $0.status = status } }

  /// An environment whose webhooks lead here.
  func environment(_ time: QueueEnvironment = .live) -> DaemonEnvironment {
    var environment = DaemonEnvironment()
    environment.time = time
    environment.webhook = { webhook in
      WebhookTransport { [self] upload in
        let request = Request(
          webhook: webhook.name, order: upload.orderKey ?? "",
          user: upload.document["catalogue"]?["user"]?.text ?? "", code: upload.code,
          id: upload.document["id"]?.text ?? "", json: upload.payload.json)
        let status = state.withLock { state in
          if (200...299).contains(state.status) { state.log.append(request) }
          return state.status
        }
        if status == 0 { throw Unreachable() }
        return UploadResponse(status: status)
      }
    }
    return environment
  }
}

struct Unreachable: Error {}

extension DaemonOptions {
  /// Two webhooks, the second one for misses only.
  mutating func hook(_ names: String...) {
    webhooks = names.map { WebhookOptions(name: $0, url: "http://127.0.0.1:1/\($0)") }
  }
}

/// Says that a group of services runs: one that is told to end before does not hear it.
struct Probe: Service {
  let hasStarted = Switch()

  func run() async throws {
    hasStarted.isOn = true
    try? await gracefulShutdown()
  }
}

/// Runs the services of a daemon while `body` runs.
func withServices(_ daemon: Daemon, _ body: () async throws -> Void) async throws {
  let probe = Probe()
  let group = ServiceGroup(
    services: [probe] + daemon.services, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  let task = Task { try await group.run() }
  do {
    try await eventually("the services run") { probe.hasStarted.isOn }
    try await body()
  } catch {
    task.cancel()
    throw error
  }
  await group.triggerGracefulShutdown()
  try await task.value
}

extension TestClock {
  /// A clock on which a sleeper waits for `advance(by:)`.
  convenience init() { self.init(start: 4_000_000_000_123_456, moves: false) }

  var environment: QueueEnvironment {
    // A number of 0.5: no jitter.
    QueueEnvironment(now: { self.now }, random: { 1 << 63 }, sleep: { try await self.sleep($0) })
  }
}
