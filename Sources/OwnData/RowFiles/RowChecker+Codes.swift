internal import Barcodes
internal import CatalogRows
import ServerAnswers

// Codes: rows of their own, columns of products, and further rows of products.

extension RowChecker {
  private static let code = RowCells.codeColumns[CodeField.code.rawValue]
  private static let quantity = RowCells.codeColumns[CodeField.quantity.rawValue]
  private static let kind = RowCells.codeColumns[CodeField.kind.rawValue]
  /// Columns that a row of a code cannot have. Its code may be called `barcode`.
  private static let foreignToCodes = RowCells.columns.indices.filter {
    $0 != RowCells.typeColumn && $0 != RowCells.barcodeColumn && RowCells.columns[$0].code == nil
  }

  // MARK: Rows of codes

  /// Checks a row that is a code, and passes it to `sink` if it has no faults.
  mutating func takeCode<Sink: RowSink>(_ cells: RowCells, line: Int, into sink: inout Sink) throws(RowFileError) {
    summary.rows += 1
    let before = faults.count
    for column in cells.repeated {
      report(cells.fault(.repeatedKey, column, line: line, "this key is in the row twice; keep one of them"))
    }
    if table == nil { checkStrays(cells, line) }
    let kind = table == nil ? "" : cells.text(Self.kind)
    if ["product", "relation"].contains(kind) {
      return report(
        cells.fault(
          .value, Self.kind, line: line,
          "this is a row of a \(kind), and a table of codes has only codes; catalogctl export --codes writes one"))
    }
    var column = Self.code
    if table == nil, !cells.isEmpty(RowCells.barcodeColumn) {
      if !cells.isEmpty(column) {
        report(
          cells.fault(
            .repeatedKey, RowCells.barcodeColumn, line: line, "a code is given as code or as barcode; keep one of them")
        )
      }
      column = RowCells.barcodeColumn
    }
    if table != nil || rules.skipsEmptyCodes, isBlank(cells, column) {
      summary.withoutCodes += 1
      return
    }
    code.reset()
    for field in CodeField.allCases {
      let own = field == .code ? column : RowCells.codeColumns[field.rawValue]
      if cells.isEmpty(own) { continue }
      guard let text = field.text else {
        setQuantity(cells, line)
        continue
      }
      guard isText(own, cells, line) else { continue }
      // A dump calls each row of a code that.
      if field == .kind, kind == "code" { continue }
      cells.withText(own) { code.texts.set(text.rawValue, $0) }
    }
    setConstants(line)
    let productColumn = RowCells.productIdColumn
    if table != nil ? isBlank(cells, productColumn) : [.absent, .null].contains(cells.kind(productColumn)) {
      let name = table.map { $0.join == .id ? "the id" : "the \($0.join.key)" } ?? "productId, the id"
      report(
        cells.fault(
          .missingId, productColumn, line: line, "a code needs \(name) of its product; add it, or remove the row"))
    }
    if table == nil, isBlank(cells, column) {
      report(cells.fault(.value, column, line: line, "a row of a code needs a code; add it, or remove the row"))
    }
    if faults.count > before { return }
    summary.codeRows += 1
    guard let table else {
      let position = FoundCode(code: code[.code], line: line, column: RowCells.columns[column].name)
      return try handCode(position, number: number(cells, column), to: &sink)
    }
    let cell = code[.code]
    let name = cells.fault(.value, column, line: line, "")
    var parts: [String] = []
    do throws(RowRefusal) {
      for part in CodeReading.parts(of: cell, Set(table.split ?? "")) {
        let changed = try CodeReading.changed(part, tableSteps, mapping ?? RowMapping())
        if !changed.isEmpty { parts.append(changed) }
      }
    } catch {
      return report(cells.fault(.value, column, line: line, error.message))
    }
    if parts.isEmpty {
      summary.codeRows -= 1
      summary.withoutCodes += 1
    }
    let key = Blanks.trimmed(code[.productId])
    code.texts.set(CodeText.productId.rawValue, key)
    for part in parts {
      let position = FoundCode(code: part, line: name.line, column: name.column ?? "code")
      try handCode(position, number: name.columnNumber, to: &sink)
    }
  }

  private func number(_ cells: RowCells, _ column: Int) -> Int? { cells.numbers.isEmpty ? nil : cells.numbers[column] }

  private func isBlank(_ cells: RowCells, _ column: Int) -> Bool {
    cells.isEmpty(column) || cells.kind(column) == .text && Blanks.trimmed(cells.text(column)).isEmpty
  }

