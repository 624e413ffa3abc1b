/// The labels of TME (Transfer Multisort Elektronik): fields with blanks between them.
///
///     QTY:1 PN:WBP-302 PO:19361337/1 CPO:PO-1337 MFR:WISHER MPN:WBP-302 RoHS https://…      QR code
///     PWBP-302 1PMPNWBP-302 Q1 K19361337/1                                                  Data Matrix
extension Label {
  /// Parses either form. In the second, the fields start with data identifiers, and all four must be there, because
  /// nothing else tells it from another text.
  init?(tme bytes: [UInt8]) {
    let fields = bytes.split(separator: ASCII.blank)
    guard (2...40).contains(fields.count) else { return nil }
    self.init(kind: .label)
    if bytes.starts(with: "QTY:".utf8) || bytes.starts(with: "PN:".utf8) {
      for field in fields { addNamed(field) }
      guard !parts.isEmpty, elements.count >= 2 else { return nil }
    } else {
      guard fields.count == 4, fields[1].starts(with: "1PMPN".utf8), fields[0].count > 1, fields[1].count > 5,
        fields[2].first == UInt8(ascii: "Q"), DigitRun(fields[2].dropFirst()) != nil, fields[2].count > 1,
        fields[3].first == UInt8(ascii: "K"), fields[3].count > 1
      else { return nil }
      add("P", "supplierPart", at: fields[0].startIndex, fields[0].dropFirst())
      add("1P", "manufacturerPart", at: fields[1].startIndex, fields[1].dropFirst(5))
      add("Q", "count", at: fields[2].startIndex, fields[2].dropFirst(), .number)
      add("K", "supplierOrder", at: fields[3].startIndex, fields[3].dropFirst())
    }
  }

  private mutating func addNamed(_ field: ArraySlice<UInt8>) {
    guard let colon = field.firstIndex(of: UInt8(ascii: ":")) else { return }
    let (position, value) = (field.startIndex, field[(colon + 1)...])
    let name = String(decoding: field[..<colon], as: UTF8.self)
    switch name {
    case "QTY": add(name, "count", at: position, value, .number)
    case "PN": add(name, "supplierPart", at: position, value)
    case "MPN": add(name, "manufacturerPart", at: position, value)
    case "PO": add(name, "supplierOrder", at: position, value)
    case "CPO": add(name, "order", at: position, value)
    case "MFR": add(name, "manufacturer", at: position, value)
    default: break
    }
  }

  private mutating func add(
    _ identifier: String, _ name: String, at position: Int, _ value: ArraySlice<UInt8>, _ type: LabelValueType = .text
  ) {
    guard !value.isEmpty else { return }
    addElement(identifier, at: position, value)
    addEntry(name, type, identifier, at: position, value)
    if name.hasSuffix("Part") { addPart(String(decoding: value, as: UTF8.self)) }
  }
}
