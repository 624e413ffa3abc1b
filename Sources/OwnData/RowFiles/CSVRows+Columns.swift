internal import CatalogRows
internal import TextFormat

// What the columns of a table mean: the first record, the rules of a mapping, and common names.

extension CSVRows {
  /// Reads the first record: the names of the columns, and what each of them means.
  mutating func readHeader() {
    cells.numbers = Array(repeating: nil, count: RowCells.columns.count)
    guard ends.count <= Self.columnLimit else {
      checker.report(
        RowFault(
          .syntax, line: firstLine,
          "there are \(ends.count) columns, and at most \(Self.columnLimit) are read; keep those that you need"))
      isOver = true
      return
    }
    for index in ends.indices {
      if bytes[range(index)].contains(0) {
        checker.report(
          RowFault(
            .syntax, line: firstLine, number: index + 1,
            "the name of a column contains a zero byte; save the file as UTF-8, or give its encoding"))
        isOver = true
        return
      }
      names.append(String(decoding: bytes[range(index)], as: UTF8.self))
    }
    uses = names.indices.map { RowColumnUse(name: names[$0], number: $0 + 1, fields: [], isAutomatic: false) }
    columns = names.indices.map { _ in .unknown }
    ignoredCounts = Array(repeating: 0, count: names.count)
    if let table = mapping?.codeTable { return readCodeHeader(table) }
    if let mapping { applyRules(mapping) }
    findCodeColumns()
    for index in names.indices where mayFillMore(index) { readOwnName(index) }
    if let mapping, mapping.isAutomatic {
      // A name that is all of a common one goes before one with something in brackets.
      for find in [RowMapping.wholeField, RowMapping.field] {
        for index in names.indices where mayFillMore(index) {
          guard let field = find(names[index]), mapping.rules[field] == nil,
            cells.numbers[RowFieldPlan.column(of: field)] == nil, !skipsConstant(field, index)
          else { continue }
          use(index, for: field, isAutomatic: true)
        }
      }
    }
    findFilterColumns()
    if let mapping {
      for (field, value) in mapping.constants.sorted(by: { $0.key.rawValue < $1.key.rawValue })
      where cells.numbers[RowFieldPlan.column(of: field)] == nil {
        cells.numbers[RowFieldPlan.column(of: field)] = 0
        plan.add(field, constant: value)
      }
    }
    checkIDColumn()
    for index in names.indices {
      guard case .unknown = columns[index] else { continue }
      let name = names[index]
      if codeColumns.contains(where: { $0.index == index }) {
        columns[index] = .skipped
        continue
      }
      // What the condition asks for is used, and nothing that a product has.
      if uses[index].isCondition, checker.rules.unknownKeys != .keep {
        columns[index] = .skipped
        continue
      }
      switch checker.rules.unknownKeys {
      case .ignore: continue
      // Spreadsheets end lines with separators of columns without a name, which mostly nobody filled.
      case .keep: keep(index, name.isEmpty ? "column \(index + 1)" : ownName(index))
      case .fail:
        checker.report(headerFault(.unknownKey, index, unknownColumn(index)))
        columns[index] = .skipped
      }
    }
    for (source, index) in codeColumns {
      let use = checker.codes?.use(of: source) ?? ""
      if !uses[index].fields.contains(use) { uses[index].fields.append(use) }
    }
    checkGroupColumn()
    kept.sort { $0.name.lexicographicallyPrecedes($1.name) }
    // A constant has no column.
    for index in cells.numbers.indices where cells.numbers[index] == 0 { cells.numbers[index] = nil }
  }

  /// What is wrong with a column of an unknown name.
  private func unknownColumn(_ index: Int) -> String {
    let name = names[index]
    var advice = RowChecker.advice(onUnknown: name)
    if mapping != nil, CodeProposal.isNameOfCodes(name) {
      advice = "if it has further codes of the product, say so in a mapping (--map): \"codes\"; otherwise " + advice
    }
    if let mapping, mapping.isAutomatic, let field = RowMapping.field(named: name),
      let taken = uses.first(where: { $0.fields.contains(field.key) })
    {
      return "\(field.key) is taken from \(taken.name); --column \"\(field.key)=\(taken.name)\" --column"
        + " \"\(field.key)=\(ownName(index))\" takes this one where that is empty; otherwise " + advice
    }
    return "no row has a field of this name; " + advice
  }

