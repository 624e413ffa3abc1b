internal import Barcodes
internal import CatalogRows
import ServerAnswers
import TextFormat

/// A strict validator that turns the values of a person's own file into rows: anything that cannot be read as intended
/// is a fault.
///
/// The rules are the same for every format:
/// - `null`, an empty string and an absent value are the field's default.
/// - A number where a string is expected is read as its literal text.
/// - A string that is a number, or `true` or `false`, is accepted where one is expected.
/// - A product has an id of its own; a relation has `id`, `productId` and `subProductId`, which may be empty.
struct RowChecker {
  let rules: RowRules
  private(set) var faults = RowFaults()
  /// The summary of what has been read so far.
  var summary = RowFileSummary()
  private var ids = RowIDs()
  /// The number of the row in its JSON array, from 1; `nil` for rows that have lines of their own.
  var element: Int?
  var product = ProductRow()
  private var relation = RelationRow()
  var code = CodeRow()
  /// The rules for the further codes of products; `nil` if the mapping says nothing of them.
  var codes: RowCodePlan?
  /// The products of rows that may be further ones of a product; `nil` if each row is a product.
  var groups: RowGroups?
  let group: ProductField?
  /// What the mapping says of a table of codes; `nil` if the rows are products.
  let table: RowMapping.CodeTable?
  var tableSteps: [RowFieldPlan.Action] = []
  let mapping: RowMapping?
  var found: [FoundCode] = []

  static let productColumns = RowCells.columns.indices.compactMap { column in
    RowCells.columns[column].product.map { (column, $0) }
  }
  private static let relationColumns = RowCells.columns.indices.compactMap { column in
    RowCells.columns[column].relation.map { (column, $0) }
  }
  /// Columns that only the other kind of row has.
  static let foreignToProducts = RowCells.columns.indices.filter {
    $0 != RowCells.typeColumn && $0 != RowCells.extraColumn && RowCells.columns[$0].product == nil
  }
  private static let foreignToRelations = RowCells.columns.indices.filter {
    $0 != RowCells.typeColumn && RowCells.columns[$0].relation == nil
  }

  /// The separator of decimals, if the mapping says one.
  private let decimal: Character?

  init(_ rules: RowRules, _ mapping: RowMapping?) {
    self.rules = rules
    decimal = mapping?.decimalCharacter
    self.mapping = mapping
    table = mapping?.codeTable
    group = table == nil ? mapping?.group : nil
    if group != nil { groups = RowGroups() }
    if table == nil, let mapping { codes = RowCodePlan(mapping) }
    for problem in codes?.problems ?? [] { report(RowFault(.syntax, line: 1, problem)) }
    if let table {
      do throws(RowRefusal) { tableSteps = try RowFieldPlan.actions(table.steps, of: "codesFrom") } catch {
        report(RowFault(.syntax, line: 1, error.message))
      }
    }
  }

  mutating func report(_ fault: RowFault) { faults.add(fault) }

  /// Sets the row of a JSON array in which the faults after the first `count` are.
  mutating func setElement(_ element: Int, after count: Int) { faults.setElement(element, after: count) }

  /// Ends the file.
  ///
  /// - Throws: ``RowFileError/refused(_:)`` if there were faults.
  mutating func finish(lines: Int) throws(RowFileError) -> RowFileSummary {
    summary.lines = lines
    if faults.count == 0, !rules.isIncrement, let reason = summary.reasonForNone {
      report(RowFault(.empty, line: 1, reason))
    }
    if faults.count == 0 { return summary }
    faults.summary = summary
    throw .refused(faults)
  }

