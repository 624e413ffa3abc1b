package import JSONFormat

extension SetCompletion {
  /// The result of a series of scans as JSON; `faults` and `repeated` are present only if they are not empty.
  package var json: JSONText {
    var fields: [(String, JSONText)] = [
      ("products", .byId(products, JSONText.int)),
      ("unknown", .array(unknown.map(JSONText.text))),
      ("complete", .byId(complete, JSONText.int)),
      ("incomplete", .byId(incomplete) { .byId($0, JSONText.int) }),
    ]
    if !faults.isEmpty { fields.append(("faults", .byId(faults) { .array($0.map(JSONText.text)) })) }
    if !repeated.isEmpty { fields.append(("repeated", .array(repeated.map(JSONText.text)))) }
    return .object(fields)
  }
}
