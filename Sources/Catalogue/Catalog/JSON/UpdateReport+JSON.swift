package import JSONFormat

extension UpdateReport {
  /// The update as JSON, without its `UpdateNotices`.
  ///
  /// - Parameter bytesIn: The size of the response in bytes.
  package func fields(bytesIn: Int) -> [(String, JSONText)] {
    [
      ("mode", .text(mode.name)), ("sequence", .uint(sequence)), ("generation", .uint(generation)),
      ("products", .object([("upserted", .int(counts.productsUpserted)), ("deleted", .int(counts.productsDeleted))])),
      (
        "relations",
        .object([
          ("written", .int(counts.relationsWritten)), ("deleted", .int(counts.relationsDeleted)),
          ("ignored", .int(counts.relationsIgnored)),
        ])
      ),
    ] + codeFields + [
      ("defaulted", .int(counts.defaulted)), ("cursor", .text(cursor)), ("bytesIn", .int(bytesIn)),
    ]
  }
}

extension UpdateReport {
  /// The counts of codes, where the update or the catalogue has any.
  private var codeFields: [(String, JSONText)] {
    if !counts.hasCodes { return [] }
    return [
      (
        "codes",
        .object([
          ("written", .int(counts.codesWritten)), ("deleted", .int(counts.codesDeleted)),
          ("ignored", .int(counts.codesIgnored)),
        ])
      )
    ]
  }
}

extension UpdateNotices {
  /// The rows that did not reach the catalogue, and the sets that an update broke, as JSON. A key is present only if its
  /// value is not empty.
  package var fields: [(String, JSONText)] {
    var fields: [(String, JSONText)] = []
    if collapsed > 0 { fields.append(("collapsed", .int(collapsed))) }
    if skipped.count > 0 {
      fields.append(("skipped", .int(skipped.count)))
      fields.append(("skippedRows", .array(skipped.first.map(\.json))))
    }
    if !brokenSets.isEmpty { fields.append(("brokenSets", .array(brokenSets.map(\.json)))) }
    return fields
  }
}

extension SkippedRow {
  fileprivate var json: JSONText {
    .object([
      ("type", .text(kind.name)), ("index", .int(index)), ("id", .text(id)),
      ("message", .text(reason)),
    ])
  }
}

extension BrokenSet {
  fileprivate var json: JSONText {
    .object([("id", .text(id)), ("missing", .array(missing.map(JSONText.text)))])
  }
}