  /// Checks a row, and passes it to `sink` if it has no faults.
  ///
  /// - Parameter line: The line on which the row begins.
  /// - Throws: ``RowFileError/sinkFailed(_:row:)`` with the error that the sink throws, unless that is a
  ///   ``RowRefusal``.
  mutating func take<Sink: RowSink>(_ cells: RowCells, line: Int, into sink: inout Sink) throws(RowFileError) {
    if table != nil { return try takeCode(cells, line: line, into: &sink) }
    summary.rows += 1
    let before = faults.count
    guard let list = list(cells, line) else { return }
    if list == .codes {
      summary.rows -= 1
      return try takeCode(cells, line: line, into: &sink)
    }
    for column in cells.repeated {
      report(cells.fault(.repeatedKey, column, line: line, "this key is in the row twice; keep one of them"))
    }
    switch list {
    case .products:
      if let group { return try take(cells, line: line, groupedBy: group, into: &sink) }
      if rules.missingIDs == .ignore, !rules.matchesCodes, cells.isEmpty(RowCells.idColumn) {
        summary.withoutID += 1
        return
      }
      if rules.matchesCodes, !hasCode(cells) {
        summary.withoutCode += 1
        cells.withText(RowCells.barcodeColumn) { summary.barcodes.add($0, line: line, element: element) }
        return
      }
      checkStrays(cells, line, Self.foreignToProducts, "product")
      setExtra(cells, line)
      product.givenFields = givenFields(cells)
      for (column, field) in Self.productColumns where !cells.isEmpty(column) { set(field, column, cells, line) }
      if rules.matchesCodes { checkCode(cells, line) } else { checkID(cells, line) }
    case .relations:
      checkStrays(cells, line, Self.foreignToRelations, "relation")
      if !cells.extra.isEmpty {
        report(
          RowFault(.unknownKey, line: line, column: "extra", "only a product has fields beyond its own; remove them"))
      }
      for (column, field) in Self.relationColumns where !cells.isEmpty(column) { set(field, column, cells, line) }
      checkReferences(cells, line)
    case .codes: return
    }
    defer {
      product.reset()
      relation.reset()
    }
    if list == .products { findCodes(line, before) }
    if faults.count == before { try hand(list, line, to: &sink) }
    if list == .products, faults.count == before { try handCodes(product[.id], to: &sink) }
  }

  /// Counts a row with something that a person should know.
  mutating func note(_ path: WritableKeyPath<RowFileSummary, RowWarning?>, _ first: RowWarning) {
    if summary[keyPath: path] == nil { summary[keyPath: path] = first } else { summary[keyPath: path]?.count += 1 }
  }

  /// Counts a row whose value the condition of the mapping compares with a number, and which is none.
  mutating func noteMisread(_ column: String, _ value: String, line: Int) {
    let text = value.trimmed
    var decimal: Character?
    for other in [",", "."] as [Character] where decimal == nil && other != self.decimal {
      let number = RowFieldPlan.pointed(text, other).flatMap { NumberText.double(Array($0.utf8).span) }
      if number != nil { decimal = other }
    }
    note(
      \.noNumber,
      RowWarning(kind: .noNumber(decimal: decimal), line: line, element: element, column: column, value: value))
  }

  /// Names the column of the id in the warning about ids.
  mutating func nameID(_ uses: [RowColumnUse], _ mapping: RowMapping?) {
    if let name = summary.groupDifference?.column,
      let use = uses.first(where: { $0.fields.contains(name) && !$0.isAbsent })
    {
      summary.groupDifference?.column = use.name
    }
    guard summary.paddedID != nil else { return }
    summary.paddedID?.kind = .paddedID(mapping?.rules[.id])
    if let name = uses.first(where: { $0.fields.contains("id") && !$0.isAbsent })?.name {
      summary.paddedID?.column = name
    }
  }

  mutating func hand<Sink: RowSink>(
    _ list: RowList, _ line: Int, to sink: inout Sink
  ) throws(RowFileError) {
    do {
      switch list {
      case .products:
        try sink.product(product)
        summary.products += 1
        product.texts.withText(ProductText.barcode.rawValue) {
          summary.barcodes.add($0, line: line, element: element)
        }
      case .relations:
        try sink.relation(relation)
        summary.relations += 1
      case .codes: break
      }
    } catch let refusal as RowRefusal {
      if refusal.kind != .size { return report(RowFault(refusal.kind, line: line, refusal.message)) }
      let longest = longestText(list)
      report(
        RowFault(
          .size, line: line, column: longest.name, value: longest.text, "\(refusal.message); shorten the value"))
    } catch {
      let index = list == .products ? summary.products : summary.relations
      let id = list == .products ? product[.id] : relation[.id]
      throw .sinkFailed(error, row: RowPosition(list: list, index: index, id: id))
    }
  }

  // MARK: Parts of a row

  /// The kind of the row; a product if it is not specified, or if the column `type` is another one that is left out or
  /// kept.
  private mutating func list(_ cells: RowCells, _ line: Int) -> RowList? {
    let column = RowCells.typeColumn
    if cells.isEmpty(column) { return .products }
    if cells.kind(column) == .text {
      switch cells.text(column) {
      case "product": return .products
      case "relation": return .relations
      case "code": return .codes
      default: break
      }
    }
    // Others have a column of this name too. A row with the ids of a relation may be a misspelt one.
    let isRelation = !cells.isEmpty(RowCells.productIdColumn) || !cells.isEmpty(RowCells.subProductIdColumn)
    let isWord = cells.kind(column) == .text || cells.kind(column) == .number
    if rules.unknownKeys != .fail, isWord, !isRelation {
      if rules.unknownKeys == .ignore { summary.ignore(RowCells.columns[column].name) }
      return .products
    }
    let advice =
      isRelation
      ? "" : "; if the column means something else, leave it out with --unknown ignore, or store it with --unknown keep"
    report(
      cells.fault(
        .type, column, line: line, "a row is a product, a relation or a code; write one of these words" + advice))
    return nil
  }

