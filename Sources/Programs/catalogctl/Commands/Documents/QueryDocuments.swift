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

      A field is named by the names that lead to it, with dots; an array stands for each of its elements, and a \
      missing field is null. Conditions are == != < <= > >=, in [a, b], contains, like 'A%_', hasprefix 'A', is null, \
      is not null; nocase after the text of contains, like and hasprefix ignores case; a field alone means == true; && \
      (and), || (or), ! (not) and parentheses join them. Values are 'text', numbers, true, false, null, \
      date('2026-01-31T12:00:00Z') and bytes('base64').

      catalogctl documents query members --group-by user.city --count --sum user.age --order "count desc" --limit 10

      --group-by puts the documents with equal values of a field, or of several, into groups; --count, --sum, --min, \
      --max and --avg say what to print of each (without any of them, the count); without --group-by, of all documents \
      together. A missing field and null are the group null. An array stands for each of its elements; an object and \
      an empty array are in no group, and how many documents are not is said on standard error. Groups are ordered by \
      what is grouped by, or by --order with names as in the head of the table. Counting the groups of one indexed \
      field reads the index alone. With --json a group is \
      {"group":{"user.city":"Oslo"},"count":2,"sum":{"user.age":71}}.

      catalogctl documents query members --order "-user.status.lastSeen" --limit 20 --after start

      --after lists one page of --limit documents: the first one after start, and the next one after the cursor that \
      is printed on standard error, as 'next page: --after CURSOR', until none is. Documents that are equal in the \
      order are in the order of their stored ids: short texts before long ones, texts of one length bytewise. Changes \
      between two pages neither repeat documents nor leave any out, unless they move them in the order. With an \
      ordered index on the fields of the order, a page reads no more documents than it lists.

      Exit code 1 if no document or group is listed. A count is an answer: 0 is printed, and the exit code is 0; so \
      are the sums of all documents, without --group-by.
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
  @Option(
    help: ArgumentHelp(
      "List the page of --limit documents after this cursor; 'start' for the first page.", valueName: "cursor"))
  var after: String?
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

  func validate() throws {
    if after != nil {
      if isGrouped { throw ValidationError("--after lists pages of documents, and not of groups") }
      if window.limit == nil { throw ValidationError("--after needs --limit, the number of documents of a page") }
      if window.offset > 0 { throw ValidationError("--after says where the page begins, so it takes no --offset") }
      if explain { throw ValidationError("--explain takes no --after: every page is found in the same way") }
    }
  }

  func run() throws {
    let condition = try filter.map(ExpressionArgument.condition)
    if isGrouped { return try runGroups(condition ?? .always) }
    let ordering = try order.map(ExpressionArgument.ordering) ?? Ordering([])
    if let after { return try listPage(condition ?? .always, ordering, after) }
    let last = LastTrace()
    var list = DocumentList(output)
    var found = 0
    var steps = QueryExplanation.ofNothing
    if let store = try documents.existing(tracing: explain ? Tracer { last.set($0) } : nil) {
      let documents = try store.untypedCollection(collection)
      try documents.query(
        condition ?? .always, ordering: ordering, offset: window.offset, limit: window.limit
      ) { id, document in
        found += 1
        if !explain { list.add(id, document) }
      }
      if explain {
        steps = try documents.explanation(
          condition ?? .always, ordering: ordering, offset: window.offset, limit: window.limit)
      }
    }
    if explain {
      show(steps, read: last.documentsRead, found: found)
    } else {
      list.end()
    }
    if found == 0 { throw nothing }
  }

  /// Lists one page.
  private func listPage(_ condition: Condition, _ ordering: Ordering, _ after: String) throws {
    let cursor = QueryCursor(after)
    if cursor == nil, after != "start" {
      throw Failure(.usage, "--after: this is no cursor; it is 'start', or what the page before it ended with")
    }
    var list = DocumentList(output)
    let next = try documents.existing()?.untypedCollection(collection).page(
      condition, ordering: ordering, limit: window.limit, after: cursor
    ) { id, document in list.add(id, document) }
    list.end()
    if let next { Console.say("next page: --after \(next)") }
    if list.count == 0 { throw nothing }
  }

  /// The end of a list without a line.
  var nothing: Failure {
    Failure(.no, output.json ? "" : "no document of \(collection) meets that" + window.hint)
  }

  func show(_ explanation: QueryExplanation, read: Int, found: Int) {
    let plan = explanation.plan
    if output.json {
      JSONText.object([
        ("plan", .text(plan.description)), ("steps", .array(explanation.steps.map { .text($0) })),
        ("scan", .bool(plan == .scan)), ("indexes", .array(plan.indexes.map { .text(IndexArgument.text($0)) })),
        ("keys", plan.keyCount.map(JSONText.int) ?? .null), ("documentsRead", .int(read)),
        ("documentsFound", .int(found)),
      ]).print()
    } else {
      Console.print(explanation.description.shown)
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