  private mutating func checkStrays(_ cells: RowCells, _ line: Int) {
    let keys = "a code has id, productId, code, quantity, unit and kind"
    for stray in cells.strays {
      add(stray.key, stray.value, nil, line, "a code has no field of this name; \(keys); remove it")
    }
    for column in Self.foreignToCodes where !cells.isEmpty(column) {
      add(
        RowCells.columns[column].name, cells.text(column), number(cells, column), line,
        "a code has no field of this name; \(keys); remove it")
    }
  }

  private mutating func setQuantity(_ cells: RowCells, _ line: Int) {
    let kind = cells.kind(Self.quantity)
    let text = cells.text(Self.quantity)
    do throws(RowRefusal) {
      guard kind == .text || kind == .number else {
        throw RowRefusal("a quantity is a number; write how many of the product's unit the code stands for")
      }
      // Rows of the catalogue's own form have points.
      code.quantity = try CodeReading.quantity(
        text, isNumber: kind == .number || table == nil, table == nil ? nil : mapping)
    } catch { report(cells.fault(.value, Self.quantity, line: line, error.message)) }
  }

  /// Sets the values that the mapping gives every row of a table of codes.
  private mutating func setConstants(_ line: Int) {
    for (field, value) in table?.values ?? [:] {
      guard case .constant(let constant) = value else { continue }
      if let text = field.text {
        code.texts.set(text.rawValue, constant)
      } else if let quantity = ExactDecimal(constant), quantity.coefficient > 0 {
        code.quantity = quantity
      } else {
        report(
          RowFault(
            .value, line: line, column: field.key, value: constant,
            "the quantity of codesFrom is no number of more than 0"))
      }
    }
  }

  // MARK: Codes of products

  /// Finds the codes in the row of a product, without its own barcode and repetitions.
  mutating func findCodes(_ line: Int, _ before: Int) {
    found.removeAll(keepingCapacity: true)
    guard codes != nil else { return }
    var barcode = product[.barcode]
    var problems: [RowFault] = []
    codes?.find(&barcode, isFurther: false, line: line, &found, &problems)
    for problem in problems { report(problem) }
    product.texts.set(ProductText.barcode.rawValue, barcode)
    if found.isEmpty { return }
    var known: [String: CodeQuantities.First] = [:]
    if !barcode.isEmpty { known[WrittenCode.key(barcode)] = .init(line: 0, isOfTable: false, quantity: CodeRow.one) }
    leaveOutRepeated { item in
      let key = WrittenCode.key(item.code)
      if let first = known[key] { return first }
      known[key] = .init(line: item.line, isOfTable: false, quantity: item.quantity)
      return nil
    }
  }

  /// Leaves out the codes that the product has already, and reports those that it has with another quantity.
  ///
  /// - Parameter insert: Notes a code, and returns the first row that has it already.
  private mutating func leaveOutRepeated(_ insert: (FoundCode) -> CodeQuantities.First?) {
    var new: [FoundCode] = []
    for item in found {
      guard let first = insert(item) else {
        new.append(item)
        continue
      }
      if let problem = CodeQuantities.problem(item.quantity, after: first) {
        report(
          RowFault(
            .ambiguousCode, line: item.line, column: item.column, number: item.number, value: item.code, problem))
      }
    }
    found = new
  }

  /// Passes the codes of a product to `sink`.
  mutating func handCodes<Sink: RowSink>(_ id: String, to sink: inout Sink) throws(RowFileError) {
    for item in found {
      code.reset()
      code.texts.set(CodeText.productId.rawValue, id)
      code.texts.set(CodeText.unit.rawValue, item.unit)
      code.texts.set(CodeText.kind.rawValue, item.kind)
      code.quantity = item.quantity
      code.isOfProductRow = true
      try handCode(item, number: item.number, to: &sink)
    }
  }

  private mutating func handCode<Sink: RowSink>(
    _ item: FoundCode, number: Int?, to sink: inout Sink
  ) throws(RowFileError) {
    code.texts.set(CodeText.code.rawValue, item.code)
    code.line = item.line
    do {
      try sink.code(code)
      summary.codes += 1
      code.texts.withText(CodeText.code.rawValue) {
        summary.codeHealth.add($0, line: item.line, element: element)
      }
    } catch let refusal as RowRefusal {
      report(
        RowFault(
          refusal.kind, line: item.line, column: item.column, number: number, value: item.code, refusal.message))
    } catch {
      throw .sinkFailed(error, row: RowPosition(list: .codes, index: summary.codes, id: item.code))
    }
  }

  // MARK: Several rows of a product