  /// The fields that the row, or the table, has a value or a column for; see `ProductRow.givenFields`. A row that does
  /// not say whether it is deleted is not.
  func givenFields(_ cells: RowCells) -> UInt32 {
    var given: UInt32 = 1 << UInt32(ProductField.delFlag.rawValue)
    for (column, field) in Self.productColumns where cells.isGiven(column) { given |= 1 << UInt32(field.rawValue) }
    if cells.isGiven(RowCells.extraColumn) { given |= ProductRow.extraBit }
    return given
  }

  /// Checks values under unknown keys, and under keys that only the other kind of row has.
  mutating func checkStrays(_ cells: RowCells, _ line: Int, _ foreign: [Int], _ name: String) {
    let other = name == "product" ? "relation" : "product"
    for stray in cells.strays {
      var advice = Self.advice(onUnknown: stray.key, of: name == "product" ? .products : .relations, without: foreign)
      // An answer of a server may have its rows in a list.
      if stray.value == RowCells.list, cells.isEmpty(RowCells.idColumn) {
        advice = "if these are the rows, give the list alone, as jq '.\(stray.key)' prints it; otherwise " + advice
      }
      add(stray.key, stray.value, nil, line, "a \(name) has no field of this name; \(advice)")
    }
    for column in foreign where !cells.isEmpty(column) && !isKept(name) {
      let number = cells.numbers.isEmpty ? nil : cells.numbers[column]
      let key = RowCells.columns[column].name
      let advice =
        name == "product" && cells.isEmpty(RowCells.typeColumn)
        ? "give the row the type \"relation\" if it is one, or remove the value"
        : Self.removal(name == "product" ? .products : .relations)
      let isOfCodes = column >= RowCells.ownCount
      let message = "a \(name) has no field of this name, only a \(isOfCodes ? "code" : other) has; \(advice)"
      add(key, cells.text(column), number, line, message)
    }
  }

  /// Whether a value that only a relation can have stays with a product.
  private func isKept(_ name: String) -> Bool { rules.unknownKeys == .keep && name == "product" }

  mutating func add(_ key: String, _ value: String, _ number: Int?, _ line: Int, _ message: String) {
    switch rules.unknownKeys {
    case .ignore: summary.ignore(key)
    case .fail, .keep: report(RowFault(.unknownKey, line: line, column: key, number: number, value: value, message))
    }
  }

  /// Sets the fields beyond the 25: the members of `extra`, and what is kept of values under unknown keys.
  mutating func setExtra(_ cells: RowCells, _ line: Int) {
    let column = RowCells.extraColumn
    var extra = cells.extra
    if rules.unknownKeys == .keep {
      let type = RowCells.typeColumn
      let isForeign = !cells.isEmpty(type) && !["product", "relation", "code"].contains(cells.text(type))
      for foreign in Self.foreignToProducts + (isForeign ? [type] : []) where !cells.isEmpty(foreign) {
        cells.withText(foreign) { extra.add(Array(RowCells.columns[foreign].name.utf8), text: $0) }
      }
    }
    if !cells.isEmpty(column), cells.kind(column) != .object {
      var members: ExtraMembers?
      cells.withText(column) { if cells.kind(column) == .text { members = ExtraMembers(json: $0) } }
      if let members {
        extra.add(members)
      } else if rules.unknownKeys == .keep {
        cells.withText(column) { extra.add(Array("extra".utf8), text: $0) }
      } else {
        let number = cells.numbers.isEmpty ? nil : cells.numbers[column]
        add("extra", cells.text(column), number, line, "this is not a JSON object; \(Self.removal(.products))")
      }
    }
    if extra.isEmpty { return }
    var json: [UInt8] = []
    do throws(ExtraProblem) { try extra.append(to: &json) } catch {
      let kind: RowFault.Kind = if case .repeatedKey = error { .repeatedKey } else { .size }
      return report(
        RowFault(kind, line: line, column: "extra", "\(error); shorten them, or leave some out"))
    }
    // An object without members is no field at all.
    if json.count > 2 { product.texts.set(ProductRow.extraText, json.span) }
  }

