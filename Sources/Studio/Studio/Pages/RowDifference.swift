import DocumentFormat
import JSONFormat

/// How a row differs between two commits, field by field.
struct RowDifference {
  /// `added`, `removed` or `changed`.
  let change: String
  /// The fields that differ; of a row that was added or removed, none.
  let fields: [JSONText]

  init(change: String, fields: [JSONText]) {
    self.change = change
    self.fields = fields
  }

  /// - Parameters:
  ///   - before: The row as a JSON object; `nil` if it was not there.
  ///   - after: The row as a JSON object; `nil` if it is not there.
  /// - Returns: `nil` if there is no difference.
  init?(_ before: JSONText?, _ after: JSONText?) {
    let (old, new) = (Self.fields(before), Self.fields(after))
    switch (before, after) {
    case (nil, nil): return nil
    case (nil, _?): change = "added"
    case (_?, nil): change = "removed"
    case (_?, _?): change = "changed"
    }
    guard change == "changed" else {
      fields = []
      return
    }
    // The fields are in one order, and `extra` may be absent.
    let names = old.map(\.name) + new.map(\.name).filter { name in !old.contains { $0.name == name } }
    fields = names.compactMap { name in
      let (before, after) = (old.first { $0.name == name }, new.first { $0.name == name })
      guard before?.json != after?.json else { return nil }
      return .object([
        ("field", .text(name)), ("before", .raw(Array((before?.json ?? "null").utf8))),
        ("after", .raw(Array((after?.json ?? "null").utf8))),
      ])
    }
    if fields.isEmpty { return nil }
  }

  var jsonFields: [(String, JSONText)] { [("change", .text(change)), ("fields", .array(fields))] }

  /// The fields of an object that this program has written.
  private static func fields(_ object: JSONText?) -> [(name: String, json: String)] {
    guard let object, case .object(let fields)? = try? DocumentValue(json: object.bytes.span) else { return [] }
    return fields.map { ($0.name, $0.value.json) }
  }
}
