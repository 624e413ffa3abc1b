import DocumentFormat
import Documents
import JSONFormat

/// Groups and their aggregates.
extension QueryDocuments {
  /// Whether groups or aggregates are to be printed in place of documents.
  var isGrouped: Bool {
    count || ![groupBy, sum, minimum, maximum, average].allSatisfy(\.isEmpty)
  }

  func runGroups(_ condition: Condition) throws {
    let paths = try groupBy.map(Self.path)
    var aggregates: [Aggregate] = count ? [.count] : []
    aggregates += try sum.map { .sum(try Self.path($0)) }
    aggregates += try minimum.map { .minimum(try Self.path($0)) }
    aggregates += try maximum.map { .maximum(try Self.path($0)) }
    aggregates += try average.map { .average(try Self.path($0)) }
    if aggregates.isEmpty { aggregates = [.count] }
    let ordering = try order.map { try Self.ordering($0, paths, aggregates) } ?? []
    let last = LastTrace()
    guard let store = try documents.existing(tracing: explain ? Tracer { last.set($0) } : nil) else {
      throw Failure(.no, output.json ? "" : "no document of \(collection) meets that")
    }
    let groups = try store.untypedCollection(collection).groups(
      by: paths, aggregates, where: condition, ordering: ordering, offset: window.offset, limit: window.limit)
    if explain {
      show(last.plan, read: last.documentsRead, found: groups.count)
    } else {
      show(groups, paths, aggregates)
    }
    if groups.isEmpty { throw Failure(.no, output.json ? "" : "no document of \(collection) meets that") }
  }

  private func show(_ groups: [DocumentGroup], _ paths: [FieldPath], _ aggregates: [Aggregate]) {
    if output.json {
      for group in groups {
        var fields: [(String, JSONText)] = []
        if !paths.isEmpty {
          fields.append(("group", .object(zip(paths, group.keys).map { ($0.description, .document($1)) })))
        }
        fields += zip(aggregates, group.values).map { ($0.description, .document($1)) }
        JSONText.object(fields).print()
      }
      return
    }
    var table = Table(paths.map(\.description) + aggregates.map { ">" + $0.description })
    for group in groups {
      table.add(
        (group.keys + group.values).map { value in
          if case .text(let text) = value { Table.cell(text, limit: 40) } else { Table.cell(value.json, limit: 40) }
        })
    }
    table.print()
  }

  private static func path(_ text: String) throws -> FieldPath { try IndexArgument.path(text) }

  /// Parses an order of groups: `count desc, user.city`.
  private static func ordering(
    _ text: String, _ paths: [FieldPath], _ aggregates: [Aggregate]
  ) throws -> [(order: GroupOrder, isDescending: Bool)] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      var words = part.split(separator: " ")
      var isDescending = false
      if words.count > 1, let last = words.last?.lowercased(), ["asc", "desc"].contains(last) {
        isDescending = last == "desc"
        words.removeLast()
      }
      var name = words.joined(separator: " ")
      if name.hasPrefix("-") {
        isDescending = true
        name.removeFirst()
      }
      if let position = aggregates.firstIndex(where: { $0.description == name }) {
        return (.aggregate(position), isDescending)
      }
      if let position = paths.firstIndex(where: { $0.description == name }) {
        return (.keyPart(position), isDescending)
      }
      let names = (paths.map(\.description) + aggregates.map(\.description)).joined(separator: ", ")
      throw Failure(.usage, "--order: there is no \"\(name)\" among \(names)")
    }
  }
}
