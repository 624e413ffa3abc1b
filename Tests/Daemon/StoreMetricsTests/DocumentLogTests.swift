import DocumentFormat
import Documents
import Logging
import LogStore
import StoreMetrics
import StoreTestSupport
import Synchronization
import Testing

/// Operations on documents in a log.
@Suite struct DocumentLogTests {
  private struct Item: Codable, Identifiable, Sendable {
    var id: Int
    var name: String
  }

  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(_ lines: Lines) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let shown = (event.metadata ?? [:]).filter { $0.key != "milliseconds" }.sorted { $0.key < $1.key }
        .map { "\($0.key)=\($0.value)" }.joined(separator: " ")
      lines.add("\(event.level) \(event.message) [\(shown)]")
    }
  }

  private func items(_ tracer: (Logger) -> Tracer?) throws -> (DocumentCollection<Item>, Lines) {
    let lines = Lines()
    var options = DocumentStore.Options()
    options.trace = tracer(Logger(label: "documents") { _ in Handler(lines) })
    let location = StoreLocation.test(
      SimulatedDevice().directory, name: "documents", environment: FixedEnvironment().environment())
    let items = try DocumentStore.open(location, options: options).collection("items", of: Item.self)
    try items.insert(contentsOf: [Item(id: 1, name: "secret"), Item(id: 2, name: "b")])
    return (items, lines)
  }

  @Test func `a line has the condition, the order, the limit, the store, the plan and the numbers`() throws {
    let (items, lines) = try items { .all(logger: $0) }
    let path = items.store.path
    _ = try items.query(\.name == "secret").order(by: \.id).limit(3).fetch()
    #expect(
      lines.all.last == "notice query items where name == 'secret' order by id limit 3"
        + " [found=1 plan=scan all documents read=2 store=\(path)]")
    _ = try items.query(\.id > 1).grouped(by: \.name).count()
    #expect(lines.all.last?.contains("group items where id > 1 group by name count") == true)
    try items.query(\.id == 2).delete()
    #expect(lines.all.last?.hasPrefix("notice delete items where id == 2 [found=1") == true)
    #expect(throws: (any Error).self) { try items.insert(Item(id: 1, name: "again")) }
    #expect(lines.all.last?.hasPrefix("warning insert items [error=items has a document 1 already") == true)
  }

  @Test func `values are left out where that is asked for`() throws {
    let (items, lines) = try items { .named("all,redacted", logger: $0) }
    _ = try items.query(\.name == "secret" && !(.like(\.name, "sec%") || \.id == 7)).fetch()
    #expect(lines.all.last?.contains("where name == ? && !(name like ? || id == ?)") == true)
    #expect(throws: (any Error).self) { try items.insert(Item(id: 1, name: "again")) }
    #expect(lines.all.allSatisfy { !$0.contains("secret") && !$0.contains("document 1") })
  }

  @Test func `only slow operations and failures are logged if that is asked for`() throws {
    let (items, lines) = try items { .slow(over: .seconds(3600), logger: $0) }
    _ = try items.query().fetch()
    #expect(lines.all.isEmpty)
    #expect(throws: (any Error).self) { try items.insert(Item(id: 1, name: "again")) }
    #expect(lines.all.count == 1)
    #expect(["all", "slow", "all,redacted", "slow,redacted"].allSatisfy { Tracer.named($0) != nil })
    #expect(["", "fast", "all,", "slow, redacted", "ALL"].allSatisfy { Tracer.named($0) == nil })
  }
}
