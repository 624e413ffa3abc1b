internal import Barcodes
internal import CatalogRows
import Essentials

/// The further codes of products, as the rules of a mapping take them from the columns of a row.
struct RowCodePlan {
  /// A rule with the numbers of its sources.
  private struct Entry {
    var sources: [Int]
    var split: Set<Character>
    var steps: [RowFieldPlan.Action]
    var quantity: Value?
    var unit: Value?
    var kind: Value?
    /// Whether the columns may be that of the product's own barcode.
    var isPlain: Bool
  }

  /// Where a value comes from.
  private enum Value {
    case source(Int)
    case constant(String)

    var source: Int? { if case .source(let source) = self { source } else { nil } }
  }

  /// A value of a source in the current row.
  private struct Cell {
    var text: String
    var line: Int
    /// Whether it is a number of JSON, which has a point.
    var isNumber: Bool
    /// Whether it is an object or a list inside of a list, which is no code.
    var isForeign: Bool
  }

  private let mapping: RowMapping
  /// The names of the sources, and the numbers of their columns in a table.
  private(set) var names: [String] = []
  private var numbers: [Int?] = []
  private var entries: [Entry] = []
  /// The rule for the barcodes of the further rows of a product.
  private var ofRows: Entry?
  private var cells: [[Cell]] = []
  /// The source that is the barcode of the product too, and a list.
  var barcodeSource: Int?
  /// What is wrong with the rules; empty if nothing is.
  private(set) var problems: [String] = []

  /// - Returns: `nil` for a mapping that says nothing of codes.
  init?(_ mapping: RowMapping) {
    if !mapping.speaksOfCodes { return nil }
    self.mapping = mapping
    for rule in mapping.codes {
      let entry = entry(rule)
      if rule.columns.isEmpty { ofRows = entry } else { entries.append(entry) }
    }
  }

  private mutating func entry(_ rule: RowMapping.CodeRule) -> Entry {
    var steps = rule.steps
    // What a program for tables does to a column, it does to the one next to it.
    if steps.isEmpty, mapping.rules[.barcode]?.steps.contains(.gtin) ?? false { steps = [.gtin] }
    var actions: [RowFieldPlan.Action] = []
    do throws(RowRefusal) { actions = try RowFieldPlan.actions(steps, of: "codes") } catch {
      problems.append(error.message)
    }
    return Entry(
      sources: rule.columns.map { source($0) }, split: Set(rule.split ?? ""), steps: actions,
      quantity: value(rule.quantity), unit: value(rule.unit), kind: value(rule.kind), isPlain: rule.isPlain)
  }

  private mutating func value(_ value: RowMapping.CodeValue?) -> Value? {
    switch value {
    case .column(let name): .source(source(name))
    case .constant(let text): .constant(text)
    case nil: nil
    }
  }

  private mutating func source(_ name: String) -> Int {
    if let index = names.firstIndex(of: name) { return index }
    names.append(name)
    numbers.append(nil)
    cells.append([])
    return names.count - 1
  }

  /// Whether the columns for the quantity and the unit of the further rows of a product are to be found by their names.
  var findsColumnsOfRows: Bool { mapping.group != nil && ofRows == nil }

  /// Makes columns those of the quantity and the unit of the further rows of a product.
  mutating func setColumnsOfRows(quantity: String?, unit: String?) {
    ofRows = Entry(
      sources: [], split: [], steps: [], quantity: quantity.map { .source(source($0)) },
      unit: unit.map { .source(source($0)) }, isPlain: true)
  }

  /// Makes a key that has not come before that of the quantity or the unit of the further rows of a product, if it has a
  /// common name of one.
  ///
  /// - Returns: Its number as a source; `nil` for other keys.
  mutating func addColumnOfRows(_ name: String) -> Int? {
    let isQuantity = ofRows?.quantity == nil && CodeReading.index(of: .quantity, in: [name]) != nil
    let isUnit = !isQuantity && ofRows?.unit == nil && CodeReading.index(of: .unit, in: [name]) != nil
    guard isQuantity || isUnit else { return nil }
    var entry = ofRows ?? Entry(sources: [], split: [], steps: [], isPlain: true)
    let source = source(name)
    if isQuantity { entry.quantity = .source(source) } else { entry.unit = .source(source) }
    ofRows = entry
    return source
  }

