import ArgumentParser
import DocumentFormat
import Documents
import JSONFormat
import Synchronization

struct QueryDocuments: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "List the documents that meet a condition.",
    discussion: """
      catalogctl documents query members --where "user.status.isOnline && user.name like 'A%' nocase" --order \
      "user.name, user.age desc" --limit 20

      A field is named by the names that lead to it, with dots; an array stands for each of its elements, and a missing \
      field is null. Conditions are == != < <= > >=, in [a, b], contains, like 'A%_', hasprefix 'A', is null, \
      is not null; nocase after a text ignores case; a field alone means == true; && (and), || (or), ! (not) and \
      parentheses join them. Values are 'text', numbers, true, false, null, date('2026-01-31T12:00:00Z') and \
      bytes('base64').

      Exit code 1 if no document meets the condition.
      """)

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var window: WindowOptions
  @Option(
    name: .customLong("where"), help: ArgumentHelp("The condition; without it, all documents.", valueName: "expr"))
  var filter: String?
  // A minus sign may begin the value.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Fields to order by: name, or name desc, or -name; several with commas.", valueName: "fields"))
  var order: String?
  @Flag(help: "Say how the documents are found, and how many were read, instead of the documents.")
  var explain = false
  @Argument(help: "The collection.") var collection: String

  func run() throws {
    let condition = try filter.map { text in
      try ExpressionArgument.parsed("--where", text) { try Condition(parsing: text) }
    }
    let ordering = try order.map { text in
      try ExpressionArgument.parsed("--order", text) { try Ordering(parsing: text) }
    }
    let read = ReadCount()
    var list = DocumentList(output)
    var found = 0
    var plan = QueryPlan.lookups([])
    let note: @Sendable (Trace) -> Void = { trace in read.set(trace.documentsRead) }
    if let store = try documents.existing(tracing: explain ? note : nil) {
      let documents = try store.untypedCollection(collection)
      plan = try documents.query(
        condition ?? .always, ordering: ordering ?? Ordering([]), offset: window.offset, limit: window.limit
      ) { id, document in
        found += 1
        if !explain { list.add(id, document) }
      }
    }
    if explain {
      show(plan, read: read.value, found: found)
    } else {
      list.end()
    }
    if found == 0 { throw Failure(.no, output.json ? "" : "no document of \(collection) meets that") }
  }

  private func show(_ plan: QueryPlan, read: Int, found: Int) {
    if output.json {
      let lookups: [QueryPlan.Lookup] = if case .lookups(let lookups) = plan { lookups } else { [] }
      JSONText.object([
        ("plan", .text(plan.description)), ("scan", .bool(plan == .scan)),
        ("indexes", .array(lookups.map { .text($0.index.path.description) })),
        ("keys", plan.keyCount.map(JSONText.int) ?? .null), ("documentsRead", .int(read)),
        ("documentsFound", .int(found)),
      ]).print()
    } else {
      Console.print(plan.description.shown)
      Console.print("\(Quantity.of(read, "document")) read, \(Quantity.count(found)) found")
    }
  }
}

/// The number of documents that a query read, from the store's trace events.
private final class ReadCount: Sendable {
  private let count = Atomic(0)

  func set(_ value: Int) { count.store(value, ordering: .relaxed) }

  var value: Int { count.load(ordering: .relaxed) }
}