  /// Checks a row that is a product, or a further row of one.
  mutating func take<Sink: RowSink>(
    _ cells: RowCells, line: Int, groupedBy field: ProductField, into sink: inout Sink
  ) throws(RowFileError) {
    defer { product.reset() }
    let before = faults.count
    let column = RowFieldPlan.column(of: field)
    // A row with an id of its own is another product, also without a value by which rows are grouped.
    let isAlone = field != .id && isBlank(cells, column) && !isBlank(cells, RowCells.idColumn)
    let isBelow = isBlank(cells, column) && !isAlone
    if isBelow, groups?.isLeftOut ?? false {
      summary.leftOut += 1
      return
    }
    if isBelow, groups?.last == nil {
      return report(
        cells.fault(
          .missingId, column, line: line,
          "a row without \(field == .id ? "an id" : "a value in \(field.key)") belongs to the product in the row above,"
            + " and there is none; sort the rows as they were written, or give it one"))
    }
    if !isBelow, field != .id, rules.missingIDs == .ignore, cells.isEmpty(RowCells.idColumn) {
      summary.withoutID += 1
      groups?.leaveOut()
      return
    }
    checkStrays(cells, line, Self.foreignToProducts, "product")
    setExtra(cells, line)
    product.givenFields = givenFields(cells)
    for (column, field) in Self.productColumns where !cells.isEmpty(column) { set(field, column, cells, line) }
    var number = groups?.last ?? 0
    var isNew = false
    if !isBelow {
      let own = isAlone ? [0] + Array(cells.text(RowCells.idColumn).utf8) : Array(cells.text(column).utf8)
      if let place = groups?.find(own.span, line: line, element: element, id: product[.id]) { (number, isNew) = place }
    }
    if isNew { checkID(cells, line) }
    compare(cells, line, number, isNew: isNew)
    found.removeAll(keepingCapacity: true)
    var barcode = product[.barcode]
    var problems: [RowFault] = []
    codes?.find(&barcode, isFurther: !isNew, line: line, &found, &problems)
    for problem in problems { report(problem) }
    if isNew {
      product.texts.set(ProductText.barcode.rawValue, barcode)
      if !barcode.isEmpty { _ = groups?.codes.insert(barcode, of: "\(number)", CodeRow.one, line: 0) }
      noteQuantity(line)
    }
    // Taken out, so that the closure does not use the checker.
    var taken = groups
    groups = nil
    leaveOutRepeated { taken?.codes.insert($0.code, of: "\(number)", $0.quantity, line: $0.line) }
    groups = taken
    if faults.count > before { return }
    if isNew { try hand(.products, line, to: &sink) } else { summary.furtherRows += 1 }
    let id = groups?.products[number].id ?? ""
    if faults.count == before { try handCodes(id, to: &sink) }
  }

  /// Notes that a row was left out by the condition of the mapping.
  ///
  /// - Parameter hasKey: Whether it has a value that says which product it is.
  mutating func leaveOut(hasKey: Bool) {
    summary.rows += 1
    summary.leftOut += 1
    if hasKey { groups?.leaveOut() }
  }

  /// Warns of values of a further row that are others than in the first row of the product. Its code, quantity and unit
  /// may be.
  private mutating func compare(_ cells: RowCells, _ line: Int, _ number: Int, isNew: Bool) {
    for (column, field) in Self.productColumns where !cells.isEmpty(column) {
      if [.barcode, .unit, .groupNum].contains(field) || field == group { continue }
      var differs = false
      cells.withText(column) {
        differs = groups?.differs(number, field.rawValue, $0, isFirst: isNew) ?? false
      }
      if differs { noteDifference(field.key, cells.text(column), line, number) }
    }
    if cells.extra.isEmpty { return }
    var extra = cells.extra
    var json: [UInt8] = []
    guard (try? extra.append(to: &json)) != nil else { return }
    if groups?.differs(number, RowGroups.hashCount - 1, json.span, isFirst: isNew) ?? false {
      noteDifference("extra", String(decoding: json, as: UTF8.self), line, number)
    }
  }

  private mutating func noteDifference(_ column: String, _ value: String, _ line: Int, _ number: Int) {
    note(
      \.groupDifference,
      RowWarning(
        kind: .groupDifference(firstLine: groups?.products[number].line ?? 1), line: line, element: element,
        column: column, value: value))
  }

  private mutating func noteQuantity(_ line: Int) {
    guard let quantity = codes?.quantityOfFirst(), quantity != CodeRow.one else { return }
    note(
      \.groupQuantity,
      RowWarning(kind: .groupQuantity, line: line, element: element, column: "quantity", value: quantity.description))
  }
}