  /// Says which number the column of a source has in a table.
  mutating func setNumber(_ number: Int, of source: Int) { numbers[source] = number }

  /// What a source is for, as people are told.
  func use(of source: Int) -> String {
    if entries.contains(where: { $0.sources.contains(source) }) { return "codes" }
    let all = entries + [ofRows].compactMap(\.self)
    if all.contains(where: { $0.quantity?.source == source }) { return "codes.quantity" }
    return all.contains { $0.unit?.source == source } ? "codes.unit" : "codes.kind"
  }

  /// Whether a source has codes that may be the product's own too, or units, which a product also has.
  func isShared(_ source: Int) -> Bool {
    let all = entries + [ofRows].compactMap(\.self)
    return !all.contains {
      !$0.isPlain && $0.sources.contains(source) || $0.quantity?.source == source || $0.kind?.source == source
    }
  }

  /// Begins a row.
  mutating func reset() {
    for index in cells.indices where !cells[index].isEmpty { cells[index].removeAll(keepingCapacity: true) }
    barcodeSource = nil
  }

  /// Adds a value of a source: the text of a cell, or an element of a list.
  mutating func add(_ source: Int, _ text: String, line: Int, isNumber: Bool = false, isForeign: Bool = false) {
    cells[source].append(Cell(text: text, line: line, isNumber: isNumber, isForeign: isForeign))
  }

  /// Finds the codes of a row.
  ///
  /// - Parameters:
  ///   - barcode: The row's barcode. It becomes the first code of its cell if that has several.
  ///   - isFurther: Whether the row is a further one of its product, so that the barcode is a code.
  ///   - line: The line of the row.
  ///   - codes: Receives the codes, without their repetitions.
  ///   - faults: Receives what cannot be read.
  mutating func find(
    _ barcode: inout String, isFurther: Bool, line: Int, _ codes: inout [FoundCode], _ faults: inout [RowFault]
  ) {
    if let source = barcodeSource, barcode.isEmpty { barcode = cells[source].first?.text ?? "" }
    var found: [FoundCode] = []
    for entry in entries {
      var first: FoundCode?
      for source in entry.sources {
        for cell in cells[source] {
          if cell.isForeign {
            let message = "a code is a text or a number, or a list of them; take the texts out of it, as jq does"
            faults.append(
              RowFault(
                .value, line: cell.line, column: names[source], number: numbers[source], value: cell.text, message))
            continue
          }
          let parts = self.parts(of: cell, entry, source, &faults)
          // The cell of several codes may be that of the barcode too, which is the first of them.
          if entry.isPlain, parts.count > 1, !isFurther, Blanks.trimmed(barcode) == Blanks.trimmed(cell.text) {
            barcode = parts[0]
          }
          for part in parts {
            if first == nil {
              first = FoundCode(code: "", line: cell.line, column: names[source], number: numbers[source])
              setValues(&first, entry, line, &faults)
            }
            guard var code = first else { continue }
            (code.code, code.line, code.column, code.number) = (part, cell.line, names[source], numbers[source])
            found.append(code)
          }
        }
      }
    }
    if isFurther {
      var own: FoundCode? = FoundCode(code: "", line: line, column: "barcode")
      if let ofRows { setValues(&own, ofRows, line, &faults) }
      let split = ofRows?.split ?? []
      // Without a rule, a cell of several codes is divided as those of the rules are.
      let parts = CodeReading.parts(of: barcode, split.isEmpty ? entries.first(where: \.isPlain)?.split ?? [] : split)
      for part in parts {
        guard var code = own else { continue }
        code.code = part
        codes.append(code)
      }
    }
    codes += found
  }

  /// The quantity that the first row of a product says its own barcode stands for; 1 if it says nothing, or nothing that
  /// can be read.
  func quantityOfFirst() -> ExactDecimal {
    guard let source = ofRows?.quantity?.source, let cell = cells[source].first else { return CodeRow.one }
    return (try? CodeReading.quantity(cell.text, isNumber: cell.isNumber, mapping)) ?? CodeRow.one
  }