  /// The name by which a mapping calls a column: of several with the same name, the second one is `name#2`.
  private func ownName(_ index: Int) -> String { Self.ownName(index, names) }

  private static func ownName(_ index: Int, _ names: [String]) -> String {
    let number = names[...index].count { $0 == names[index] }
    return number == 1 ? names[index] : "\(names[index])#\(number)"
  }

  /// Finds the column that a mapping names: by the name in the file, by ``ownName(_:)``, or with other white space, as
  /// a name of two lines is written on one. Returns `nil` if the file has no such column.
  private static func index(of name: String, in names: [String]) -> Int? {
    if let index = names.firstIndex(of: name) { return index }
    if name.contains("#"), let index = names.indices.first(where: { ownName($0, names) == name }) { return index }
    let words = name.split(whereSeparator: \.isWhitespace)
    return words.isEmpty ? nil : names.firstIndex { $0.split(whereSeparator: \.isWhitespace) == words }
  }

  /// Makes the values of an unknown column fields beyond the 25.
  private mutating func keep(_ index: Int, _ name: String) {
    columns[index] = .skipped
    let key = Array(name.utf8)
    if kept.contains(where: { $0.name == key }) {
      return checker.report(headerFault(.repeatedKey, index, "this column is there twice; keep one of them"))
    }
    kept.append((index, key))
    uses[index].fields = ["extra." + name]
  }

  /// Finds the columns that the condition of the mapping asks for.
  mutating func findFilterColumns() {
    let names = names
    for name in filter?.names ?? [] {
      if let index = Self.index(of: name, in: names) {
        filterColumns.append(index)
        uses[index].isCondition = true
        continue
      }
      checker.report(
        RowFault(
          .unknownKey, line: firstLine, column: name,
          RowFilter.unknown(
            name, among: names.indices.filter { !names[$0].isEmpty }.map { Self.ownName($0, names) }, "column")))
      isOver = true
    }
  }

  /// Finds the columns with codes and their quantities, as the mapping names them.
  private mutating func findCodeColumns() {
    guard let plan = checker.codes else { return }
    for (source, name) in plan.names.enumerated() {
      if let index = Self.index(of: name, in: names) {
        addCodeColumn(source, index)
        continue
      }
      var use = RowColumnUse(name: name, fields: [plan.use(of: source)], isAutomatic: false)
      if checker.rules.allowsAbsentColumns {
        use.isAbsent = true
        uses.append(use)
        continue
      }
      let nearest = NearestName.of(name, among: names).map { "; is \"\($0)\" meant?" } ?? ""
      checker.report(
        RowFault(
          .unknownKey, line: firstLine, column: name,
          "the mapping takes codes from this column, and the file has none of this name\(nearest)"))
    }
    if plan.findsColumnsOfRows {
      // The columns of codes are no quantities.
      let taken = Set(codeColumns.map(\.index))
      let quantity = CodeReading.index(of: .quantity, in: names, without: taken)
      let unit = CodeReading.index(of: .unit, in: names, without: taken.union(quantity.map { [$0] } ?? []))
      let count = plan.names.count
      checker.codes?.setColumnsOfRows(quantity: quantity.map { names[$0] }, unit: unit.map { names[$0] })
      for source in count..<(checker.codes?.names.count ?? count) {
        let name = checker.codes?.names[source] ?? ""
        if let index = names.firstIndex(of: name) { addCodeColumn(source, index) }
      }
    }
  }

  private mutating func addCodeColumn(_ source: Int, _ index: Int) {
    codeColumns.append((source, index))
    checker.codes?.setNumber(index + 1, of: source)
  }