  private static func removal(_ list: RowList) -> String {
    switch list {
    case .products: "remove it, leave it out with --unknown ignore, or store it with --unknown keep"
    case .relations, .codes: "remove it, or leave it out with --unknown ignore"
    }
  }

  /// A hint for an unknown key. It may be meant as a field with the same letters in another case, or without spaces and
  /// punctuation.
  ///
  /// - Parameter foreign: The columns that the row cannot have.
  static func advice(onUnknown key: String, of list: RowList = .products, without foreign: [Int] = []) -> String {
    let removal = removal(list)
    let letters = key.lowercased().filter { $0.isLetter }
    let known = RowCells.columns.indices.prefix(RowCells.ownCount).first {
      // A column of another kind of types is no mistaken name.
      RowCells.columns[$0].name.lowercased() == letters && !foreign.contains($0) && $0 != RowCells.typeColumn
    }
    return known.map { "rename it to \"\(RowCells.columns[$0].name)\", " + removal } ?? removal
  }

  mutating func checkID(_ cells: RowCells, _ line: Int) {
    let column = RowCells.idColumn
    if cells.isEmpty(column) {
      let isGiven = cells.kind(column) == .text
      if !(rules.allowsEmptyIds && isGiven) {
        let advice = isGiven ? ", or take one empty id with --allow-empty-id" : ""
        // A row below a product may be one more code of it.
        let isBelow = !ids.isEmpty && mapping != nil
        let group =
          isBelow
          ? "if it belongs to the product in the row above, as a package or a further code of it, say so in a mapping"
            + " (--map): \"group\": \"id\"; otherwise "
          : ""
        report(
          cells.fault(
            .missingId, column, line: line,
            "a product needs an id; \(group)give the row one of its own, or leave such rows out with --without-id ignore"
              + advice))
        return
      }
    }
    // An invalid id was already reported, and is treated as absent.
    guard cells.kind(column) == .text || cells.kind(column) == .number else { return }
    var first: Int?
    var isPadded = false
    product.texts.withText(ProductText.id.rawValue) { id in
      first = ids.insert(id, line: line)
      isPadded = Blanks.surround(id)
    }
    if isPadded {
      summary.paddedIDs += 1
      note(
        \.paddedID, RowWarning(kind: .paddedID(nil), line: line, element: element, column: "id", value: product[.id]))
    }
    guard let first else { return }
    switch rules.duplicates {
    case .last: summary.duplicates += 1
    case .fail:
      report(
        cells.fault(
          .duplicateId, column, line: line,
          "line \(first) has this id too; remove one of them, or take the last of each with --on-duplicate last; if the rows"
            + " are one product with several codes, say so in a mapping (--map): \"group\": \"id\" for further rows"
            + " of a product, \"codes\" for columns with further codes, \"codesFrom\" or --codes for a table of them"))
    }
  }

  /// Whether a row has a barcode, which neither blanks are nor the error of a formula. A value of another kind is
  /// reported later.
  private func hasCode(_ cells: RowCells) -> Bool {
    let column = RowCells.barcodeColumn
    if cells.isEmpty(column) { return false }
    return cells.kind(column) != .text || !WrittenCode(cells.text(column)).normalized.isEmpty
  }

  /// Checks that no other row has the barcode, in any spelling, where it says which product a row is.
  private mutating func checkCode(_ cells: RowCells, _ line: Int) {
    let column = RowCells.barcodeColumn
    guard cells.kind(column) == .text || cells.kind(column) == .number else { return }
    let code = Array(WrittenCode.key(cells.text(column)).utf8)
    guard let first = ids.insert(code.span, line: line) else { return }
    switch rules.duplicates {
    case .last: summary.duplicates += 1
    case .fail:
      report(
        cells.fault(
          .duplicateId, column, line: line,
          "line \(first) has this barcode too; remove one of them, or take the last of each with --on-duplicate last"))
    }
  }

  private mutating func checkReferences(_ cells: RowCells, _ line: Int) {
    for column in [RowCells.idColumn, RowCells.productIdColumn, RowCells.subProductIdColumn] {
      guard cells.kind(column) == .absent || cells.kind(column) == .null else { continue }
      report(
        cells.fault(
          .missingId, column, line: line,
          "a relation needs id, productId (the set) and subProductId (the component); add what is missing"))
    }
  }

  // MARK: Values

  private mutating func set(_ field: RelationField, _ column: Int, _ cells: RowCells, _ line: Int) {
    if let text = field.text {
      guard isText(column, cells, line) else { return }
      cells.withText(column) { relation.texts.set(text.rawValue, $0) }
    } else if let value = integer(column, cells, line) {
      relation.groupNum = value
    }
  }

