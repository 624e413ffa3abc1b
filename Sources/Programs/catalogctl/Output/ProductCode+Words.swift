import Catalog

extension ProductCode {
  /// What the code is on, for people: `24 pieces, case, code 14006381333945`.
  var words: String {
    let number = quantity.normalized.description
    let pieces = "\(number) \(number == "1" ? "piece" : "pieces")"
    return ([pieces] + (unit.isEmpty ? [] : [Table.cell(unit, limit: 24)]) + ["code \(Table.cell(code, limit: 40))"])
      .joined(separator: ", ")
  }
}

extension [ProductCode] {
  /// Prints the codes as a table, one per line.
  func print() {
    var table = Table("CODE", ">QUANTITY", "UNIT", "KIND", "ID")
    for code in self {
      table.add(
        Table.cell(code.code, limit: 40), code.quantity.normalized.description, Table.cell(code.unit, limit: 24),
        Table.cell(code.kind, limit: 24), Table.cell(code.id, limit: 28))
    }
    table.print()
  }
}