  private func parts(of cell: Cell, _ entry: Entry, _ source: Int, _ faults: inout [RowFault]) -> [String] {
    do throws(RowRefusal) {
      return try CodeReading.parts(of: cell.text, entry.split).map { (part) throws(RowRefusal) in
        try CodeReading.changed(part, entry.steps, mapping)
      }.filter { !$0.isEmpty }
    } catch {
      faults.append(
        RowFault(
          .value, line: cell.line, column: names[source], number: numbers[source], value: cell.text, error.message))
      return []
    }
  }

  /// Sets quantity, unit and kind of the codes of a row.
  private func setValues(
    _ code: inout FoundCode?, _ entry: Entry, _ line: Int, _ faults: inout [RowFault]
  ) {
    code?.unit = Blanks.trimmed(text(entry.unit)?.text ?? "")
    code?.kind = Blanks.trimmed(text(entry.kind)?.text ?? "")
    guard let quantity = text(entry.quantity) else { return }
    do throws(RowRefusal) {
      let number = try CodeReading.quantity(
        quantity.text, isNumber: quantity.isNumber || entry.quantity?.source == nil, mapping)
      code?.quantity = number
    } catch {
      let source = entry.quantity?.source
      faults.append(
        RowFault(
          .value, line: quantity.line == 0 ? line : quantity.line, column: source.map { names[$0] } ?? "quantity",
          number: source.flatMap { numbers[$0] }, value: quantity.text, error.message))
    }
  }

  private func text(_ value: Value?) -> Cell? {
    switch value {
    case .source(let source): cells[source].first
    case .constant(let text): Cell(text: text, line: 0, isNumber: true, isForeign: false)
    case nil: nil
    }
  }
}

extension CodeReading {
  /// A code after the steps of its rule.
  ///
  /// - Throws: `RowRefusal` for a text that a step cannot read.
  static func changed(
    _ text: String, _ steps: [RowFieldPlan.Action], _ mapping: RowMapping
  ) throws(RowRefusal) -> String {
    var text = text
    for step in steps { text = try RowFieldPlan.apply(step, to: text, decimal: mapping.decimalCharacter) }
    return Blanks.trimmed(text)
  }
}

/// The products of a file in which several rows may be one product.
struct RowGroups {
  /// What is remembered of a product.
  struct Product {
    /// The line of its first row, and its row in a JSON array.
    var line: Int
    var element: Int?
    var id: String
  }

  private var keys = RowIDs()
  private(set) var products: [Product] = []
  /// A short hash of each field of the first row of each product; 0 for a field without a value.
  private var hashes: [UInt16] = []
  /// The codes of all products, which are numbers here.
  var codes = CodeQuantities()
  /// The product of the row above; `nil` if that was left out, and before the first.
  private(set) var last: Int?
  /// Whether the rows without a value that follow belong to a product that was left out.
  private(set) var isLeftOut = false

  /// The number of values that are compared: the fields of a product, and `extra`.
  static let hashCount = ProductField.allCases.count + 1

  /// Finds the product with a key, or adds it.
  ///
  /// - Returns: The number of the product, and whether it is new.
  mutating func find(_ key: Span<UInt8>, line: Int, element: Int?, id: String) -> (product: Int, isNew: Bool) {
    isLeftOut = false
    let count = products.count
    if let known = keys.insert(key, line: count) {
      last = known
      return (known, false)
    }
    products.append(Product(line: line, element: element, id: id))
    hashes += Array(repeating: 0, count: Self.hashCount)
    last = count
    return (count, true)
  }

  /// Notes that a row with a key of its own was left out, and so are the rows without one that follow it.
  mutating func leaveOut() {
    last = nil
    isLeftOut = true
  }

  /// Compares a value with that of the first row of a product, or remembers it. Returns whether it differs.
  mutating func differs(_ product: Int, _ field: Int, _ value: Span<UInt8>, isFirst: Bool) -> Bool {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in value.indices { hash = (hash ^ UInt64(value[index])) &* 0x100_0000_01B3 }
    let short = UInt16(truncatingIfNeeded: hash ^ hash >> 32 ^ hash >> 16) | 1
    let index = product * Self.hashCount + field
    if isFirst {
      hashes[index] = short
      return false
    }
    return hashes[index] != short
  }
}