  mutating func set(_ field: ProductField, _ column: Int, _ cells: RowCells, _ line: Int) {
    switch field.slot {
    case .text(let slot):
      guard isText(column, cells, line) else { return }
      cells.withText(column) { product.texts.set(slot, $0) }
    case .integer(let slot):
      // Others call it deleted, and write true or false.
      if field == .delFlag {
        if let isDeleted = cells.boolean(column) { return product.delFlag = isDeleted ? 1 : 0 }
        let advice =
          "write 1 or true for deleted, 0 or nothing for not, or give the words that mean it, such as --true X; "
          + NullWords.remedy(cells.text(column))
        integer(column, cells, line, advice).map { product.integers[slot] = $0 }
      } else {
        integer(column, cells, line).map { product.integers[slot] = $0 }
      }
    case .flag(let slot): boolean(column, cells, line).map { product.setFlag(slot, $0) }
    case .double(let slot): double(column, cells, line).map { product.doubles[slot] = $0 }
    }
  }

  /// Whether a value can be the text of a field: a string, or a number as written.
  mutating func isText(_ column: Int, _ cells: RowCells, _ line: Int) -> Bool {
    let what: String
    switch cells.kind(column) {
    case .yes, .no:
      let word = cells.text(column)
      report(
        cells.fault(
          .value, column, line: line,
          "true or false where a text is expected; if \(word) says that there is none, say so with --null \(word);"
            + " otherwise write a text in double quotes"))
      return false
    case .object: what = "an object"
    case .array: what = "an array"
    default: return true
    }
    report(cells.fault(.value, column, line: line, "\(what) where a text is expected; write a text in double quotes"))
    return false
  }

  private mutating func integer(
    _ column: Int, _ cells: RowCells, _ line: Int,
    _ advice: String? = nil
  ) -> Int64? {
    if let value = cells.integer(column) { return value }
    let remedy =
      advice ?? Self.remedy(cells.text(column), RowCells.columns[column].name)
      ?? "write digits alone, such as 12, or nothing for the default"
    report(cells.fault(.value, column, line: line, "this is not a whole number (64 bits); " + remedy))
    return nil
  }

  private mutating func double(_ column: Int, _ cells: RowCells, _ line: Int) -> Double? {
    if let value = cells.double(column) { return value }
    report(
      cells.fault(
        .value, column, line: line,
        "this is not a number; "
          + (Self.remedy(cells.text(column), RowCells.columns[column].name) ?? Self.numberRemedy(cells.text(column)))))
    return nil
  }

  /// What to do about a text that is no number whatever the separator of decimals is: one without digits, and an amount
  /// of money with its currency. `nil` for other texts.
  static func remedy(_ text: String, _ field: String) -> String? {
    if !text.contains(where: \.isNumber) {
      return NullWords.remedy(text) + "; otherwise write a number, such as 12"
    }
    if !MoneyText.hasCurrency(text) { return nil }
    return "take the number of an amount with the step money in a mapping (--map): \"steps\": [\"money\"] of the field"
      + " \(field)"
  }

  /// What to do about a text that is no number. A comma before three digits may separate thousands, so that reading it
  /// as a decimal comma would change the value.
  private static func numberRemedy(_ text: String) -> String {
    if text.wholeMatch(of: /[-+]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?/) != nil {
      return "the comma separates thousands or decimals: give --decimal . if it separates thousands, or --decimal , if"
        + " it is a decimal comma"
    }
    return
      "write one with a point and without a unit, such as 1.5, or nothing for the default, or give the separator of"
      + " decimals: --decimal ,"
  }

  private mutating func boolean(_ column: Int, _ cells: RowCells, _ line: Int) -> Bool? {
    if let value = cells.boolean(column) { return value }
    report(
      cells.fault(
        .value, column, line: line,
        "this is neither true nor false; write one of these words, or nothing for the default, or give the words that"
          + " mean true, such as --true 1; \(NullWords.remedy(cells.text(column)))"))
    return nil
  }

  /// The longest text of the row, which is the one that does not fit.
  private func longestText(_ list: RowList) -> (name: String, text: String) {
    switch list {
    case .products:
      let text = ProductText.allCases.max {
        product.texts.byteCount($0.rawValue) < product.texts.byteCount($1.rawValue)
      }
      return text.map { (String(describing: $0), product[$0]) } ?? ("", "")
    case .relations:
      let text = RelationText.allCases.max {
        relation.texts.byteCount($0.rawValue) < relation.texts.byteCount($1.rawValue)
      }
      return text.map { (String(describing: $0), relation[$0]) } ?? ("", "")
    case .codes: return ("code", code[.code])
    }
  }
}
