import DocumentFormat
import Documents
import JSONFormat

/// Groups and their aggregates.
extension QueryDocuments {
  /// Whether to print groups or aggregates instead of documents.
  var isGrouped: Bool {
    count || ![groupBy, sum, minimum, maximum, average].allSatisfy(\.isEmpty)
  }

  func runGroups(_ condition: Condition) throws {
    let paths = try Self.paths("--group-by", groupBy)
    var aggregates: [Aggregate] = count ? [.count] : []
    aggregates += try Self.paths("--sum", sum).map(Aggregate.sum)
    aggregates += try Self.paths("--min", minimum).map(Aggregate.minimum)
    aggregates += try Self.paths("--max", maximum).map(Aggregate.maximum)
    aggregates += try Self.paths("--avg", average).map(Aggregate.average)
    if aggregates.isEmpty { aggregates = [.count] }
    let columns = paths.map { GroupColumn.key($0.description) } + aggregates.map(\.column)
    let ordering =
      try order.map {
        try ColumnOrder(parsing: $0, columns.map(\.name)).terms.map { column, isDescending in
          (column < paths.count ? GroupOrder.keyPart(column) : .aggregate(column - paths.count), isDescending)
        }
      } ?? []
    let last = LastTrace()
    let store = try documents.existing(tracing: Tracer { last.set($0) })
    let groups =
      try store?.untypedCollection(collection).groups(
        by: paths, aggregates, where: condition, ordering: ordering, offset: window.offset, limit: window.limit)
      ?? DocumentGroup.ofNothing(by: paths, aggregates)
    if explain {
      show(QueryExplanation(of: last.plan), read: last.documentsRead, found: groups.count)
    } else {
      show(groups, columns)
    }
    let without = last.documentsWithoutGroup
    if without > 0 {
      let (verb, subject) = without == 1 ? ("is", "it has") : ("are", "they have")
      Console.say(
        "catalogctl: \(Quantity.of(without, "document")) \(verb) in no group: \(subject) an object or an empty array there"
      )
    }
    if groups.isEmpty { throw nothing }
  }

  private func show(_ groups: [DocumentGroup], _ columns: [GroupColumn]) {
    if output.json {
      for group in groups { GroupColumn.json(columns, group.keys + group.values).print() }
      return
    }
    var table = Table(columns.map { if case .key = $0 { $0.name } else { ">" + $0.name } })
    for group in groups {
      table.add(
        (group.keys + group.values).map { value in
          if case .text(let text) = value { Table.cell(text, limit: 40) } else { Table.cell(value.json, limit: 40) }
        })
    }
    table.print()
  }

  /// The fields of an option: each value may name several, with commas between them.
  private static func paths(_ option: String, _ texts: [String]) throws -> [FieldPath] {
    try texts.flatMap { text in
      let terms = try ExpressionArgument.parsed(option, text) { try Ordering(parsing: text) }.terms
      if terms.contains(where: \.isDescending) { throw Failure(.usage, "\(option): a field has no direction here") }
      return terms.map(\.path)
    }
  }
}

extension Aggregate {
  fileprivate var column: GroupColumn {
    switch self {
    case .count: .count
    case .sum(let path): .aggregate("sum", of: path.description)
    case .minimum(let path): .aggregate("min", of: path.description)
    case .maximum(let path): .aggregate("max", of: path.description)
    case .average(let path): .aggregate("avg", of: path.description)
    }
  }
}
