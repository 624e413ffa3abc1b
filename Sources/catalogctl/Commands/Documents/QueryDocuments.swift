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
      is not null; nocase after the text of contains, like and hasprefix ignores case; a field alone means == true; && (and), || (or), ! (not) and \
      parentheses join them. Values are 'text', numbers, true, false, null, date('2026-01-31T12:00:00Z') and \
      bytes('base64').

      catalogctl documents query members --group-by user.city --count --sum user.age --order "count desc" --limit 10

      --group-by puts the documents with equal values of a field, or of several, into groups; --count, --sum, --min, --max \
      and --avg say what to print of each (without any of them, the count); without --group-by, of all documents together. \
      A missing field and null are the group null. An array stands for each of its elements; an object and an empty array \
      are in no group, and how many documents are not is said on standard error. Groups are ordered by what \
      is grouped by, or by --order with names as in the head of the table. Counting the groups of one indexed field reads \
      the index alone. With --json a group is {"group":{"user.city":"Oslo"},"count":2,"sum":{"user.age":71}}.

      Exit code 1 if no document or group is listed. A count is an answer: 0 is printed, and the exit code is 0; so are \
      the sums of all documents, without --group-by.
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
  @Option(
    name: .customLong("group-by"),
    help: ArgumentHelp("Group by these fields, with commas between them.", valueName: "fields"))
  var groupBy: [String] = []
  @Flag(help: "Print the number of documents of each group.") var count = false
  @Option(help: ArgumentHelp("Print the sums of fields.", valueName: "fields")) var sum: [String] = []
  @Option(name: .customLong("min"), help: ArgumentHelp("Print the smallest values of fields.", valueName: "fields"))
  var minimum: [String] = []
  @Option(name: .customLong("max"), help: ArgumentHelp("Print the largest values of fields.", valueName: "fields"))
  var maximum: [String] = []
  @Option(name: .customLong("avg"), help: ArgumentHelp("Print the means of fields.", valueName: "fields"))
  var average: [String] = []
  @Argument(help: "The collection.") var collection: String

  func run() throws {
    let condition = try filter.map(ExpressionArgument.condition)
    if isGrouped { return try runGroups(condition ?? .always) }
    let ordering = try order.map(ExpressionArgument.ordering)
    let last = LastTrace()
    var list = DocumentList(output)
    var found = 0
    var plan = QueryPlan.lookups([])
    if let store = try documents.existing(tracing: explain ? Tracer { last.set($0) } : nil) {
      let documents = try store.untypedCollection(collection)
      plan = try documents.query(
        condition ?? .always, ordering: ordering ?? Ordering([]), offset: window.offset, limit: window.limit
      ) { id, document in
        found += 1
        if !explain { list.add(id, document) }
      }
    }
    if explain {
      show(plan, read: last.documentsRead, found: found)
    } else {
      list.end()
    }
    if found == 0 { throw nothing }
  }

  /// The end of a list without a line.
  var nothing: Failure {
    Failure(.no, output.json ? "" : "no document of \(collection) meets that" + window.hint)
  }

  func show(_ plan: QueryPlan, read: Int, found: Int) {
    if output.json {
      JSONText.object([
        ("plan", .text(plan.description)), ("scan", .bool(plan == .scan)),
        ("indexes", .array(plan.indexes.map { .text($0.path.description) })),
        ("keys", plan.keyCount.map(JSONText.int) ?? .null), ("documentsRead", .int(read)),
        ("documentsFound", .int(found)),
      ]).print()
    } else {
      Console.print(plan.description.shown)
      Console.print("\(Quantity.of(read, "document")) read, \(Quantity.count(found)) found")
    }
  }
}

/// The last trace of a store.
final class LastTrace: Sendable {
  private let trace = Mutex(Trace(operation: .query, collection: ""))

  func set(_ value: Trace) { trace.withLock { $0 = value } }

  var documentsRead: Int { trace.withLock { $0.documentsRead } }

  var documentsWithoutGroup: Int { trace.withLock { $0.documentsWithoutGroup } }

  /// The plan; that of no lookups if there was no query.
  var plan: QueryPlan { trace.withLock { $0.plan } ?? .lookups([]) }
}
