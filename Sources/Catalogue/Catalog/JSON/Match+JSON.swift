package import Barcodes
package import JSONFormat

extension Match {
  /// The fields of the JSON for a scan: `code`, `match`, `kind`, `symbology`, `key`, `gtin`, `rest`, `products`,
  /// `package` in a catalogue with further codes, `elements`, `data`, `issues`; and, if they apply, `reason`, `measure`, `contains`, `suggestions` and `expired`.
  ///
  /// - Parameters:
  ///   - code: The text that was matched, as it was scanned.
  ///   - today: The date of the day, evaluated only if the label contains data.
  package func jsonFields(code: String, today: @autoclosure () -> ScanDate) -> [(String, JSONText)] {
    let statesElements = statesElements
    let hidesElements = !statesElements && reading.elements != nil
    var fields: [(String, JSONText)] = [
      ("code", .text(code)), ("match", .text(kind.rawValue)), ("kind", .text(codeKind.rawValue)),
      ("symbology", .optional(scan.symbology?.description)), ("key", .optional(key)),
      ("gtin", .optional(hidesElements ? nil : gtin?.digits)), ("rest", .optional(rest)),
      ("products", .array(products.map(JSONText.product))),
    ]
    if mayHavePackage { fields.append(("package", package?.packageJSON ?? .null)) }
    guard isLabel || statesElements else {
      let issues = issuesOfTransmission.map(\.json)
      fields += [("elements", .object([])), ("data", .object([])), ("issues", .array(issues))]
      return fields + remarks
    }
    var raw: [(String, JSONText)] = []
    for element in (reading.elements?.elements ?? []) + (reading.label?.elements ?? [])
    where !raw.contains(where: { $0.0 == element.ai }) {
      raw.append((element.ai, .text(element.value)))
    }
    let today = today()
    let content = reading.content(today: today)
    fields += [("elements", .object(raw)), ("data", content.data.json)]
    let issues = gluedCodes.isEmpty ? content.issues : issuesOfTransmission
    fields.append(("issues", .array(issues.map(\.json))))
    fields += remarks
    if let expiry = content.data.expiry { fields.append(("expired", .bool(expiry < today))) }
    return fields
  }

  /// The fields as an object.
  ///
  /// - Parameter flaw: Why the code could not be decoded, which is the reason for finding nothing; `nil` if it could.
  package func json(code: String, today: @autoclosure () -> ScanDate, flaw: String? = nil) -> JSONText {
    .object(
      jsonFields(code: code, today: today()).map { name, value in
        name == "reason" ? (name, flaw.map(JSONText.text) ?? value) : (name, value)
      })
  }

  /// The fields that are present only if they apply.
  private var remarks: [(String, JSONText)] {
    var fields: [(String, JSONText)] = []
    if let reason { fields.append(("reason", .text(reason))) }
    if let measure {
      var values = [(measure.field.name, measure.field.value.json)]
      if let second = measure.secondField { values.append((second.name, second.value.json)) }
      fields.append(("measure", .object(values + [("rule", .text(measure.rule.name))])))
    }
    if let contents {
      fields.append(("contains", .object([("gtin", .text(contents.gtin.digits)), ("level", .int(contents.level))])))
    }
    if let suggestions { fields.append(("suggestions", .array(suggestions.map(\.suggestionJSON)))) }
    return fields
  }
}

extension Product {
  /// The fields of a suggested product.
  fileprivate var suggestionJSON: JSONText {
    .object([("id", .text(id)), ("barcode", .text(barcode)), ("name", .text(name))])
  }
}

extension ScanData {
  /// The data as an object.
  package var json: JSONText { .object(fields.map { ($0.name, $0.value.json) }) }
}

extension ScanValue {
  /// The value as JSON. Numbers are written in decimal, exactly.
  package var json: JSONText {
    switch self {
    case .text(let text): .text(text)
    case .number(let number): .raw(Array(number.description.utf8))
    case .flag(let flag): .bool(flag)
    case .date(let date): .text(date.description)
    case .dateTime(let dateTime): .text(dateTime.description)
    case .quantity(let number, let unit):
      .object([("value", .raw(Array(number.description.utf8))), ("unit", .text(unit))])
    case .money(let number, let currency):
      .object(
        [("value", .raw(Array(number.description.utf8)))] + (currency.map { [("currency", .text($0))] } ?? []))
    case .list(let values): .array(values.map(\.json))
    case .fields(let fields): .object(fields.map { ($0.name, $0.value.json) })
    }
  }
}

extension ScanIssue {
  /// The issue as an object.
  package var json: JSONText {
    var fields: [(String, JSONText)] = [
      ("ai", .optional(ai)), ("position", .int(position)), ("reason", .text(reason)),
    ]
    if !codes.isEmpty { fields.append(("codes", .array(codes.map(JSONText.text)))) }
    return .object(fields)
  }
}