  /// Checks that a column says which rows are one product, where several may be.
  private mutating func checkGroupColumn() {
    guard let group = mapping?.group, group != .id, cells.numbers[RowFieldPlan.column(of: group)] == nil else { return }
    checker.report(
      RowFault(
        .missingId, line: firstLine, column: group.key,
        "rows with the same \(group.key) are one product (group), and no column has it; name one: --column"
          + " \(group.key)=…"))
    isOver = true
  }

  /// Reads the names of the columns of a table of codes.
  private mutating func readCodeHeader(_ table: RowMapping.CodeTable) {
    let names = names
    let (found, missing) = CodeReading.columns(names, table) { Self.index(of: $0, in: names) }
    for (field, index) in found {
      let column = RowCells.codeColumns[field.rawValue]
      cells.numbers[column] = index + 1
      columns[index] = .known(column)
      uses[index].fields = [field.key]
      uses[index].isAutomatic = table.values[field] == nil && names[index] != field.key
    }
    for (field, name) in missing {
      let nearest = NearestName.of(name, among: names).map { "; is \"\($0)\" meant?" } ?? ""
      checker.report(
        RowFault(
          .unknownKey, line: firstLine, column: name,
          "the mapping takes \(field.key) of codes from this column, and the table has none of this name\(nearest)"))
      isOver = true
    }
    for field in [CodeField.productId, .code] where cells.numbers[RowCells.codeColumns[field.rawValue]] == nil {
      if case .constant = table.values[field] { continue }
      checker.report(RowFault(.missingId, line: firstLine, column: field.key, table.absence(of: field)))
      isOver = true
    }
    findFilterColumns()
    for index in names.indices { if case .unknown = columns[index] { columns[index] = .skipped } }
  }

  private mutating func checkIDColumn() {
    if checker.rules.matchesCodes {
      if cells.numbers[RowCells.barcodeColumn] == nil {
        checker.report(
          RowFault(
            .missingId, line: firstLine, column: "barcode",
            "no column is the barcode, by which products are found; say which one is: --column barcode=…"))
        isOver = true
      }
      return
    }
    if cells.numbers[RowCells.idColumn] != nil { return }
    var hint = ""
    if names.count == 1 {
      let advice = mapping == nil ? "" : " --delimiter names the character"
      hint = "; are the columns separated by something else than a \(separatorName)?" + advice
    }
    if mapping != nil, !uses.contains(where: { !$0.fields.isEmpty }) {
      hint += "; if a later line has the names of the columns, say how many stand before it: --skip-lines 1"
    }
    let codes = uses.first { $0.fields.contains("skuCode") } ?? uses.first { $0.fields.contains("barcode") }
    if mapping != nil, let codes {
      hint = ", or say which column identifies a product: --column \"id=\(codes.name)\""
    }
    checker.report(RowFault(.missingId, line: firstLine, column: "id", "the column id is missing; add it" + hint))
    isOver = true
  }

  private func headerFault(_ kind: RowFault.Kind, _ index: Int, _ message: String) -> RowFault {
    RowFault(kind, line: firstLine, column: names[index], number: index + 1, message)
  }

  /// Gives the columns that the rules of the mapping name their fields.
  private mutating func applyRules(_ mapping: RowMapping) {
    for (field, rule) in mapping.rules.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let found = rule.columns.map { Self.index(of: $0, in: names) }
      let missing = zip(rule.columns, found).compactMap { $1 == nil ? $0 : nil }
      let sources = found.compactMap { $0 }
      if sources.isEmpty, checker.rules.allowsAbsentColumns, field != .id {
        uses += missing.map { name in
          var use = RowColumnUse(name: name, fields: [field.key], isAutomatic: false)
          use.isAbsent = true
          return use
        }
        continue
      }
      if sources.isEmpty || rule.separator != nil && !missing.isEmpty {
        let name = missing.first ?? ""
        let nearest = NearestName.of(name, among: names).map { "; is \"\($0)\" meant?" } ?? ""
        checker.report(
          RowFault(
            .unknownKey, line: firstLine, column: name,
            "the mapping takes \(field.key) from this column, and the file has none of this name\(nearest)"))
        continue
      }
      let column = RowFieldPlan.column(of: field)
      cells.numbers[column] = sources[0] + 1
      for source in sources where !uses[source].fields.contains(field.key) { uses[source].fields.append(field.key) }
      if let only = sources.first, sources.count == 1, rule.steps.isEmpty, rule.split == nil,
        !mapping.converts(field), case .unknown = columns[only]
      {
        columns[only] = .known(column)
        continue
      }
      for source in sources { makeSource(source) }
      if let problem = plan.add(field, sources: sources, rule) {
        checker.report(RowFault(.syntax, line: firstLine, column: field.key, problem))
      }
    }
  }

  /// Makes a column a source of computed values, besides the field that it already fills.
  private mutating func makeSource(_ index: Int) {
    if case .known(let column) = columns[index], let field = RowCells.columns[column].product {
      _ = plan.add(field, sources: [index], nil)
    }
    columns[index] = .source(index)
  }

  /// Whether the name of a column decides about a field: no rule uses it, or only as the id. A column with barcodes
  /// often identifies the products too.
  private func mayFillMore(_ index: Int) -> Bool {
    if case .skipped = columns[index] { return false }
    if codeColumns.contains(where: { $0.index == index && !(checker.codes?.isShared($0.source) ?? true) }) {
      return false
    }
    return uses[index].fields.isEmpty || uses[index].fields == ["id"] && mapping?.rules[.id] != nil
  }

  private mutating func use(_ index: Int, for field: ProductField, isAutomatic: Bool) {
    let column = RowFieldPlan.column(of: field)
    cells.numbers[column] = index + 1
    uses[index].fields.append(field.key)
    uses[index].isAutomatic = isAutomatic
    var isFree = false
    if case .unknown = columns[index] { isFree = true }
    if !isFree || mapping?.converts(field) == true {
      makeSource(index)
      _ = plan.add(field, sources: [index], nil)
    } else {
      columns[index] = .known(column)
    }
  }

  /// Passes over a column that would fill a field by its name, if the mapping gives the field a constant instead.
  /// Returns whether it does.
  private mutating func skipsConstant(_ field: ProductField?, _ index: Int) -> Bool {
    guard let mapping, let field, mapping.constants[field] != nil, mapping.rules[field] == nil else { return false }
    columns[index] = .skipped
    return true
  }

  /// Gives a column with the name of a field its field.
  private mutating func readOwnName(_ index: Int) {
    guard let known = RowCells.columns.firstIndex(where: { $0.name == names[index] }) else { return }
    // Only a table of the form that an export has may have rows that are codes.
    if known >= RowCells.ownCount, !(names.contains("type") && names.contains("productId")) { return }
    if skipsConstant(RowCells.columns[known].product, index) { return }
    guard cells.numbers[known] == nil else {
      // A rule of the mapping takes the field from another column, or from this one.
      if let field = RowCells.columns[known].product, mapping?.rules[field] != nil { return }
      if checker.rules.unknownKeys != .fail { return }
      let message = "this column is there twice; keep one of them" + secondAdvice(index)
      checker.report(headerFault(.repeatedKey, index, message))
      columns[index] = .skipped
      return
    }
    if let field = RowCells.columns[known].product { return use(index, for: field, isAutomatic: false) }
    // A column that is the id of a product is not that of a relation, or its kind.
    if !uses[index].fields.isEmpty { return }
    cells.numbers[known] = index + 1
    uses[index].fields = [names[index]]
    columns[index] = .known(known)
  }

  /// How to take the second one of two columns with the name of a field.
  private func secondAdvice(_ index: Int) -> String {
    let column = RowCells.columns.first { $0.name == names[index] }
    guard mapping != nil, let field = column?.product else { return "" }
    return ", or say which counts: --column \"\(field.key)=\(ownName(index))\" takes this one"
  }
}
